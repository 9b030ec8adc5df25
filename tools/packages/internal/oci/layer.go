// Package oci makes images, indexes and attachments out of files, so that the same files always give the same digests, and pushes
// them.
package oci

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// A File of a layer.
type File struct {
	// Path in the image, without a leading slash.
	Path string
	// Mode of it, such as 0o644.
	Mode int64
	// Data is what it holds, or Source the file on this machine that has it.
	Data   []byte
	Source string
}

// epoch is the time of every file: when something was built is no part of it.
func epoch() time.Time { return time.Unix(0, 0).UTC() }

// Layer packs files, with the folders above them, in the order of their names, owned by root and without times.
func Layer(files []File) (v1.Layer, error) {
	packed, err := Tarball(files)
	if err != nil {
		return nil, err
	}
	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(packed)), nil }
	l, err := tarball.LayerFromOpener(open, tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, fmt.Errorf("cannot make a layer: %w", err)
	}
	return l, nil
}

// Tarball is a compressed tar archive of files. It's the same wherever and whenever it's made.
func Tarball(files []File) ([]byte, error) {
	files = slices.Clone(files)
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, fmt.Errorf("cannot compress: %w", err)
	}
	t := tar.NewWriter(z)
	seen := map[string]bool{".": true}
	for _, f := range files {
		if seen[f.Path] {
			return nil, fmt.Errorf("file %q is there twice", f.Path)
		}
		if err := folders(t, path.Dir(f.Path), seen); err != nil {
			return nil, err
		}
		seen[f.Path] = true
		if err := f.write(t); err != nil {
			return nil, fmt.Errorf("cannot pack %q: %w", f.Path, err)
		}
	}
	for _, c := range []io.Closer{t, z} {
		if err := c.Close(); err != nil {
			return nil, fmt.Errorf("cannot finish an archive: %w", err)
		}
	}
	return out.Bytes(), nil
}

// folders writes those that lead to a file and aren't there yet.
func folders(t *tar.Writer, dir string, seen map[string]bool) error {
	if seen[dir] {
		return nil
	}
	if err := folders(t, path.Dir(dir), seen); err != nil {
		return err
	}
	seen[dir] = true
	h := &tar.Header{Typeflag: tar.TypeDir, Name: dir + "/", Mode: 0o755, ModTime: epoch(), Format: tar.FormatPAX}
	if err := t.WriteHeader(h); err != nil {
		return fmt.Errorf("cannot pack folder %q: %w", dir, err)
	}
	return nil
}

func (f File) write(t *tar.Writer) error {
	data := f.Data
	if f.Source != "" {
		var err error
		if data, err = os.ReadFile(f.Source); err != nil {
			return err //nolint:wrapcheck // The caller says which file.
		}
	}
	h := &tar.Header{
		Typeflag: tar.TypeReg, Name: f.Path, Mode: f.Mode, Size: int64(len(data)), ModTime: epoch(), Format: tar.FormatPAX,
	}
	if err := t.WriteHeader(h); err != nil {
		return err //nolint:wrapcheck // The caller says which file.
	}
	_, err := t.Write(data)
	return err //nolint:wrapcheck // The caller says which file.
}
