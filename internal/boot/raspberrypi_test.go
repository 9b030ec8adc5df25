package boot

import "testing"

// TestRaspberryPiDigest: plans without files for one have the digests that they always had; with them each counts.
func TestRaspberryPiDigest(t *testing.T) {
	plan := func(r *RaspberryPi) string {
		return (&Plan{Artifacts: []Artifacts{{Arch: ARM64, RaspberryPi: r}}}).Digest()
	}
	none := plan(nil)
	if plan(&RaspberryPi{}) != none || plan(&RaspberryPi{Files: []NamedArtifact{}, Config: []string{}}) != none {
		t.Error("empty isn't absent, as it is once it was written and read again")
	}
	seen := map[string]bool{none: true}
	for _, r := range []*RaspberryPi{
		{Files: []NamedArtifact{{Name: "a", Artifact: Artifact{URL: "u", Digest: "d"}}}},
		{Files: []NamedArtifact{{Name: "b", Artifact: Artifact{URL: "u", Digest: "d"}}}},
		{Files: []NamedArtifact{{Name: "a", Artifact: Artifact{URL: "u", Digest: "e"}}}},
		{Files: []NamedArtifact{{Name: "a", Artifact: Artifact{URL: "u", Digest: "d"}}}, Config: []string{"a=b"}},
	} {
		if d := plan(r); seen[d] {
			t.Errorf("%+v isn't told from another", r)
		} else {
			seen[d] = true
		}
	}
}

func TestOnlyRaspberryPi(t *testing.T) {
	pi := &RaspberryPi{}
	for name, tc := range map[string]struct {
		files []Artifacts
		want  bool
	}{
		"Pi": {[]Artifacts{{Arch: ARM64, RaspberryPi: pi}}, true}, "Both": {[]Artifacts{{Arch: ARM64, RaspberryPi: pi}, {Arch: AMD64}}, false},
		"ARM64": {[]Artifacts{{Arch: ARM64}}, false}, "None": {nil, false},
	} {
		if got := (&Plan{Artifacts: tc.files}).OnlyRaspberryPi(); got != tc.want {
			t.Errorf("%s: %t", name, got)
		}
	}
	if _, ok := (*RaspberryPi)(nil).File("a"); ok {
		t.Error("there are no files")
	}
}
