package main

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// An Image of this machine's architecture: one layer of files.
type Image struct {
	// Name is repository:tag.
	Name string `json:"name"`
	// User that its programs run as, a number.
	User string `json:"user"`
	// Entrypoint is what it runs.
	Entrypoint []string `json:"entrypoint"`
	// Files by their absolute path in the image: the file or folder on this machine that is copied there.
	Files map[string]string `json:"files"`
	// Text files by their absolute path in the image.
	Text map[string]string `json:"text"`
}

// Build makes the image in memory. Its layer isn't compressed: it's read once, by a neighbour.
func (i Image) Build() (v1.Image, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	if err := directory(w, "tmp", 0o1777); err != nil {
		return nil, err
	}
	for to, from := range i.Files {
		if err := tree(w, to, from); err != nil {
			return nil, err
		}
	}
	for to, text := range i.Text {
		if err := file(w, to, []byte(text), 0o644); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("cannot finish the layer: %w", err)
	}
	base := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	img, err := mutate.AppendLayers(base, static.NewLayer(b.Bytes(), types.OCIUncompressedLayer))
	if err != nil {
		return nil, fmt.Errorf("cannot add the layer: %w", err)
	}
	return mutate.ConfigFile(img, i.config(img))
}

func (i Image) config(img v1.Image) *v1.ConfigFile {
	c, err := img.ConfigFile()
	if err != nil {
		c = &v1.ConfigFile{} // It was made here: there is one.
	}
	c = c.DeepCopy()
	c.OS, c.Architecture = "linux", runtime.GOARCH
	c.Config = v1.Config{User: i.User, Entrypoint: i.Entrypoint, Env: []string{"PATH=/usr/local/bin:/usr/bin:/bin"}}
	return c
}

// tree adds a file, or a folder with all that is in it.
func tree(w *tar.Writer, to, from string) error {
	return filepath.WalkDir(from, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return fmt.Errorf("cannot read %q: %w", p, err)
		}
		target := path.Join(to, filepath.ToSlash(strings.TrimPrefix(p, from)))
		if d.IsDir() {
			return directory(w, target, 0o755)
		}
		i, err := os.Stat(p)
		if err != nil {
			return fmt.Errorf("cannot read %q: %w", p, err)
		}
		b, err := os.ReadFile(p) //nolint:gosec // Nobody else writes there.
		if err != nil {
			return fmt.Errorf("cannot read %q: %w", p, err)
		}
		mode := int64(0o644)
		if i.Mode()&0o100 != 0 {
			mode = 0o755
		}
		return file(w, target, b, mode)
	})
}

func directory(w *tar.Writer, name string, mode int64) error {
	h := &tar.Header{Typeflag: tar.TypeDir, Name: strings.TrimPrefix(name, "/") + "/", Mode: mode}
	if err := w.WriteHeader(h); err != nil {
		return fmt.Errorf("cannot add folder %q: %w", name, err)
	}
	return nil
}

func file(w *tar.Writer, name string, content []byte, mode int64) error {
	h := &tar.Header{Typeflag: tar.TypeReg, Name: strings.TrimPrefix(name, "/"), Mode: mode, Size: int64(len(content))}
	if err := w.WriteHeader(h); err != nil {
		return fmt.Errorf("cannot add file %q: %w", name, err)
	}
	if _, err := w.Write(content); err != nil {
		return fmt.Errorf("cannot add file %q: %w", name, err)
	}
	return nil
}
