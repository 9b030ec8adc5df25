package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/crossplane-contrib/provider-baremetal/tools/packages/internal/oci"
)

// checkMirror pushes a release from its files to a second registry, and compares what is there with what is in the first one.
func checkMirror(t *testing.T, dir, first string) {
	t.Helper()
	second := serve(t) + "/some/mirror"
	if err := (&pushCmd{Registry: second, From: dir}).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	digests, err := os.ReadFile(filepath.Join(dir, "digests.txt"))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(digests)) {
		digest, ref, _ := strings.Cut(strings.TrimSpace(line), "  ")
		name := strings.TrimPrefix(ref, first+"/")
		d, err := remote.Get(parse(t, second+"/"+name))
		if err != nil {
			t.Fatal(err)
		}
		if d.Digest.String() != digest {
			t.Errorf("%s is %s in the mirror, and was released as %s", name, d.Digest, digest)
		}
		n++
		if !d.MediaType.IsIndex() {
			continue
		}
		if diff := cmp.Diff(referrers(t, ref), referrers(t, second+"/"+name)); diff != "" {
			t.Errorf("bills of materials of %s, -first registry +second:\n%s", name, diff)
		}
	}
	if n != 6 {
		t.Errorf("want six, got %d", n)
	}
}

// referrers of each image of an index, by the image.
func referrers(t *testing.T, ref string) map[string]string {
	t.Helper()
	idx, err := remote.Index(parse(t, ref))
	if err != nil {
		t.Fatal(err)
	}
	m, err := idx.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, d := range m.Manifests {
		about, err := remote.Referrers(parse(t, ref).Context().Digest(d.Digest.String()))
		if err != nil {
			t.Fatal(err)
		}
		am, err := about.IndexManifest()
		if err != nil || len(am.Manifests) != 1 {
			t.Fatalf("%s of %s: want one bill of materials, got %+v, %v", d.Digest, ref, am, err)
		}
		out[d.Digest.String()] = am.Manifests[0].Digest.String()
	}
	return out
}

func TestMirrorRefused(t *testing.T) {
	empty, damaged := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(damaged, bundle), []byte("no archive"), 0o600); err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct{ reason, from, registry, want string }{
		"NoRelease": {"a folder with something else", empty, nowhere, "isn't the folder of a release"},
		"Damaged":   {"half of a download", damaged, nowhere, "cannot read archive"},
		"Registry":  {"a registry isn't a URL", empty, "https://registry.example/path", "as HOST/PATH"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			err := (&pushCmd{Registry: tc.registry, From: tc.from}).Run(t.Context())
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s: want an error with %q, got %v", tc.reason, tc.want, err)
			}
		})
	}
}

// TestRewriting holds that a reader of the page and one of what is said after a push are given the same. test/e2e/install tries it.
func TestRewriting(t *testing.T) {
	want := rewriting("registry.example/crossplane-contrib", "HOST/PATH")
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "operations", "air-gapped.md"))
	if err != nil || !strings.Contains(string(page), want) {
		t.Errorf("docs/operations/air-gapped.md has another ImageConfig (%v) than:\n%s", err, want)
	}
}

// TestUploadSays tells people what happens to clusters that have what a tag meant until now, once, and of a release's tag nothing.
func TestUploadSays(t *testing.T) {
	host := serve(t)
	push := func(tag, content string) (said []string, err error) {
		t.Helper()
		var artifacts []oci.Artifact
		for _, name := range []string{"one", "two"} {
			img, err := oci.Document([]byte("{}"), "application/config", []byte(content), "application/content", nil)
			if err != nil {
				t.Fatal(err)
			}
			artifacts = append(artifacts, oci.Artifact{Repository: host + "/" + name, Tag: tag, Image: img})
		}
		err = upload(t.Context(), artifacts, nil, func(line string) { said = append(said, line) })
		return said, err
	}
	for _, tc := range []struct {
		reason, tag, content string
		moved, advice        int
		fails                bool
	}{
		{reason: "it's new", tag: "v0.1.0-mine.1", content: "1"},
		{reason: "it's the same", tag: "v0.1.0-mine.1", content: "1"},
		{reason: "nobody who has the first one gets the second", tag: "v0.1.0-mine.1", content: "2", moved: 2, advice: 1},
		{reason: "a chart's tag has no v", tag: "0.1.0-mine.1", content: "1"},
		{reason: "a release", tag: "0.1.0", content: "1"},
		{reason: "a release stays what it is", tag: "0.1.0", content: "2", fails: true},
	} {
		said, err := push(tc.tag, tc.content)
		all := strings.Join(said, "\n")
		moved, advice := strings.Count(all, " was sha256:"), strings.Count(all, "count the version up")
		if (err != nil) != tc.fails || moved != tc.moved || advice != tc.advice {
			t.Errorf("%s: %v, and it says:\n%s", tc.reason, err, all)
		}
	}
}
