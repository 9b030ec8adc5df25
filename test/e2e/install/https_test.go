package install_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-baremetal/cluster/local"
)

// uncommented is the plain manifest after a reader typed the line of a page of docs/operations that takes the # from its lines which end in a word;
// it gives the file.
func uncommented(t *testing.T, page, word string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "docs", "operations", page))
	must(t, err)
	lines := regexp.MustCompile(`(?m)^sed -i '/ # `+word+`\$/ .* dist/install/bootd\.yaml$`).FindAllString(string(text), -1)
	if len(lines) != 1 {
		t.Fatalf("%s says in %d lines how the manifest has its lines of %s, want one: %q", page, len(lines), word, lines)
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "dist", "install", "bootd.yaml")
	carry(t, filepath.Join(root, "package", "bootd", "bootd.yaml"), file)
	cmd := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", lines[0]) //nolint:gosec // That is what the page is for.
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return file
}

// chartHTTPS gives a segment a Secret: it's the same as what a reader types for the plain manifest, the files are where bootd is told, and whoever
// says nothing of HTTPS has none.
func chartHTTPS(t *testing.T, template func(args ...string) []*unstructured.Unstructured) {
	t.Helper()
	values := filepath.Join(t.TempDir(), "values.yaml")
	must(t, os.WriteFile(values, []byte(`
segments:
  - {nodeSelector: {baremetal.crossplane.io/bootd: "true"}, tls: {secretName: bootd-tls, for: [installer]}}
  - {name: r7, nodeSelector: {rack: r7}, tls: {secretName: r7.example-tls, port: 443, host: r7.boot.example, for: [firmware, ipxe]}, args: [--tls-for=installer]}
  - {name: r8, nodeSelector: {rack: r8}}
`), 0o600))
	got := byName(template("--values=" + values))
	plain, err := local.Load(uncommented(t, "install.md", "https"))
	must(t, err)
	if diff := cmp.Diff(byName(plain)["DaemonSet bootd"], got["DaemonSet bootd"]); diff != "" {
		t.Errorf("plain manifest and chart differ, -plain +chart:\n%s", diff)
	}
	for name, want := range map[string]struct {
		args   []any
		port   float64 // As numbers are read here.
		secret string
	}{
		"DaemonSet bootd": {[]any{"--https-listen=0.0.0.0:8483", "--tls-cert=/etc/bootd/tls/tls.crt", "--tls-key=/etc/bootd/tls/tls.key", "--tls-for=installer"}, 8483, "bootd-tls"},
		"DaemonSet bootd-r7": {[]any{
			"--https-listen=0.0.0.0:443", "--tls-cert=/etc/bootd/tls/tls.crt", "--tls-key=/etc/bootd/tls/tls.key", "--tls-host=r7.boot.example",
			"--tls-for=firmware", "--tls-for=ipxe", "--tls-for=installer",
		}, 443, "r7.example-tls"},
		"DaemonSet bootd-r8": {[]any{}, 0, ""},
	} {
		c := container(t, got[name])
		all, _ := c["args"].([]any)
		if diff := cmp.Diff(want.args, all[2:]); diff != "" { // Without the log's level and the node's label.
			t.Errorf("%s, arguments, -want +got:\n%s", name, diff)
		}
		if port := named(c["ports"], "https")["containerPort"]; want.port == 0 && port != nil || want.port != 0 && port != want.port {
			t.Errorf("%s has the port %v, want %v", name, port, want.port)
		}
		volumes, _, err := unstructured.NestedSlice(got[name], "spec", "template", "spec", "volumes")
		must(t, err)
		mount, volume := named(c["volumeMounts"], "tls"), named(volumes, "tls")
		if want.secret == "" {
			if mount != nil || volume != nil {
				t.Errorf("%s mounts a Secret that nobody named: %v, %v", name, mount, volume)
			}
			continue
		}
		if diff := cmp.Diff(map[string]any{"name": "tls", "mountPath": "/etc/bootd/tls", "readOnly": true}, mount); diff != "" {
			t.Errorf("%s, mount, -want +got:\n%s", name, diff)
		}
		if diff := cmp.Diff(map[string]any{"secretName": want.secret, "defaultMode": float64(0o400)}, volume["secret"]); diff != "" {
			t.Errorf("%s, volume, -want +got:\n%s", name, diff)
		}
	}
}

// chartCA names authorities of the reader's own: it's the same as what a reader types for the plain manifest, for every segment.
func chartCA(t *testing.T, template func(args ...string) []*unstructured.Unstructured) {
	t.Helper()
	plain, err := local.Load(uncommented(t, "air-gapped.md", "ca"))
	must(t, err)
	values := filepath.Join(t.TempDir(), "values.yaml")
	must(t, os.WriteFile(values, []byte(`
segments:
  - {nodeSelector: {baremetal.crossplane.io/bootd: "true"}}
  - {name: r7, nodeSelector: {rack: r7}, tls: {secretName: r7-tls}}
ca: {configMapName: bootd-ca}
`), 0o600))
	got := byName(template("--values=" + values))
	if diff := cmp.Diff(byName(plain)["DaemonSet bootd"], got["DaemonSet bootd"]); diff != "" {
		t.Errorf("plain manifest and chart differ, -plain +chart:\n%s", diff)
	}
	for _, name := range []string{"DaemonSet bootd", "DaemonSet bootd-r7"} {
		c := container(t, got[name])
		volumes, _, err := unstructured.NestedSlice(got[name], "spec", "template", "spec", "volumes")
		must(t, err)
		for what, diff := range map[string]string{
			"variable": cmp.Diff(map[string]any{"name": "SSL_CERT_DIR", "value": "/etc/bootd/ca"}, named(c["env"], "SSL_CERT_DIR")),
			"mount":    cmp.Diff(map[string]any{"name": "ca", "mountPath": "/etc/bootd/ca", "readOnly": true}, named(c["volumeMounts"], "ca")),
			"volume":   cmp.Diff(map[string]any{"name": "ca", "configMap": map[string]any{"name": "bootd-ca"}}, named(volumes, "ca")),
		} {
			if diff != "" {
				t.Errorf("%s, %s, -want +got:\n%s", name, what, diff)
			}
		}
	}
}

// named is the one of a list that has a name; nil where none has.
func named(list any, name string) map[string]any {
	all, _ := list.([]any) // What isn't a list has nothing in it.
	if i := slices.IndexFunc(all, func(v any) bool { return toMap(v)["name"] == name }); i >= 0 {
		return toMap(all[i])
	}
	return nil
}
