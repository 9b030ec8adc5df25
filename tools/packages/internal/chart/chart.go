// Package chart packs a Helm chart for a registry.
package chart

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/provider-baremetal/tools/packages/internal/oci"
)

// Media types of a chart in a registry, by Helm.
const (
	configType  = "application/vnd.cncf.helm.config.v1+json"
	contentType = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
)

// A Source is a chart's folder, and what a release of it says.
type Source struct {
	// Dir is the folder, which is named like the chart. Links in it are followed.
	Dir string
	// Version of the release, such as v0.1.0. Helm's own has no v.
	Version string
	// Image and Digest of what the chart runs. In the checkout its values name the last part of Image alone.
	Image, Digest string
}

// A Chart is packed.
type Chart struct {
	// Name and Version, as Helm has them.
	Name, Version string
	// Archive is what "helm package" writes.
	Archive []byte
	// metadata are Chart.yaml.
	metadata map[string]any
}

// Pack packs the chart.
func (s Source) Pack() (*Chart, error) {
	name := filepath.Base(s.Dir)
	c := &Chart{Name: name, Version: strings.TrimPrefix(s.Version, "v")}
	files, err := s.files(name, "")
	if err != nil {
		return nil, err
	}
	for i, f := range files {
		switch f.Path {
		case name + "/Chart.yaml":
			files[i].Data, err = replace(f, map[string]string{"version: 0.0.0-dev": "version: " + c.Version, "appVersion: v0.0.0-dev": "appVersion: " + s.Version})
			if err == nil {
				err = yaml.UnmarshalStrict(files[i].Data, &c.metadata)
			}
		case name + "/values.yaml":
			files[i].Data, err = replace(f, map[string]string{"  repository: " + path.Base(s.Image): "  repository: " + s.Image, `  digest: ""`: "  digest: " + s.Digest})
		}
		if err != nil {
			return nil, fmt.Errorf("cannot pack chart %s: %w", name, err)
		}
	}
	if c.metadata == nil {
		return nil, fmt.Errorf("there's no Chart.yaml in %q", s.Dir)
	}
	c.Archive, err = oci.Tarball(files)
	return c, err
}

// files of a folder of the chart.
func (s Source) files(name, dir string) ([]oci.File, error) {
	entries, err := os.ReadDir(filepath.Join(s.Dir, dir))
	if err != nil {
		return nil, fmt.Errorf("cannot read chart %s: %w", name, err)
	}
	var out []oci.File
	for _, e := range entries {
		file := filepath.Join(dir, e.Name())
		if e.IsDir() {
			below, err := s.files(name, file)
			if err != nil {
				return nil, err
			}
			out = append(out, below...)
			continue
		}
		b, err := os.ReadFile(filepath.Join(s.Dir, file))
		if err != nil {
			return nil, fmt.Errorf("cannot read chart %s: %w", name, err)
		}
		out = append(out, oci.File{Path: name + "/" + filepath.ToSlash(file), Mode: 0o644, Data: b})
	}
	return out, nil
}

// replace whole lines of a file, each of which must be there once: comments are worth keeping.
func replace(f oci.File, lines map[string]string) ([]byte, error) {
	text := "\n" + string(f.Data)
	for old, line := range lines {
		if strings.Count(text, "\n"+old+"\n") != 1 {
			return nil, fmt.Errorf("%s must have the line %q once", f.Path, old)
		}
		text = strings.Replace(text, "\n"+old+"\n", "\n"+line+"\n", 1)
	}
	return []byte(text[1:]), nil
}

// Image is the chart as a registry has it.
func (c *Chart) Image() (v1.Image, error) {
	config, err := json.Marshal(c.metadata)
	if err != nil {
		return nil, fmt.Errorf("cannot write the metadata of chart %s: %w", c.Name, err)
	}
	description, ok := c.metadata["description"].(string)
	if !ok {
		return nil, errors.New("chart " + c.Name + " has no description")
	}
	return oci.Document(config, configType, c.Archive, contentType, map[string]string{
		"org.opencontainers.image.title":       c.Name,
		"org.opencontainers.image.version":     c.Version,
		"org.opencontainers.image.description": description,
	})
}
