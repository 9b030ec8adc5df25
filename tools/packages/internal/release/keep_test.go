package release

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestReplace writes manifests again and again, with people at work in between.
func TestReplace(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "install")
	edit := func(name, text string) func() error {
		return func() error { return os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600) }
	}
	nobody := func() error { return nil }
	for _, tc := range []struct {
		reason        string
		meanwhile     func() error
		version, kept string
	}{
		{"there's none", nobody, "1", ""},
		{"nobody edited it", nobody, "2", ""},
		{"somebody did", edit("a.yaml", "2, and mine"), "3", ".before"},
		{"the old copy stays what it was", edit("a.yaml", "3, and mine"), "4", ".before-2"},
		{"somebody set what is written anyway", edit("a.yaml", "5"), "5", ""},
		{"a file of somebody's own isn't in the way", edit("kustomization.yaml", "mine"), "6", ""},
		{"nobody knows any more what was written", func() error { return os.Remove(dir + ".sums") }, "7", ".before-3"},
		{"the same", func() error { return os.Remove(dir + ".sums") }, "7", ""},
	} {
		if err := tc.meanwhile(); err != nil {
			t.Fatal(err)
		}
		kept, err := Replace(dir, map[string][]byte{"a.yaml": []byte(tc.version), "b.yaml": []byte("b")})
		if got := strings.TrimPrefix(kept, dir); err != nil || got != tc.kept {
			t.Errorf("%s: kept as %q, want %q (%v)", tc.reason, got, tc.kept, err)
		}
		if got := content(t, dir, "a.yaml"); got != tc.version {
			t.Errorf("%s: got %q, want %q", tc.reason, got, tc.version)
		}
	}
	got := map[string]string{"mine": content(t, dir, "kustomization.yaml")}
	for _, kept := range []string{".before", ".before-2", ".before-3"} {
		got[kept] = content(t, dir+kept, "a.yaml")
	}
	if diff := cmp.Diff(map[string]string{".before": "2, and mine", ".before-2": "3, and mine", ".before-3": "6", "mine": "mine"}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func content(t *testing.T, dir, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
