package boot

import "testing"

func TestPlanFile(t *testing.T) {
	p := Plan{Artifacts: []Artifacts{
		{Arch: AMD64, Kernel: Artifact{Digest: "k1"}, Initrds: []Artifact{{Digest: "i1"}, {Digest: "i2"}}, Image: &Image{Artifact: Artifact{Digest: "m1"}}},
		{Arch: ARM64, Kernel: Artifact{Digest: "k2"}},
	}}
	cases := map[string]struct {
		reason     string
		kernel, ok bool
	}{
		"k1": {"a kernel", true, true},
		"k2": {"one of another architecture", true, true},
		"i2": {"an initrd", false, true},
		"m1": {"an image isn't loaded by firmware, and takes a grant", false, false},
		"x":  {"of another plan", false, false},
		"":   {"none", false, false},
	}
	for digest, tc := range cases {
		t.Run(digest, func(t *testing.T) {
			a, kernel, ok := p.File(digest)
			if kernel != tc.kernel || ok != tc.ok || ok && a.Digest != digest {
				t.Errorf("%s: %v, %t, %t", tc.reason, a, kernel, ok)
			}
		})
	}
}

// TestFileOfISO: an ISO has no kernel, and isn't one.
func TestFileOfISO(t *testing.T) {
	secret := &Artifact{Digest: "sha256:i", PullSecret: "p"}
	p := plan(func(p *Plan) { p.Method, p.Artifacts = MethodISO, []Artifacts{{Arch: AMD64, ISO: secret}} })
	for _, digest := range []string{"", "sha256:i"} {
		if _, _, ok := p.File(digest); ok {
			t.Errorf("%q is a kernel's", digest)
		}
	}
	before := p.Digest()
	secret.PullSecret = ""
	if p.Digest() != before {
		t.Error("by which password it's fetched changes nothing on a machine")
	}
}
