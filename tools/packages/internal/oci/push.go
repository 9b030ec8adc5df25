package oci

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
)

// Via reaches every registry at one address, HOST:PORT, whatever its name says: for one whose name means something elsewhere.
func Via(address string) http.RoundTripper {
	return &http.Transport{DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, address)
	}}
}

// Push uploads the artifact, with its attachments. A released version is never overwritten with something else. What isn't released may be:
// before is what the tag meant until now, and nothing where that's the same, or isn't known. Registries are reached as usual where via is nil.
func (a Artifact) Push(ctx context.Context, released bool, via http.RoundTripper) (before v1.Hash, err error) {
	tag, err := name.NewTag(a.Reference(), name.StrictValidation)
	if err != nil {
		return before, fmt.Errorf("%q can't be a name in a registry: %w", a.Reference(), err)
	}
	ours, err := a.Digest()
	if err != nil {
		return before, err
	}
	// The user's own docker or podman log-in is what counts, as for any other client.
	if via == nil {
		via = remote.DefaultTransport
	}
	options := []remote.Option{remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain), remote.WithTransport(via)}
	if released {
		err = a.untaken(tag, ours, options)
	} else if there, err := head(tag, options); err == nil && there != ours {
		before = there
	}
	if err != nil {
		return before, err
	}
	if err := a.upload(tag, options); err != nil {
		return before, err
	}
	return before, a.attach(tag, via, options)
}

// attach uploads what refers to the artifact. A registry that keeps no list of that has a tag for it, which is read before it's written.
// Whoever may read what was just uploaded may read that too: what is refused then isn't there (see insist).
func (a Artifact) attach(tag name.Tag, via http.RoundTripper, options []remote.Option) error {
	if len(a.Attachments) == 0 {
		return nil
	}
	if _, err := head(tag, options); err == nil {
		options = append(slices.Clip(options), remote.WithTransport(absent{via}))
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

// absent reads 403 of a manifest as 404.
type absent struct{ http.RoundTripper }

// RoundTrip asks.
func (a absent) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := a.RoundTripper.RoundTrip(r)
	if err == nil && resp.StatusCode == http.StatusForbidden && r.Method == http.MethodGet && strings.Contains(r.URL.Path, "/manifests/") {
		resp.StatusCode = http.StatusNotFound
	}
	return resp, err //nolint:wrapcheck // It's another one's answer.
}

// upload has the registry mean the artifact by a tag, or by its digest alone.
func (a Artifact) upload(to name.Reference, options []remote.Option) error {
	var err error
	if a.Index != nil {
		err = remote.WriteIndex(to, a.Index, options...)
	} else {
		err = remote.Write(to, a.Image, options...)
	}
	if err != nil {
		return fmt.Errorf("cannot push %s: %w", a.Reference(), explain(err, to.Context().RegistryStr()))
	}
	return nil
}

// untaken says that the tag is free, or means the same already.
func (a Artifact) untaken(tag name.Tag, ours v1.Hash, options []remote.Option) error {
	there, err := head(tag, options)
	if refused(err) {
		there, err = a.insist(tag, ours, options)
	} else if err != nil {
		err = fmt.Errorf("cannot ask for %s: %w", a.Reference(), explain(err, tag.RegistryStr()))
	}
	if err != nil {
		return err
	}
	if there != (v1.Hash{}) && there != ours {
		return fmt.Errorf("%s is released already, as %s, and this is %s: a release isn't changed; give it a new version", a.Reference(), there, ours)
	}
	return nil
}

// insist on an answer where nobody may ask. Quay says 401 of a repository that isn't there, until somebody wants to write there
// (quay/quay#1054), and Artifactory 403 of a tag (google/go-containerregistry#1691). So the artifact is uploaded without its tag: that makes
// the repository, and nobody gets it who doesn't know its digest. Whoever may read it then may read all that is there, and what is still
// refused isn't. Whoever may not can't tell, and would write over a release.
func (a Artifact) insist(tag name.Tag, ours v1.Hash, options []remote.Option) (v1.Hash, error) {
	untagged := tag.Digest(ours.String())
	if err := a.upload(untagged, options); err != nil {
		return v1.Hash{}, err
	}
	// That there's none is an answer too: Quay doesn't show what has no tag (helm/helm#31348).
	_, err := head(untagged, options)
	if refused(err) {
		return v1.Hash{}, fmt.Errorf("%s lets you write there, and doesn't let you read (%d): nobody can tell whether %s is released already; "+
			"log in as somebody who may read there too", tag.RegistryStr(), status(err), a.Reference())
	}
	there, again := head(tag, options)
	if refused(again) {
		again = nil
	}
	if err := errors.Join(err, again); err != nil {
		return v1.Hash{}, fmt.Errorf("cannot ask for %s: %w", a.Reference(), explain(err, tag.RegistryStr()))
	}
	return there, nil
}

// head is what a registry has by a name, and nothing where it says that there's none.
func head(ref name.Reference, options []remote.Option) (v1.Hash, error) {
	d, err := remote.Head(ref, options...)
	if status(err) == http.StatusNotFound {
		return v1.Hash{}, nil
	}
	if err != nil {
		return v1.Hash{}, err //nolint:wrapcheck // Callers tell what was asked for.
	}
	return d.Digest, nil
}

// status of what a registry answered, and 0 where it didn't.
func status(err error) int {
	if te, ok := errors.AsType[*transport.Error](err); ok {
		return te.StatusCode
	}
	return 0
}

func refused(err error) bool {
	s := status(err)
	return s == http.StatusUnauthorized || s == http.StatusForbidden
}

// explain says what a registry's refusal means.
func explain(err error, registry string) error {
	switch status(err) {
	case http.StatusUnauthorized:
		return fmt.Errorf("%s doesn't know you, or not as somebody who may write there and make repositories (401): "+
			"log in to it first, as with docker login or crane auth login", registry)
	case http.StatusNotFound:
		// Amazon ECR, for one.
		return fmt.Errorf("%s has no such repository, and makes none for what is pushed (404): make one for each name in digests.txt first", registry)
	case http.StatusForbidden:
		return fmt.Errorf("%s doesn't let you write there (403)", registry)
	default:
		return err
	}
}
