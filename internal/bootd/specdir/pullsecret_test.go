package specdir

import (
	"strings"
	"testing"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// TestPullSecret: the Secret that a profile's files are fetched by is read from the folder, anew when it changes there, and only one of the
// profile's own namespace. A profile without it is served: its files may be here.
func TestPullSecret(t *testing.T) {
	profile := strings.Replace(profileYAML, "  artifacts:", "  pullSecretRef: {name: registry}\n  artifacts:", 1)
	given := "apiVersion: v1\nkind: Secret\nmetadata: {namespace: lab, name: registry}\ntype: kubernetes.io/dockerconfigjson\nstringData: {.dockerconfigjson: one}\n"
	r := newRig(t, strings.Join([]string{networkYAML, profile, givenYAML, entryYAML("m1", mac1, "10.77.0.11", 0)}, "---\n"))
	r.write("secret.yaml", given)
	r.start()
	name := boot.PullSecretName("lab", "registry")
	holds := func(want string) {
		t.Helper()
		data, err := r.src.Data(t.Context(), name)
		if string(data[boot.KeyPullSecret]) != want || (err == nil) != (want != "") {
			t.Errorf("%q, %v, want %q\n%s", data, err, want, r.said.String())
		}
		if f := r.plan().Artifacts[0]; f.Kernel.PullSecret != name || f.Image.PullSecret != name {
			t.Errorf("%+v", f)
		}
	}
	holds("one")
	if a := r.src.Ahead(); len(a) != 2 || a[0].PullSecret != name {
		t.Errorf("%+v", a)
	}
	r.write("secret.yaml", strings.Replace(given, "one", "two", 1))
	r.turn()
	holds("two")
	r.write("secret.yaml", strings.Replace(given, "kubernetes.io/dockerconfigjson", "Opaque", 1))
	r.turn()
	holds("")
	r.write("secret.yaml", strings.Replace(given, "namespace: lab", "namespace: other", 1))
	r.turn()
	holds("")
	if said := r.said.String(); strings.Contains(said, "two") || !strings.Contains(said, "BootProfile lab/debian: Invalid") || !strings.Contains(said, "BootProfile lab/debian: NotFound") {
		t.Error(said)
	}
}
