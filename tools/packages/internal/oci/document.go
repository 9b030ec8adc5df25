package oci

import (
	"bytes"
	"encoding/json"
	"fmt"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// A document is an image whose configuration isn't that of a container: mutate has no way to say that.
type document struct {
	v1.Image

	config     []byte
	configType types.MediaType
}

// RawConfigFile is the configuration as it's stored.
func (d *document) RawConfigFile() ([]byte, error) { return d.config, nil }

// ConfigName is the configuration's digest.
func (d *document) ConfigName() (v1.Hash, error) {
	h, _, err := v1.SHA256(bytes.NewReader(d.config))
	return h, err //nolint:wrapcheck // It reads from memory.
}

// Manifest refers to the configuration.
func (d *document) Manifest() (*v1.Manifest, error) {
	m, err := d.Image.Manifest()
	if err != nil {
		return nil, fmt.Errorf("cannot read a manifest: %w", err)
	}
	m = m.DeepCopy()
	name, err := d.ConfigName()
	if err != nil {
		return nil, err
	}
	m.Config = v1.Descriptor{MediaType: d.configType, Size: int64(len(d.config)), Digest: name}
	return m, nil
}

// RawManifest is the manifest as it's stored.
func (d *document) RawManifest() ([]byte, error) {
	m, err := d.Manifest()
	if err != nil {
		return nil, err
	}
	b, err := json.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("cannot write a manifest: %w", err)
	}
	return b, nil
}

// Digest of the manifest.
func (d *document) Digest() (v1.Hash, error) {
	b, err := d.RawManifest()
	if err != nil {
		return v1.Hash{}, err
	}
	h, _, err := v1.SHA256(bytes.NewReader(b))
	return h, err //nolint:wrapcheck // It reads from memory.
}

// Size of the manifest, in bytes.
func (d *document) Size() (int64, error) {
	b, err := d.RawManifest()
	return int64(len(b)), err
}
