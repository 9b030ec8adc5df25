// Package debian takes files out of pinned Debian packages: firmware that machines load first, and the certificates of public CAs.
package debian

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed" // For the pins.
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

//go:embed pins.yaml
var pinned []byte

// A Pin is one version of one package.
type Pin struct {
	Name    string `json:"name"`
	Arch    string `json:"arch"`
	Version string `json:"version"`
	// SHA256 of the .deb, in hexadecimal.
	SHA256 string `json:"sha256"`
	// SHA1 is the name of the .deb in Debian's archive of old versions, and Pool its path on a mirror: see Sources.
	SHA1 string `json:"sha1"`
	Pool string `json:"pool"`
	// Source is the source package, whose licence asks that it be named, and License an SPDX expression.
	Source  string `json:"source"`
	License string `json:"license"`
	// Files to take, by where they go. None: all of them.
	Files map[string]string `json:"files,omitempty"`
}

// Pins are all packages that images are made with.
func Pins() ([]Pin, error) {
	var pins []Pin
	if err := yaml.UnmarshalStrict(pinned, &pins); err != nil {
		return nil, fmt.Errorf("cannot understand the pinned Debian packages: %w", err)
	}
	return pins, nil
}

// ErrNoDebian says that this machine has neither the packages nor what gets them.
var ErrNoDebian = errors.New("there's no apt-get or no dpkg-deb here")

// A Store keeps .deb files, so that each is downloaded once.
type Store struct {
	// Dir is where they lie.
	Dir string
	// Get downloads one into a folder; nil: as Sources does.
	Get func(ctx context.Context, p Pin, dir string) error
}

// Files of a package, by where they go.
func (s Store) Files(ctx context.Context, p Pin) (map[string][]byte, error) {
	for _, program := range []string{"apt-get", "dpkg-deb"} {
		if _, err := exec.LookPath(program); err != nil {
			return nil, ErrNoDebian
		}
	}
	deb, err := s.deb(ctx, p)
	if err != nil {
		return nil, err
	}
	content, err := unpack(ctx, deb)
	if err != nil {
		return nil, err
	}
	if p.Files == nil {
		return content, nil
	}
	out := map[string][]byte{}
	for to, from := range p.Files {
		data, ok := content[from]
		if !ok {
			return nil, fmt.Errorf("package %s %s has no file /%s: the pins are wrong", p.Name, p.Version, from)
		}
		out[to] = data
	}
	return out, nil
}

// deb gives the path of the .deb, downloaded where it isn't here yet, and always checked.
func (s Store) deb(ctx context.Context, p Pin) (string, error) {
	file := filepath.Join(s.Dir, p.Name+"_"+p.SHA256[:min(12, len(p.SHA256))]+".deb")
	err := check(file, p)
	if err == nil || !errors.Is(err, fs.ErrNotExist) {
		return file, err
	}
	if err := os.MkdirAll(s.Dir, 0o750); err != nil {
		return "", fmt.Errorf("cannot make a folder for Debian packages: %w", err)
	}
	tmp, err := os.MkdirTemp(s.Dir, "get-")
	if err != nil {
		return "", fmt.Errorf("cannot make a folder for a download: %w", err)
	}
	defer os.RemoveAll(tmp) // What stays is in nobody's way.
	get := s.Get
	if get == nil {
		get = Sources{}.Get
	}
	if err := get(ctx, p, tmp); err != nil {
		return "", err
	}
	got, err := filepath.Glob(filepath.Join(tmp, "*.deb"))
	if err != nil || len(got) != 1 {
		return "", fmt.Errorf("a download of %s %s gave %d files", p.Name, p.Version, len(got))
	}
	if err := check(got[0], p); err != nil {
		return "", err
	}
	if err := os.Rename(got[0], file); err != nil {
		return "", fmt.Errorf("cannot keep %s: %w", p.Name, err)
	}
	return file, nil
}

func check(file string, p Pin) error {
	b, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("cannot read package %s: %w", p.Name, err)
	}
	sum := sha256.Sum256(b)
	if got := hex.EncodeToString(sum[:]); got != p.SHA256 {
		return fmt.Errorf("package %s %s in %q has SHA-256 %s, and %s is pinned: it isn't what was reviewed", p.Name, p.Version, file, got, p.SHA256)
	}
	return nil
}

// last line of what a program said.
func last(out []byte) string {
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}

// unpack reads all regular files of a package.
func unpack(ctx context.Context, deb string) (map[string][]byte, error) {
	var stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, "dpkg-deb", "--fsys-tarfile", deb) //nolint:gosec // A file of our own store.
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("cannot unpack %q: %w: %s", deb, err, last(stderr.Bytes()))
	}
	files := map[string][]byte{}
	for t := tar.NewReader(bytes.NewReader(out)); ; {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return files, nil
		}
		if err != nil {
			return nil, fmt.Errorf("cannot unpack %q: %w", deb, err)
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		data, err := io.ReadAll(t)
		if err != nil {
			return nil, fmt.Errorf("cannot unpack %q: %w", deb, err)
		}
		files[path.Clean(h.Name)] = data
	}
}

// certificates are where the package ca-certificates has them, one a file.
const certificates = "usr/share/ca-certificates/mozilla/"

// Bundle joins all certificates into the one file that Go, as others, looks for first.
func Bundle(files map[string][]byte) ([]byte, error) {
	var names []string
	for name := range files {
		if strings.HasPrefix(name, certificates) && path.Ext(name) == ".crt" {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil, errors.New("the package ca-certificates has no certificates where they're looked for")
	}
	slices.Sort(names)
	var out []byte
	for _, name := range names {
		out = append(append(out, bytes.TrimSpace(files[name])...), '\n')
	}
	return out, nil
}
