package artifacts

import (
	"context"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"mime"
	"net/http"
	"net/url"
	"os"
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
	partial = ".partial"
	// fetchTimeout bounds one download in total, stall how long it may take for the next leastProgress bytes: a server that
	// gives a byte now and then mustn't keep its place for ever.
	fetchTimeout  = 2 * time.Hour
	stall         = time.Minute
	leastProgress = 1 << 20
	// maxType of what a server says of its answer is shown.
	maxType = 64
)

// fetch downloads one file into its place.
func (c *Cache) fetch(a boot.Artifact) (int64, error) {
	fail := func(reason string, err error) (int64, error) {
		return 0, &Error{Reason: reason, Digest: a.Digest, err: err}
	}
	h, err := hasher(a.Digest)
	if err != nil {
		return fail(ReasonDigest, err)
	}
	u, err := url.Parse(a.URL)
	if err != nil || scheme(u) != nil || u.Host == "" {
		return fail(ReasonTarget, errors.New("its URL isn't an http or https URL"))
	}
	ctx, cancel := context.WithTimeout(context.Background(), fetchTimeout)
	defer cancel()
	body, err := c.get(ctx, u)
	if err != nil {
		if errors.Is(err, ErrTarget) {
			return fail(ReasonTarget, ErrTarget)
		}
		return fail(ReasonFetch, err)
	}
	defer func() { _ = body.Close() }()
	n, err := c.store(&patient{r: body, t: time.AfterFunc(stall, cancel)}, h, a.Digest)
	if err != nil {
		return 0, err
	}
	return n, nil
}

func (c *Cache) get(ctx context.Context, u *url.URL) (io.ReadCloser, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), http.NoBody)
	if err != nil {
		return nil, errors.New("its URL can't be asked")
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, reach(err)
	}
	if resp.StatusCode != http.StatusOK {
		_ = resp.Body.Close()
		return nil, fmt.Errorf("its server answered %d (%s), not 200", resp.StatusCode, contentType(resp.Header))
	}
	if resp.ContentLength > c.o.MaxBytes {
		_ = resp.Body.Close()
		return nil, fmt.Errorf("it's larger than %d bytes", c.o.MaxBytes)
	}
	return resp.Body, nil
}

// reach says why a server couldn't be asked, without what it or a resolver said.
func reach(err error) error {
	if errors.Is(err, ErrTarget) {
		return ErrTarget
	}
	var timeout interface{ Timeout() bool }
	if errors.As(err, &timeout) && timeout.Timeout() {
		return errors.New("its server didn't answer in time")
	}
	return errors.New("its server can't be reached")
}

func contentType(h http.Header) string {
	t, _, err := mime.ParseMediaType(h.Get("Content-Type"))
	if err != nil {
		return "no content type"
	}
	return t[:min(len(t), maxType)]
}

// store writes a download beside its place, and puts it there only when its digest is right.
func (c *Cache) store(r io.Reader, h hash.Hash, digest string) (int64, error) {
	fail := func(reason string, err error) (int64, error) {
		return 0, &Error{Reason: reason, Digest: digest, err: err}
	}
	if err := c.room(); err != nil {
		return fail(ReasonFetch, err)
	}
	f, err := os.CreateTemp(c.o.Dir, "*"+partial)
	if err != nil {
		return fail(ReasonFetch, errors.New("bootd can't write its cache"))
	}
	defer func() { _ = os.Remove(f.Name()) }()
	n, err := io.Copy(io.MultiWriter(&sparing{Writer: f, c: c}, h), io.LimitReader(r, c.o.MaxBytes+1))
	if n > c.o.MaxBytes {
		err = errors.Join(err, fmt.Errorf("it's larger than %d bytes", c.o.MaxBytes))
	}
	var local *os.PathError
	switch err = errors.Join(err, f.Sync(), f.Close()); {
	case errors.Is(err, errFull):
		return fail(ReasonFetch, errFull)
	case errors.As(err, &local):
		return fail(ReasonFetch, errors.New("bootd can't write its cache; is its disk full?"))
	case n > c.o.MaxBytes:
		return fail(ReasonFetch, fmt.Errorf("it's larger than %d bytes", c.o.MaxBytes))
	case err != nil:
		return fail(ReasonFetch, fmt.Errorf("its download broke off after %d bytes", n))
	}
	algorithm, _, _ := strings.Cut(digest, ":")
	if got := algorithm + ":" + hex.EncodeToString(h.Sum(nil)); got != digest {
		return fail(ReasonDigest, errors.New("what its URL serves has another digest; correct the URL or the digest in the BootProfile"))
	}
	if err := os.Rename(f.Name(), c.path(digest)); err != nil {
		return fail(ReasonFetch, errors.New("bootd can't write its cache"))
	}
	return n, nil
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
