package install_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-baremetal/cluster/local"
)

const (
	chart = root + "/package/charts/baremetal-bootd-chart"
	// kubeVersion, because Helm built from its module believes that every cluster is v1.20.
	kubeVersion = "--kube-version=1.35.0"
)

// helm builds Helm and gives its path.
func helm(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join(root, "tools", "helm"))
	must(t, err)
	bin := filepath.Join(t.TempDir(), "helm")
	run(t.Context(), t, "go", "build", "-C", dir, "-o", bin, "helm.sh/helm/v4/cmd/helm")
	for _, v := range []string{"HELM_CACHE_HOME", "HELM_CONFIG_HOME", "HELM_DATA_HOME"} {
		t.Setenv(v, t.TempDir())
	}
	return bin
}

// TestChart renders the chart as Helm does.
func TestChart(t *testing.T) {
	bin := helm(t)
	template := func(args ...string) []*unstructured.Unstructured {
		t.Helper()
		out, err := local.Decode(run(t.Context(), t, bin, append([]string{"template", "bootd", chart, "--namespace=baremetal-boot", kubeVersion}, args...)...))
		must(t, err)
		return out
	}
	t.Run("Plain", func(t *testing.T) {
		plain, err := local.Load(filepath.Join(root, "package", "manifests", "bootd.yaml"), filepath.Join(root, "package", "bootd"))
		must(t, err)
		// Helm makes the namespace itself.
		plain = slices.DeleteFunc(plain, func(u *unstructured.Unstructured) bool { return u.GetKind() == "Namespace" })
		if diff := cmp.Diff(byName(plain), byName(template())); diff != "" {
			t.Errorf("plain manifests and chart differ, -plain +chart:\n%s", diff)
		}
	})
	t.Run("Segments", func(t *testing.T) {
		values := filepath.Join(t.TempDir(), "values.yaml")
		must(t, os.WriteFile(values, []byte(`
segments:
  - {name: r7, nodeSelector: {rack: r7}, interfaces: [eth1], args: [--artifact-range=10.77.0.0/24]}
  - {name: r8, nodeSelector: {rack: r8, role: boot}}
podMonitor: {enabled: true}
image: {repository: registry.example/bootd, digest: "sha256:1111111111111111111111111111111111111111111111111111111111111111"}
`), 0o600))
		got := byName(template("--values=" + values))
		want := map[string][]any{
			"DaemonSet bootd-r7": {"--log-level=info", "--node-label=rack=r7", "--dhcp-interface=eth1", "--artifact-range=10.77.0.0/24"},
			"DaemonSet bootd-r8": {"--log-level=info", "--node-label=rack=r8", "--node-label=role=boot"},
		}
		for name, args := range want {
			c := container(t, got[name])
			if diff := cmp.Diff(args, c["args"]); diff != "" {
				t.Errorf("%s, arguments, -want +got:\n%s", name, diff)
			}
			if c["image"] != "registry.example/bootd@sha256:1111111111111111111111111111111111111111111111111111111111111111" {
				t.Errorf("%s runs %v", name, c["image"])
			}
		}
		for _, name := range []string{"PodDisruptionBudget bootd-r7", "PodDisruptionBudget bootd-r8", "PodMonitor bootd"} {
			if got[name] == nil {
				t.Errorf("there's no %s", name)
			}
		}
	})
	t.Run("Odd", func(t *testing.T) {
		values := filepath.Join(t.TempDir(), "values.yaml")
		must(t, os.WriteFile(values, []byte(`
segments: [{name: "7", nodeSelector: {rack: "7", ready: "true", kubernetes.io/os: linux}, interfaces: ["1"]}]
seLinuxOptions: {type: spc_t}
podLabels: {rack: "1e3"}
podMonitor: {enabled: true, labels: {release: "1.10"}}
`), 0o600))
		d := byName(template("--values=" + values))["DaemonSet bootd-7"]
		nodes, _, err := unstructured.NestedStringMap(d, "spec", "template", "spec", "nodeSelector")
		must(t, err)
		if diff := cmp.Diff(map[string]string{"rack": "7", "ready": "true", "kubernetes.io/os": "linux"}, nodes); diff != "" {
			t.Errorf("nodes, -want +got:\n%s", diff)
		}
		want := []any{"--log-level=info", "--node-label=kubernetes.io/os=linux", "--node-label=rack=7", "--node-label=ready=true", "--dhcp-interface=1"}
		if diff := cmp.Diff(want, container(t, d)["args"]); diff != "" {
			t.Errorf("arguments, -want +got:\n%s", diff)
		}
		if got := toMap(toMap(container(t, d)["securityContext"])["seLinuxOptions"])["type"]; got != "spc_t" {
			t.Errorf("SELinux's type is %v", got)
		}
	})
	t.Run("HTTPS", func(t *testing.T) { chartHTTPS(t, template) })
	t.Run("CA", func(t *testing.T) { chartCA(t, template) })
	t.Run("BadValues", func(t *testing.T) { badValues(t, bin) })
	t.Run("Elsewhere", func(t *testing.T) {
		out, err := command(t, bin, "template", "bootd", chart, "--namespace=default", kubeVersion)
		if err == nil || !strings.Contains(out, "bootd lives in the namespace baremetal-boot") {
			t.Errorf("another namespace was taken: %v, %s", err, out)
		}
	})
}

func byName(objects []*unstructured.Unstructured) map[string]map[string]any {
	out := map[string]map[string]any{}
	for _, o := range objects {
		out[o.GetKind()+" "+o.GetName()] = o.Object
	}
	return out
}

func container(t *testing.T, daemon map[string]any) map[string]any {
	t.Helper()
	cs, _, err := unstructured.NestedSlice(daemon, "spec", "template", "spec", "containers")
	must(t, err)
	if len(cs) != 1 {
		t.Fatalf("want one container, got %v", cs)
	}
	c, ok := cs[0].(map[string]any)
	if !ok {
		t.Fatalf("a container is %T", cs[0])
	}
	return c
}
