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
