package oci

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
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

// Via reaches every registry at one address, HOST:PORT, whatever its name says: for one whose name means something elsewhere.
func Via(address string) remote.Option {
	t := &http.Transport{DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, address)
	}}
	return remote.WithTransport(t)
}

// Push uploads the artifact, with its attachments. A released version is never overwritten with something else.
func (a Artifact) Push(ctx context.Context, released bool, more ...remote.Option) error {
	tag, err := name.NewTag(a.Reference(), name.StrictValidation)
	if err != nil {
		return fmt.Errorf("%q can't be a name in a registry: %w", a.Reference(), err)
	}
	// The user's own docker or podman log-in is what counts, as for any other client.
	options := []remote.Option{remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain)}
	options = append(options, more...)
	if released {
		if err := a.untaken(tag, options); err != nil {
			return err
		}
	}
	if a.Index != nil {
		err = remote.WriteIndex(tag, a.Index, options...)
	} else {
		err = remote.Write(tag, a.Image, options...)
	}
	if err != nil {
		return fmt.Errorf("cannot push %s: %w", a.Reference(), explain(err, tag.RegistryStr()))
	}
	for _, at := range a.Attachments {
		d, err := at.Digest()
		if err != nil {
			return fmt.Errorf("cannot tell the digest of an attachment: %w", err)
		}
		if err := remote.Write(tag.Digest(d.String()), at, options...); err != nil {
			return fmt.Errorf("cannot push an attachment of %s: %w", a.Reference(), explain(err, tag.RegistryStr()))
		}
	}
	return nil
}

// untaken says that the tag is free, or means the same already.
func (a Artifact) untaken(tag name.Tag, options []remote.Option) error {
	there, err := remote.Head(tag, options...)
	var te *transport.Error
	if errors.As(err, &te) && te.StatusCode == http.StatusNotFound {
		return nil
	}
	if err != nil {
		return fmt.Errorf("cannot ask for %s: %w", a.Reference(), explain(err, tag.RegistryStr()))
	}
	ours, err := a.Digest()
	if err != nil {
		return err
	}
	if there.Digest != ours {
		return fmt.Errorf("%s is released already, as %s, and this is %s: a release isn't changed; give it a new version",
			a.Reference(), there.Digest, ours)
	}
	return nil
}

// explain says what a registry's refusal means.
func explain(err error, registry string) error {
	var te *transport.Error
	if !errors.As(err, &te) {
		return err
	}
	switch te.StatusCode {
	case http.StatusUnauthorized:
		return fmt.Errorf("%s doesn't know you (401): log in to it first, as with docker login or crane auth login", registry)
	case http.StatusNotFound:
		// Amazon ECR, for one.
		return fmt.Errorf("%s has no such repository, and makes none for what is pushed (404): make one for each name in digests.txt first", registry)
	case http.StatusForbidden:
		return fmt.Errorf("%s doesn't let you write there (403)", registry)
	default:
		return err
	}
}
