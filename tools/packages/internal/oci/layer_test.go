package oci

import (
	"archive/tar"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestLayer packs the same files found in another order, in other folders and at other times.
func TestLayer(t *testing.T) {
	var digests []string
	for i := range 2 {
		path := filepath.Join(t.TempDir(), "program")
		if err := os.WriteFile(path, []byte("program"), 0o600); err != nil {
			t.Fatal(err)
		}
		at := time.Unix(int64(i)*1e9, 0)
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
		files := []File{{Path: "usr/local/bin/program", Mode: 0o755, Source: path}, {Path: "etc/passwd", Mode: 0o644, Data: []byte("root")}}
		if i == 1 {
			files[0], files[1] = files[1], files[0]
		}
		l, err := Layer(files)
		if err != nil {
			t.Fatal(err)
		}
		d, err := l.Digest()
		if err != nil {
			t.Fatal(err)
		}
		digests = append(digests, d.String())
		r, err := l.Uncompressed()
		if err != nil {
			t.Fatal(err)
		}
		want := []string{"etc/ 755", "etc/passwd 644", "usr/ 755", "usr/local/ 755", "usr/local/bin/ 755", "usr/local/bin/program 755"}
		if diff := cmp.Diff(want, contents(t, r)); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	}
	if digests[0] != digests[1] {
		t.Errorf("the same files gave two digests: %v", digests)
	}
}

func contents(t *testing.T, r io.Reader) []string {
	t.Helper()
	var out []string
	for tr := tar.NewReader(r); ; {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Uid != 0 || h.Gid != 0 || h.Uname != "" || h.ModTime.Unix() != 0 {
			t.Errorf("%s says who packed it, or when: %+v", h.Name, h)
		}
		out = append(out, h.Name+" "+mode(h.Mode))
	}
}

func mode(m int64) string { return map[int64]string{0o755: "755", 0o644: "644"}[m] }

func TestLayerRefuses(t *testing.T) {
	cases := map[string]struct {
		reason string
		files  []File
	}{
		"Twice":   {"which one counts is for readers to guess", []File{{Path: "a", Data: []byte("1")}, {Path: "a", Data: []byte("2")}}},
		"Missing": {"a program that wasn't built", []File{{Path: "a", Source: "/nonexistent"}}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if _, err := Layer(tc.files); err == nil {
				t.Error(tc.reason)
			}
		})
	}
}
