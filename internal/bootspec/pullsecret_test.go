package bootspec

import (
	"strings"
	"testing"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

func pulling(name string) *v1alpha1.BootProfile {
	a := v1alpha1.Artifact{URL: "oci://r.example/a", Digest: "sha256:x"}
	p := &v1alpha1.BootProfile{}
	p.Namespace, p.Name = "infra", "debian"
	p.Spec.Artifacts = []v1alpha1.ProfileArtifacts{{Kernel: &a, Initrds: []v1alpha1.Artifact{a}, Image: &v1alpha1.ImageArtifact{Artifact: a}}}
	if name != "" {
		p.Spec.PullSecretRef = &v1alpha1.LocalReference{Name: name}
	}
	return p
}

// TestPullSecret: all files of a profile are fetched by the Secret that it names, in its own namespace; what it's called changes no machine.
func TestPullSecret(t *testing.T) {
	want := boot.PullSecretName("infra", "registry")
	for _, f := range FilesOf(pulling("registry")).Files {
		if f.PullSecret != want {
			t.Errorf("%+v", f)
		}
	}
	files := Profile(pulling("registry")).Artifacts[0]
	if files.Kernel.PullSecret != want || files.Initrds[0].PullSecret != want || files.Image.PullSecret != want {
		t.Errorf("%+v", files)
	}
	if f := FilesOf(pulling("")).Files[0]; f.PullSecret != "" {
		t.Errorf("%+v", f)
	}
	if ProfileDigest(pulling("registry").Spec) != ProfileDigest(pulling("").Spec) {
		t.Error("nodes aren't current any more, though nothing of theirs would change")
	}
	if faults := ValidProfile(&v1alpha1.BootProfile{Spec: v1alpha1.BootProfileSpec{PullSecretRef: &v1alpha1.LocalReference{}}}); !strings.Contains(faultTexts(faults), "spec.pullSecretRef.name") {
		t.Errorf("%v", faults)
	}
}

func faultTexts(all []Fault) string {
	var b strings.Builder
	for _, f := range all {
		b.WriteString(f.Field + ": " + f.Message + "\n")
	}
	return b.String()
}

func TestCheckPullSecret(t *testing.T) {
	const secret = "hunter2"
	cases := map[string]struct {
		reason, kind string
		data         map[string][]byte
		want         string
	}{
		"Good":  {"", PullSecretType, map[string][]byte{boot.KeyPullSecret: []byte(secret)}, ""},
		"Gone":  {"it isn't there", "", nil, `Secret "registry" isn't there; create it, of type kubernetes.io/dockerconfigjson`},
		"Type":  {"another type may be another's password", "Opaque", map[string][]byte{boot.KeyPullSecret: []byte(secret)}, "must be of type kubernetes.io/dockerconfigjson"},
		"Empty": {"nothing in it", PullSecretType, map[string][]byte{"password": []byte(secret)}, "with the key .dockerconfigjson"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			prob := CheckPullSecret(pulling("registry"), tc.kind, tc.data)
			if (prob == nil) != (tc.want == "") || prob != nil && (!strings.Contains(prob.Message, tc.want) || strings.Contains(prob.Message, secret)) {
				t.Errorf("%s: %v, want %q", tc.reason, prob, tc.want)
			}
		})
	}
}
