package oci

import (
	"archive/tar"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
)

// refName is how a layout says what something in it is called.
const refName = "org.opencontainers.image.ref.name"

// Archive writes artifacts of one registry into a file: one OCI image layout as a tar archive, in which each goes by NAME:TAG without the
// registry, and their attachments by what they refer to. The same artifacts always give the same file.
func Archive(file, registry string, artifacts []Artifact) error {
	dir, err := os.MkdirTemp(filepath.Dir(file), "layout-")
	if err != nil {
		return fmt.Errorf("cannot make a folder for an archive: %w", err)
	}
	defer os.RemoveAll(dir) // What stays is in nobody's way.
	l, err := layout.Write(dir, empty.Index)
	if err != nil {
		return fmt.Errorf("cannot write %q: %w", dir, err)
	}
	for _, a := range artifacts {
		called := layout.WithAnnotations(map[string]string{refName: strings.TrimPrefix(a.Reference(), registry+"/")})
		if err := a.append(l, called); err != nil {
			return fmt.Errorf("cannot write %s into an archive: %w", a.Reference(), err)
		}
	}
	f, err := os.Create(file)
	if err != nil {
		return fmt.Errorf("cannot write an archive: %w", err)
	}
	if err := errors.Join(pack(f, dir), f.Close()); err != nil {
		return fmt.Errorf("cannot write archive %q: %w", file, err)
	}
	return nil
}

// pack writes a folder's files, in the order of their names and without times.
func pack(to io.Writer, dir string) error {
	t := tar.NewWriter(to)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err //nolint:wrapcheck // The caller says which archive.
		}
		return packFile(t, path, filepath.ToSlash(name))
	})
	return errors.Join(err, t.Close())
}

func packFile(t *tar.Writer, path, name string) error {
	f, err := os.Open(path)
	if err != nil {
		return err //nolint:wrapcheck // The caller says which archive.
	}
	defer f.Close()
	i, err := f.Stat()
	if err != nil {
		return err //nolint:wrapcheck // The caller says which archive.
	}
	h := &tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644, Size: i.Size(), ModTime: epoch(), Format: tar.FormatPAX}
	if err := t.WriteHeader(h); err != nil {
		return err //nolint:wrapcheck // The caller says which archive.
	}
	_, err = io.Copy(t, f)
	return err //nolint:wrapcheck // The caller says which archive.
}

// Load unpacks an archive into an empty folder, and gives what it holds as artifacts of a registry, byte for byte. They read from the
// folder. An archive that isn't whole, or has something in it that isn't what its name says, is an error.
func Load(file, dir, registry string) ([]Artifact, error) {
	if err := unpack(file, dir); err != nil {
		return nil, fmt.Errorf("cannot read archive %q: %w", file, err)
	}
	l, err := layout.FromPath(dir)
	if err != nil {
		return nil, fmt.Errorf("archive %q isn't an OCI image layout: %w", file, err)
	}
	idx, err := l.ImageIndex()
	if err != nil {
		return nil, fmt.Errorf("archive %q has no index: %w", file, err)
	}
	out, err := artifacts(idx, registry)
	if err != nil {
		return nil, fmt.Errorf("cannot understand archive %q: %w", file, err)
	}
	return out, nil
}

// content is what the files of a layout are called.
var content = regexp.MustCompile(`^(oci-layout|index\.json|blobs/sha256/([0-9a-f]{64}))$`)

func unpack(file, dir string) error {
	f, err := os.Open(file)
	if err != nil {
		return err //nolint:wrapcheck // It says which file.
	}
	defer f.Close()
	for t := tar.NewReader(f); ; {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err //nolint:wrapcheck // The caller says which archive.
		}
		m := content.FindStringSubmatch(h.Name)
		if m == nil || h.Typeflag != tar.TypeReg {
			return fmt.Errorf("%q isn't a file of an OCI image layout", h.Name)
		}
		if err := unpackFile(t, filepath.Join(dir, filepath.FromSlash(m[1])), m[2]); err != nil {
			return err
		}
	}
}

// unpackFile writes one, and compares it with its SHA-256, if any.
func unpackFile(from io.Reader, path, want string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		return err //nolint:wrapcheck // It says which folder.
	}
	f, err := os.Create(path)
	if err != nil {
		return err //nolint:wrapcheck // It says which file.
	}
	sum := sha256.New()
	_, err = io.Copy(io.MultiWriter(f, sum), from)
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	if got := hex.EncodeToString(sum.Sum(nil)); want != "" && got != want {
		return fmt.Errorf("%s in it is damaged: its SHA-256 is %s", want, got)
	}
	return nil
}

// artifacts that a layout names, each with what refers to its images.
func artifacts(idx v1.ImageIndex, registry string) ([]Artifact, error) {
	m, err := idx.IndexManifest()
	if err != nil {
		return nil, err //nolint:wrapcheck // The caller says which archive.
	}
	var out []Artifact
	owner := map[v1.Hash]int{}
	for _, d := range m.Manifests {
		name := d.Annotations[refName]
		if name == "" {
			if err := attach(out, owner, idx, d.Digest); err != nil {
				return nil, err
			}
			continue
		}
		at := strings.LastIndex(name, ":")
		if at < 1 {
			return nil, fmt.Errorf("it calls something %q, which isn't NAME:TAG", name)
		}
		a := Artifact{Repository: registry + "/" + name[:at], Tag: name[at+1:]}
		owner[d.Digest] = len(out)
		if d.MediaType.IsIndex() {
			a.Index, err = idx.ImageIndex(d.Digest)
		} else {
			a.Image, err = idx.Image(d.Digest)
		}
		if err == nil && a.Index != nil {
			err = own(owner, a.Index, len(out))
		}
		if err != nil {
			return nil, err //nolint:wrapcheck // The caller says which archive.
		}
		out = append(out, a)
	}
	if len(out) == 0 {
		return nil, errors.New("there's nothing in it")
	}
	return out, nil
}

// own writes down to which artifact the images of an index belong.
func own(owner map[v1.Hash]int, idx v1.ImageIndex, artifact int) error {
	m, err := idx.IndexManifest()
	if err != nil {
		return err //nolint:wrapcheck // The caller says which archive.
	}
	for _, d := range m.Manifests {
		owner[d.Digest] = artifact
	}
	return nil
}

// attach a manifest to the artifact that has its subject.
func attach(out []Artifact, owner map[v1.Hash]int, idx v1.ImageIndex, digest v1.Hash) error {
	img, err := idx.Image(digest)
	if err != nil {
		return err //nolint:wrapcheck // The caller says which archive.
	}
	m, err := img.Manifest()
	if err != nil {
		return err //nolint:wrapcheck // The caller says which archive.
	}
	if m.Subject == nil {
		return fmt.Errorf("%s in it has no name and refers to nothing", digest)
	}
	i, ok := owner[m.Subject.Digest]
	if !ok {
		return fmt.Errorf("%s in it refers to %s, which isn't there", digest, m.Subject.Digest)
	}
	out[i].Attachments = append(out[i].Attachments, img)
	return nil
}
