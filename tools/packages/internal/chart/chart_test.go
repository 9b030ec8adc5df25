package chart

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPack(t *testing.T) {
	const (
		meta   = "apiVersion: v2\nname: thing\ndescription: A thing.\nversion: 0.0.0-dev\nappVersion: v0.0.0-dev\n"
		values = "image:\n  # A comment.\n  repository: thingd\n  digest: \"\"\n"
	)
	cases := map[string]struct {
		reason, meta, values, err string
	}{
		"Fine":     {reason: "comments stay, versions and image are the release's", meta: meta, values: values},
		"NoDigest": {reason: "a chart that can't be pinned", meta: meta, values: strings.Replace(values, "digest", "sum", 1), err: "must have the line"},
		"Version":  {reason: "a version that somebody edited", meta: strings.Replace(meta, "0.0.0-dev", "0.2.0", 1), values: values, err: "must have the line"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "thing")
			if err := os.MkdirAll(filepath.Join(dir, "templates"), 0o750); err != nil {
				t.Fatal(err)
			}
			for file, data := range map[string]string{"Chart.yaml": tc.meta, "values.yaml": tc.values, "templates/a.yaml": "a: b\n", "../linked": "c: d\n"} {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(data), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Symlink("../linked", filepath.Join(dir, "link.yaml")); err != nil {
				t.Fatal(err)
			}
			s := Source{Dir: dir, Version: "v0.1.0", Image: "registry.example/path/thingd", Digest: "sha256:1"}
			c, err := s.Pack()
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) {
					t.Errorf("%s: want an error with %q, got %v", tc.reason, tc.err, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			want := map[string]any{"apiVersion": "v2", "name": "thing", "description": "A thing.", "version": "0.1.0", "appVersion": "v0.1.0"}
			if diff := cmp.Diff(want, c.metadata); diff != "" || c.Version != "0.1.0" {
				t.Errorf("%s: -want +got:\n%s", tc.reason, diff)
			}
			again, err := s.Pack()
			if err != nil || string(again.Archive) != string(c.Archive) {
				t.Errorf("two archives of one chart differ (%v)", err)
			}
			if _, err := c.Image(); err != nil {
				t.Error(err)
			}
		})
	}
}
