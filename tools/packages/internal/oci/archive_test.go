package oci

import (
	"archive/tar"
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// sample are an index with attachments and a single image, as a release has them.
func sample(t *testing.T) []Artifact {
	t.Helper()
	img, err := Document([]byte(`{"name":"thing"}`), "application/vnd.example.config", []byte("chart"), "application/vnd.example.content", nil)
	if err != nil {
		t.Fatal(err)
	}
	return []Artifact{artifact(t, "r.example/path/thing", "1"), {Repository: "r.example/path/charts/thing", Tag: "1.0.0", Image: img}}
}

// TestArchive writes artifacts into a file and reads them back for another registry.
func TestArchive(t *testing.T) {
	file, again := filepath.Join(t.TempDir(), "oci.tar"), filepath.Join(t.TempDir(), "oci.tar")
	was := sample(t)
	for _, f := range []string{file, again} {
		if err := Archive(f, "r.example/path", was); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(read(t, file), read(t, again)) {
		t.Error("the same artifacts give two different archives")
	}
	got, err := Load(file, t.TempDir(), "mirror.example/other")
	if err != nil {
		t.Fatal(err)
	}
	type said struct {
		Reference   string
		Digest      v1.Hash
		Attachments []v1.Hash
	}
	list := func(all []Artifact) (out []said) {
		for _, a := range all {
			d, err := a.Digest()
			if err != nil {
				t.Fatal(err)
			}
			s := said{Reference: a.Reference(), Digest: d}
			for _, at := range a.Attachments {
				d, err := at.Digest()
				if err != nil {
					t.Fatal(err)
				}
				s.Attachments = append(s.Attachments, d)
			}
			out = append(out, s)
		}
		return out
	}
	want := list(was)
	want[0].Reference, want[1].Reference = "mirror.example/other/thing:v1.0.0", "mirror.example/other/charts/thing:1.0.0"
	if diff := cmp.Diff(want, list(got)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestLoadRefuses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "oci.tar")
	if err := Archive(file, "r.example/path", sample(t)); err != nil {
		t.Fatal(err)
	}
	whole := read(t, file)
	cases := map[string]struct {
		reason  string
		archive []byte
		want    string
	}{
		"Half":    {"a download that ended early", whole[:len(whole)/2], "cannot read archive"},
		"Damaged": {"a bit that fell over", bytes.Replace(whole, []byte("chart"), []byte("chert"), 1), "is damaged"},
		"Outside": {"a file that would land elsewhere", tarOf(t, "../../evil"), "isn't a file of an OCI image layout"},
		"Empty":   {"no layout", tarOf(t), "isn't an OCI image layout"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "oci.tar")
			if err := os.WriteFile(file, tc.archive, 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := Load(file, t.TempDir(), "r.example/path"); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s: want an error with %q, got %v", tc.reason, tc.want, err)
			}
		})
	}
}

func tarOf(t *testing.T, names ...string) []byte {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, n := range names {
		if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: n, Mode: 0o644}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
