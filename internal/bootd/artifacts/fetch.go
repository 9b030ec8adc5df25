package artifacts

import (
	"context"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/tls"
	"errors"
	"fmt"
	"hash"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// Reasons of an Error: one word each, for conditions.
const (
	ReasonFetching = "FetchingArtifact"
	ReasonDigest   = "DigestMismatch"
	ReasonFetch    = "ArtifactUnavailable"
	ReasonTarget   = "ArtifactNotAllowed"
	// ReasonLater is for what no machine waits for.
	ReasonLater = "FetchedWhenNeeded"
)

// ErrFetching says that a file is on its way.
var ErrFetching = errors.New("the file is being fetched")

// ErrDigest says that a digest is malformed.
var ErrDigest = errors.New("the digest is neither sha256 nor sha512 in lower-case hex")

// An Error says why a file can't be served. Its text is for the tenant who wrote the URL: of what the
// other server said it has status code and content type only.
type Error struct {
	Reason string
	// Digest of the file that was asked for.
	Digest string
	err    error
}

// Error is one sentence.
func (e *Error) Error() string { return fmt.Sprintf("artifact %s: %v", short(e.Digest), e.err) }

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.err }

func short(digest string) string {
	const enough = len("sha256:") + 12
	if len(digest) > enough {
		return digest[:enough] + "…"
	}
	return digest
}

const (
	// fetchTimeout bounds one download in total, stall how long it may take for the next leastProgress bytes: a server that
	// gives a byte now and then mustn't keep its place for ever.
	fetchTimeout  = 2 * time.Hour
	stall         = time.Minute
	leastProgress = 1 << 20
	// maxType of what a server says of its answer is shown.
	maxType = 64
	// tries of one download: each but the first goes on where one with some progress broke off, or begins anew where it can't.
	tries = 10
)

// fetch downloads one file into its place.
func (c *Cache) fetch(ctx context.Context, a boot.Artifact, f *flight) (int64, error) {
	fail := func(reason string, err error) (int64, error) {
		return 0, &Error{Reason: reason, Digest: a.Digest, err: err}
	}
	if err := askable(a.URL); err != nil {
		return fail(ReasonTarget, err)
	}
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	for i := 1; ; i++ {
		d := &download{c: c, f: f, a: a, name: f.half}
		err := d.try(ctx)
		var wrong *wrongError
		switch {
		case err == nil:
			return d.at, nil
		case d.again && i < tries && ctx.Err() == nil:
			c.counts.resumed.Add(1)
			c.o.Logger.Info("a download broke off, and goes on", "url", redacted(a.URL), "digest", a.Digest, "bytes", d.at, "error", err.Error())
			continue
		case errors.Is(err, ErrTarget):
			return fail(ReasonTarget, ErrTarget)
		case errors.As(err, &wrong):
			return fail(ReasonDigest, wrong)
		case errors.Is(err, errAhead), errors.Is(err, errBusy) && !c.awaited(f):
			return fail(ReasonLater, errAhead)
		}
		return fail(ReasonFetch, err)
	}
}

// awaited says whether a machine may be waiting for a download.
func (c *Cache) awaited(f *flight) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return f.level == Soon
}

// askable says what is wrong with a URL, as far as that's known without asking.
func askable(s string) error {
	if strings.HasPrefix(s, ociScheme) {
		_, err := parseReference(s)
		return err
	}
	u, err := url.Parse(s)
	if err != nil || scheme(u) != nil || u.Host == "" {
		return errors.New("its URL isn't an http, https or oci URL")
	}
	return nil
}

// ask asks a server. Its errors don't say what the server, or a resolver, said.
func (c *Cache) ask(ctx context.Context, u string, h http.Header) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u, http.NoBody)
	if err != nil {
		return nil, errors.New("its URL can't be asked")
	}
	maps.Copy(req.Header, h)
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, reach(err)
	}
	return resp, nil
}

// reach says why a server couldn't be asked, without what it or a resolver said.
func reach(err error) error {
	if errors.Is(err, ErrTarget) {
		return ErrTarget
	}
	if errors.Is(err, errRedirects) {
		return errRedirects
	}
	var timeout interface{ Timeout() bool }
	if errors.As(err, &timeout) && timeout.Timeout() {
		return errors.New("its server didn't answer in time")
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return errCertificate
	}
	return errors.New("its server can't be reached")
}

// errRedirects tells a server that sends elsewhere, and on, from one that's away.
var errRedirects = fmt.Errorf("its server redirects more than %d times, or to what is neither http:// nor https://", maxRedirects)

// errCertificate tells an authority that's missing here, or a name that isn't the server's, from a server that's away.
var errCertificate = errors.New("its server's certificate isn't of the name in the URL, or of no authority that bootd trusts (those of /etc/ssl/certs, and SSL_CERT_FILE)")

// answered says what a server answered that isn't what was asked for. Whose answer it is goes before it.
func answered(who string, resp *http.Response) error {
	return fmt.Errorf("%s answered %d (%s), not 200", who, resp.StatusCode, contentType(resp.Header))
}

func contentType(h http.Header) string {
	t, _, err := mime.ParseMediaType(h.Get("Content-Type"))
	if err != nil {
		return "no content type"
	}
	return t[:min(len(t), maxType)]
}

func hasher(digest string) (hash.Hash, error) {
	switch {
	case !digestPattern.MatchString(digest):
		return nil, ErrDigest
	case strings.HasPrefix(digest, "sha256:"):
		return sha256.New(), nil
	}
	return sha512.New(), nil
}

// redacted is a URL without what may be a secret.
func redacted(s string) string {
	u, err := url.Parse(s)
	if err != nil {
		return "(malformed)"
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return u.String()
}

// hostOf a URL; "" where it has none.
func hostOf(s string) string {
	u, err := url.Parse(s)
	if err != nil {
		return ""
	}
	return u.Host
}

// patient ends a download that stands still, or nearly so.
type patient struct {
	r   io.Reader
	t   *time.Timer
	got int
}

func (p *patient) Read(b []byte) (int, error) {
	n, err := p.r.Read(b)
	if p.got += n; p.got >= leastProgress {
		p.got = 0
		p.t.Reset(stall)
	}
	if err != nil {
		p.t.Stop()
	}
	return n, err
}
