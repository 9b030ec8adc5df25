package oci

import (
	"fmt"
	"maps"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// An Image for one architecture.
type Image struct {
	// Arch as Go calls it, such as amd64.
	Arch string
	// Entrypoint is the program, and User the uid:gid that it runs as.
	Entrypoint []string
	User       string
	// Env is added to the program's environment, as NAME=VALUE.
	Env []string
	// Labels say what this is, by the OCI's names.
	Labels map[string]string
	// Layers from the lowest to the highest.
	Layers []Files
}

// Files of one layer.
type Files struct {
	Files []File
	// Annotations of the layer's descriptor.
	Annotations map[string]string
	// Labels, where set, are added to the image's for this layer, which is only known by its digest.
	Labels func(digest string) map[string]string
}

// Build makes the image.
func (i Image) Build() (v1.Image, error) {
	img := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	labels := maps.Clone(i.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	for _, files := range i.Layers {
		l, err := Layer(files.Files)
		if err != nil {
			return nil, err
		}
		img, err = mutate.Append(img, mutate.Addendum{Layer: l, MediaType: types.OCILayer, Annotations: files.Annotations})
		if err != nil {
			return nil, fmt.Errorf("cannot add a layer: %w", err)
		}
		d, err := l.Digest()
		if err != nil {
			return nil, fmt.Errorf("cannot tell a layer's digest: %w", err)
		}
		if files.Labels != nil {
			maps.Copy(labels, files.Labels(d.String()))
		}
	}
	return i.configure(img, labels)
}

func (i Image) configure(img v1.Image, labels map[string]string) (v1.Image, error) {
	c, err := img.ConfigFile()
	if err != nil {
		return nil, fmt.Errorf("cannot read an image's configuration: %w", err)
	}
	c = c.DeepCopy()
	c.OS, c.Architecture = "linux", i.Arch
	c.Created = v1.Time{Time: epoch()}
	c.History = nil // It says by which commands a layer was made: none.
	c.Config = v1.Config{
		Entrypoint: i.Entrypoint, User: i.User, Labels: labels, WorkingDir: "/",
		Env: append([]string{"PATH=/usr/local/bin"}, i.Env...),
	}
	out, err := mutate.ConfigFile(img, c)
	if err != nil {
		return nil, fmt.Errorf("cannot configure an image: %w", err)
	}
	return out, nil
}

// Index joins the images of several architectures under one name.
func Index(annotations map[string]string, images ...v1.Image) (v1.ImageIndex, error) {
	idx := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, img := range images {
		c, err := img.ConfigFile()
		if err != nil {
			return nil, fmt.Errorf("cannot read an image's configuration: %w", err)
		}
		idx = mutate.AppendManifests(idx, mutate.IndexAddendum{
			Add:        img,
			Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: c.OS, Architecture: c.Architecture}},
		})
	}
	annotated, ok := mutate.Annotations(idx, annotations).(v1.ImageIndex)
	if !ok {
		return nil, fmt.Errorf("an annotated index isn't one any more: %T", annotated)
	}
	return annotated, nil
}

// SPDX is the media type of a bill of materials.
const SPDX = "application/spdx+json"

// Attachment is a document about an image, such as its bill of materials: a manifest of its own that refers to the image, which
// registries list as its referrer.
func Attachment(subject v1.Image, mediaType string, document []byte) (v1.Image, error) {
	d, err := describe(subject)
	if err != nil {
		return nil, err
	}
	// What an attachment is, clients take from its configuration's media type.
	img := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.MediaType(mediaType))
	img, err = mutate.Append(img, mutate.Addendum{
		Layer: static.NewLayer(document, types.MediaType(mediaType)), MediaType: types.MediaType(mediaType),
	})
	if err != nil {
		return nil, fmt.Errorf("cannot make an attachment: %w", err)
	}
	out, ok := mutate.Subject(img, d).(v1.Image)
	if !ok {
		return nil, fmt.Errorf("an attachment isn't an image any more: %T", out)
	}
	return out, nil
}

// Document is a single file as an image, with a configuration of its own kind, as Helm's charts are.
func Document(config []byte, configType string, content []byte, contentType string, annotations map[string]string) (v1.Image, error) {
	img, err := mutate.Append(mutate.MediaType(empty.Image, types.OCIManifestSchema1), mutate.Addendum{
		Layer: static.NewLayer(content, types.MediaType(contentType)), MediaType: types.MediaType(contentType),
	})
	if err != nil {
		return nil, fmt.Errorf("cannot make an image of a document: %w", err)
	}
	annotated, ok := mutate.Annotations(img, annotations).(v1.Image)
	if !ok {
		return nil, fmt.Errorf("an annotated image isn't one any more: %T", annotated)
	}
	return &document{Image: annotated, config: config, configType: types.MediaType(configType)}, nil
}

// describe gives an image's descriptor.
func describe(img v1.Image) (v1.Descriptor, error) {
	digest, err := img.Digest()
	if err != nil {
		return v1.Descriptor{}, fmt.Errorf("cannot tell an image's digest: %w", err)
	}
	size, err := img.Size()
	if err != nil {
		return v1.Descriptor{}, fmt.Errorf("cannot tell an image's size: %w", err)
	}
	return v1.Descriptor{MediaType: types.OCIManifestSchema1, Size: size, Digest: digest}, nil
}
