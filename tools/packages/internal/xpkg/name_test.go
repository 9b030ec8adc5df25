package xpkg

import (
	"strings"
	"testing"
)

func TestInstalledName(t *testing.T) {
	cases := map[string]struct {
		reason, repository, want string
		fails                    bool
	}{
		"Path":      {reason: "the path counts, the host doesn't", repository: "registry.example/crossplane-contrib/function-baremetal", want: "crossplane-contrib-function-baremetal"},
		"NoPath":    {reason: "a registry for ourselves", repository: "127.0.0.1:5000/function-baremetal", want: "function-baremetal"},
		"Deep":      {reason: "every part counts", repository: "registry.example:443/a/b.c/function-baremetal", want: "a-b-c-function-baremetal"},
		"Dropped":   {reason: "what no DNS label has is dropped, not replaced", repository: "registry.example/a_b/function-baremetal", want: "ab-function-baremetal"},
		"Long":      {reason: "cut at 63", repository: "registry.example/" + forty + "/" + forty, want: forty + "-" + forty[:22]},
		"LongCut":   {reason: "a separator isn't the last one", repository: "registry.example/" + forty + "/" + forty[:21] + "-" + forty, want: forty + "-" + forty[:21]},
		"NoHost":    {reason: "without a host it'd be another registry than meant", repository: "crossplane-contrib/function-baremetal", fails: true},
		"Uppercase": {reason: "registries have none", repository: "registry.example/Contrib/function-baremetal", fails: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := InstalledName(tc.repository)
			if got != tc.want || (err != nil) != tc.fails {
				t.Errorf("%s: got %q, %v; want %q, an error: %t", tc.reason, got, err, tc.want, tc.fails)
			}
		})
	}
}

const forty = "abcdefghijklmnopqrstuvwxyz0123456789abcd"

func TestRange(t *testing.T) {
	cases := map[string]struct {
		reason, version, want string
		released, fails       bool
	}{
		"Release":     {reason: "its minor version and all later ones, releases alone", version: "v0.3.2", want: ">=v0.3.0 <v1.0.0", released: true},
		"Major":       {reason: "not the next major one", version: "v2.0.0", want: ">=v2.0.0 <v3.0.0", released: true},
		"PreRelease":  {reason: "itself included", version: "v1.0.0-rc.1", want: ">=v1.0.0-0 <v2.0.0-0"},
		"Development": {reason: "a checkout", version: "v0.0.0-dev", want: ">=v0.0.0-0 <v1.0.0-0"},
		"Bare":        {reason: "tags have a v", version: "0.1.0", fails: true},
		"Short":       {reason: "Crossplane's resolver skips these", version: "v1.2", fails: true},
		"Build":       {reason: "a tag has no +", version: "v1.2.3+abc", fails: true},
		"Zeros":       {reason: "no semantic version", version: "v01.2.3", fails: true},
		"Date":        {reason: "a number in a pre-release has no zero in front, for the resolver and for Helm", version: "v0.1.0-20261122.0715", fails: true},
		"Candidate":   {reason: "the same", version: "v0.1.0-rc.01", fails: true},
		"Time":        {reason: "a time that is no number may begin as it likes", version: "v0.1.0-20261122t0715", want: ">=v0.1.0-0 <v1.0.0-0"},
		"Commit":      {reason: "so may a commit", version: "v0.1.0-0.gabc012", want: ">=v0.1.0-0 <v1.0.0-0"},
		"NoPart":      {reason: "no semantic version", version: "v0.1.0-rc..1", fails: true},
		"Longest":     {reason: "as long as a tag may be", version: "v0.1.0-" + strings.Repeat("a", 121), want: ">=v0.1.0-0 <v1.0.0-0"},
		"Long":        {reason: "no registry has a longer tag", version: "v0.1.0-" + strings.Repeat("a", 122), fails: true},
		"Latest":      {reason: "no version", version: "latest", fails: true},
		"Empty":       {reason: "no version", version: "", fails: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := Range(tc.version)
			released, err2 := Released(tc.version)
			if got != tc.want || released != tc.released || (err != nil) != tc.fails || (err2 != nil) != tc.fails {
				t.Errorf("%s: got %q, released %t, %v, %v", tc.reason, got, released, err, err2)
			}
		})
	}
}
