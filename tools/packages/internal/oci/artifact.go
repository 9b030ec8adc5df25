package oci

import (
	"errors"
	"fmt"
	"os"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
)

// An Artifact is what one name in a registry stands for.
type Artifact struct {
	// Repository is REGISTRY/NAME, and Tag what this version is called there.
	Repository, Tag string
	// Index is what the tag means where there are several architectures, else Image.
	Index v1.ImageIndex
	Image v1.Image
	// Attachments refer to images of the index.
	Attachments []v1.Image
}

// Reference is REGISTRY/NAME:TAG.
func (a Artifact) Reference() string { return a.Repository + ":" + a.Tag }

// Digest of what the tag means.
func (a Artifact) Digest() (v1.Hash, error) {
	var (
		h   v1.Hash
		err error
	)
	if a.Index != nil {
		h, err = a.Index.Digest()
	} else {
		h, err = a.Image.Digest()
	}
	if err != nil {
		return h, fmt.Errorf("cannot tell the digest of %s: %w", a.Reference(), err)
	}
	return h, nil
}

// Write puts the artifact into an OCI image layout: a folder that other tools copy from.
func (a Artifact) Write(dir string) error {
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("cannot empty %q: %w", dir, err)
	}
	l, err := layout.Write(dir, empty.Index)
	if err != nil {
		return fmt.Errorf("cannot write %q: %w", dir, err)
	}
	if err := a.append(l, layout.WithAnnotations(map[string]string{refName: a.Tag})); err != nil {
		return fmt.Errorf("cannot write %q: %w", dir, err)
	}
	return nil
}

// append the artifact to a layout, by the name that is among the options, and its attachments without one.
func (a Artifact) append(l layout.Path, called layout.Option) error {
	var err error
	if a.Index != nil {
		err = l.AppendIndex(a.Index, called)
	} else {
		err = l.AppendImage(a.Image, called)
	}
	for _, at := range a.Attachments {
		err = errors.Join(err, l.AppendImage(at))
	}
	return err
}
