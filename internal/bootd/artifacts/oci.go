package artifacts

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

const (
	ociScheme = "oci://"
	// registryPatience is for all that comes before a file itself: a token and a manifest.
	registryPatience = time.Minute
	// maxManifest is what registries themselves take, maxToken is a token service's whole answer.
	maxManifest = 4 << 20
	maxToken    = 64 << 10
	// manifestTypes that are understood; without them registries answer with something older.
	manifestTypes = "application/vnd.oci.image.manifest.v1+json, application/vnd.docker.distribution.manifest.v2+json"
)

// references are those of the OCI distribution specification, and the same that the schema of a BootProfile takes.
var references = regexp.MustCompile(`^oci://([A-Za-z0-9.-]+(?::[0-9]{1,5})?)/([a-z0-9]+(?:[._-]+[a-z0-9]+)*(?:/[a-z0-9]+(?:[._-]+[a-z0-9]+)*)*)` +
	`(?::([A-Za-z0-9_][A-Za-z0-9._-]{0,127})|@(sha256:[0-9a-f]{64}))?$`)

// A reference names a file in a registry: by itself, or as a layer of a manifest that is named by tag or digest.
type reference struct{ host, repository, tag, digest string }

func parseReference(s string) (reference, error) {
	m := references.FindStringSubmatch(s)
	if m == nil {
		return reference{}, errors.New("its URL isn't oci://HOST/REPOSITORY, with :TAG or @sha256:… of a manifest where that is what's known")
	}
	return reference{host: m[1], repository: m[2], tag: m[3], digest: m[4]}, nil
}

// manifest that a reference names; "" where it names no other than the file itself.
func (r reference) manifest(file string) string {
	switch {
	case r.tag != "":
		return r.tag
	case r.digest != file:
		return r.digest
	}
	return ""
}

// base is where a registry's API is. A registry on loopback talks HTTP, as with all of its clients; all others HTTPS.
func (r reference) base() string {
	host := r.host
	if host == dockerHub { // Its name isn't its address.
		host = "registry-1.docker.io"
	}
	u := url.URL{Scheme: "https", Host: host}
	if loopback(u.Hostname()) {
		u.Scheme = "http"
	}
	return u.String() + "/v2/" + r.repository
}

// get asks for a file, or with a Range for a part of it. fixed says that its URL holds a digest of what it serves.
func (c *Cache) get(ctx context.Context, a boot.Artifact, h http.Header) (resp *http.Response, fixed bool, err error) {
	l, err := c.loginsOf(ctx, a)
	if err != nil {
		return nil, false, err
	}
	if !strings.HasPrefix(a.URL, ociScheme) {
		resp, err = c.file(ctx, a, l, h)
		return resp, false, err
	}
	r, err := parseReference(a.URL)
	if err != nil {
		return nil, false, err
	}
	p := &pull{c: c, r: r, logins: l}
	p.login, p.known = l.of(r.host, r.repository)
	blob, err := p.blob(ctx, a.Digest)
	if err != nil {
		return nil, false, err
	}
	resp, err = p.ask(ctx, p.r.base()+"/blobs/"+blob, h)
	return resp, true, err
}

// A pull talks to one registry about one repository.
type pull struct {
	c *Cache
	r reference
	// logins of the profile's Secret; nil where it names none. login is the one for this repository, where it's known.
	logins logins
	login  login
	known  bool
	// authorization that the registry is shown: its own token service's, or the login itself; "" before it wanted one.
	authorization string
}

// ask asks the registry. Where it wants to know who asks, that's told, or a token fetched, once.
func (p *pull) ask(ctx context.Context, u string, h http.Header) (*http.Response, error) {
	resp, err := p.once(ctx, u, h)
	if err == nil && resp.StatusCode == http.StatusUnauthorized && p.authorization == "" {
		_ = resp.Body.Close()
		if p.authorization, err = p.authorise(ctx, resp.Header.Values("WWW-Authenticate")); err == nil {
			resp, err = p.once(ctx, u, h)
		}
	}
	if err != nil {
		return nil, err
	}
	if p.logins == nil || !barred(resp) || !strings.HasPrefix(p.r.base(), resp.Request.URL.Scheme+"://"+resp.Request.URL.Host+"/") {
		return resp, nil
	}
	_ = resp.Body.Close()
	if !p.known {
		return nil, noPassword("its registry", resp)
	}
	return nil, wrongPassword("its registry", resp)
}

func (p *pull) once(ctx context.Context, u string, h http.Header) (*http.Response, error) {
	h = h.Clone()
	if p.authorization != "" {
		h.Set("Authorization", p.authorization)
	}
	return p.c.ask(ctx, u, h)
}

// blob is the digest under which the registry has a file. A file is that itself, or a layer of a manifest: the one that has the file's
// digest, or the only one, where the two digests are of different kinds.
func (p *pull) blob(ctx context.Context, file string) (string, error) {
	name := p.r.manifest(file)
	if name == "" {
		return file, nil
	}
	ctx, cancel := context.WithTimeout(ctx, registryPatience)
	defer cancel()
	resp, err := p.ask(ctx, p.r.base()+"/manifests/"+name, http.Header{"Accept": {manifestTypes}})
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return "", answered("its registry, asked for the manifest,", resp)
	}
	b, err := io.ReadAll(io.LimitReader(resp.Body, maxManifest+1))
	if err != nil || len(b) > maxManifest {
		return "", errors.New("its manifest can't be read, or is larger than 4 MiB")
	}
	if s := sha256.Sum256(b); p.r.digest != "" && p.r.digest != "sha256:"+hex.EncodeToString(s[:]) {
		return "", errors.New("its registry gives another manifest than the one of that digest")
	}
	return layer(b, file)
}

// layer finds a file among a manifest's layers.
func layer(manifest []byte, file string) (string, error) {
	type named struct {
		Digest string `json:"digest"`
	}
	m := struct {
		Layers    []named `json:"layers"`
		Manifests []named `json:"manifests"`
	}{}
	if err := json.Unmarshal(manifest, &m); err != nil {
		return "", errors.New("its manifest isn't JSON")
	}
	for _, l := range m.Layers {
		if l.Digest == file {
			return file, nil
		}
	}
	switch {
	case len(m.Layers) == 0 && len(m.Manifests) > 0:
		return "", errors.New("its manifest is an index of others: name the one whose layer is the file, by its digest")
	case len(m.Layers) != 1:
		return "", fmt.Errorf("its manifest has %d layers, none of them with the file's digest", len(m.Layers))
	case !digestPattern.MatchString(m.Layers[0].Digest):
		return "", errors.New("its manifest names its layer by no digest that's known")
	case strings.HasPrefix(m.Layers[0].Digest, "sha256:") == strings.HasPrefix(file, "sha256:"):
		return "", &wrongError{certain: true}
	}
	return m.Layers[0].Digest, nil
}
