package xpkg

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/crossplane-contrib/provider-baremetal/tools/packages/internal/oci"
)

// A Source is a folder with a package's crossplane.yaml and its objects.
type Source struct {
	// Dir is the folder; below it every YAML file counts. A README.md there is the package's readme.
	Dir string
	// Icon is an SVG file.
	Icon string
	// Examples are YAML files.
	Examples []string
}

// A Release is what the packages of one version have in common.
type Release struct {
	// Registry is where they're pushed, such as HOST/PATH, and Version their tag.
	Registry, Version string
}

// Repository of one of our packages.
func (r Release) Repository(name string) string { return r.Registry + "/" + name }

// A Package is what a source becomes.
type Package struct {
	// Name and Kind of its crossplane.yaml.
	Name, Kind string
	// Stream is its package.yaml, and Examples its examples as one YAML stream.
	Stream, Examples []byte
}

const metaFile = "crossplane.yaml"

// Read makes a package of a source.
func (r Release) Read(s Source) (*Package, error) {
	meta, err := documents(filepath.Join(s.Dir, metaFile))
	if err != nil {
		return nil, err
	}
	if len(meta) != 1 {
		return nil, fmt.Errorf("%s in %q has %d documents and must have one", metaFile, s.Dir, len(meta))
	}
	m := meta[0]
	p := &Package{Name: m.name(), Kind: m.kind()}
	if err := s.describe(m); err != nil {
		return nil, err
	}
	if err := r.depend(m); err != nil {
		return nil, fmt.Errorf("package %s: %w", p.Name, err)
	}
	objects, err := s.objects()
	if err != nil {
		return nil, err
	}
	for _, o := range objects {
		if err := r.resolve(o); err != nil {
			return nil, fmt.Errorf("package %s: %w", p.Name, err)
		}
	}
	if err := lint(p.Kind, objects); err != nil {
		return nil, fmt.Errorf("package %s: %w", p.Name, err)
	}
	if p.Stream, err = encode(append([]object{m}, objects...)); err != nil {
		return nil, err
	}
	p.Examples, err = s.examples()
	return p, err
}

// objects are those of all YAML files but the package's own, in the order of their paths.
func (s Source) objects() ([]object, error) {
	var out []object
	err := filepath.WalkDir(s.Dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".yaml" || path == filepath.Join(s.Dir, metaFile) {
			return err
		}
		docs, err := documents(path)
		out = append(out, docs...)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("cannot read the objects of package %q: %w", s.Dir, err)
	}
	return out, nil
}

// describe adds what marketplaces show.
func (s Source) describe(m object) error {
	readme, err := os.ReadFile(filepath.Join(s.Dir, "README.md"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("cannot read the readme of a package: %w", err)
	}
	if len(readme) > 0 {
		m.annotate("meta.crossplane.io/readme", string(readme))
	}
	if s.Icon == "" {
		return nil
	}
	icon, err := os.ReadFile(s.Icon)
	if err != nil {
		return fmt.Errorf("cannot read the icon of a package: %w", err)
	}
	m.annotate("meta.crossplane.io/iconURI", dataURI(icon))
	return nil
}

// examples joins the files as they are: comments are what's best about an example.
func (s Source) examples() ([]byte, error) {
	var out bytes.Buffer
	files := slices.Sorted(slices.Values(s.Examples))
	for _, f := range files {
		if _, err := documents(f); err != nil {
			return nil, err
		}
		b, err := os.ReadFile(f)
		if err != nil {
			return nil, fmt.Errorf("cannot read an example: %w", err)
		}
		out.WriteString("---\n" + strings.TrimSpace(string(b)) + "\n")
	}
	return out.Bytes(), nil
}

const (
	annotation = "io.crossplane.xpkg"
	// base marks the layer of package.yaml. Crossplane's own word for the examples is another company's name.
	base, examples = "base", "upbound"
)

// Layers of the package, to lie above those of its runtime.
func (p *Package) Layers() []oci.Files {
	out := []oci.Files{layer("package.yaml", p.Stream, base)}
	if len(p.Examples) > 0 {
		out = append(out, layer(".up/examples.yaml", p.Examples, examples))
	}
	return out
}

// layer is told by its annotation, and once more by a label of the image, for tools that keep images in files.
func layer(path string, data []byte, word string) oci.Files {
	return oci.Files{
		Files:       []oci.File{{Path: path, Mode: 0o644, Data: data}},
		Annotations: map[string]string{annotation: word},
		Labels:      func(digest string) map[string]string { return map[string]string{annotation + ":" + digest: word} },
	}
}
