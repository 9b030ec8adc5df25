package redfish

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/lenient"
)

const (
	// maxAnswer bounds one answer of a BMC.
	maxAnswer = 4 << 20
	// idleConnection is how long a connection is kept that nobody uses: longer
	// than between the requests of one look, or of an act and the looks after it,
	// and shorter than between two looks at a machine to which nothing happens.
	// Thousands of connections that wait for the next poll cost more memory than
	// making them anew costs time, since the TLS session is resumed.
	idleConnection = 5 * time.Second
	// buffers of a connection, a way: Redfish's answers have a few KiB.
	buffers = 2 << 10
)

// newHTTPClient makes the only way in which this package reaches a network.
func newHTTPClient(cfg Config, to Address, t *trust) (*http.Client, *fence, error) {
	tlsConfig, err := t.config()
	if err != nil {
		return nil, nil, err
	}
	// No BMC knows a post-quantum key exchange, and a ClientHello that offers one is
	// larger than a packet: some TLS stacks never answer that (tldr.fail).
	tlsConfig.CurvePreferences = []tls.CurveID{tls.X25519, tls.CurveP256, tls.CurveP384, tls.CurveP521}
	// Of resumed sessions trust.verify is asked too (crypto/tls, VerifyConnection).
	tlsConfig.ClientSessionCache = tls.NewLRUClientSessionCache(1)
	d := dialer{guard: cfg.Guard, resolver: cfg.Resolver, dial: (&net.Dialer{}).DialContext}
	f := &fence{to: to, limiter: cfg.Limiter, next: &http.Transport{
		DialContext: d.DialContext, TLSClientConfig: tlsConfig,
		TLSHandshakeTimeout: dialTimeout, MaxIdleConns: 1, MaxConnsPerHost: 1,
		IdleConnTimeout: idleConnection, MaxResponseHeaderBytes: 64 << 10, ReadBufferSize: buffers, WriteBufferSize: buffers,
	}}

	return &http.Client{
		Timeout: cfg.RequestTimeout, Transport: f,
		// A redirect would carry the credential to somebody else's choice.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, f, nil
}

// fence lets requests go to one BMC only, and caps what comes back: a link such as
// "@evil.example/x", appended to a base URL, must not name a new host, nor one
// such as "/../bmc-8/x" a neighbour behind the same proxy.
// Like its Client it isn't safe for concurrent use.
type fence struct {
	to   Address
	next http.RoundTripper
	// limiter is asked for each request that follows another one; nil never waits.
	limiter Waiter
	// retryAfter, location and contentType are what the last answer said.
	retryAfter  time.Duration
	location    string
	contentType string
}

// RoundTrip implements http.RoundTripper.
func (f *fence) RoundTrip(r *http.Request) (*http.Response, error) {
	f.retryAfter, f.location, f.contentType = 0, "", ""
	if !f.holds(r.URL) {
		return nil, failf(Protocol, "the BMC named a link that leads elsewhere")
	}
	r, over := hurried(r)
	resp, err := f.follow(r)
	count(r.Context(), resp, err)
	if err != nil {
		over()

		return nil, err
	}
	resp.Body = &capped{ReadCloser: resp.Body, left: maxAnswer, over: over}
	f.retryAfter, f.location = retryAfter(resp.Header.Get("Retry-After")), resp.Header.Get("Location")
	f.contentType = contentType(resp.Header.Get("Content-Type"))
	if resp.StatusCode >= http.StatusBadRequest {
		resp.Body = whatCame(resp.Body)
	}

	return resp, nil
}

// holds says whether a URL is within the BMC: on its host, and where several are
// behind one proxy, below its prefix, which no dots lead out of.
func (f *fence) holds(to *url.URL) bool {
	if to.Host != f.to.Host || (to.Scheme == "http") != f.to.Plain || to.User != nil {
		return false
	}
	if f.to.Prefix == "" {
		return true
	}
	separates := func(r rune) bool { return r == '/' || r == '\\' }
	dots := func(segment string) bool {
		name, _, _ := strings.Cut(segment, ";") // Some servers take what's behind it for parameters.

		return name == "." || name == ".."
	}

	return strings.HasPrefix(to.Path, f.to.Prefix+"/") && !slices.ContainsFunc(strings.FieldsFunc(to.Path, separates), dots)
}

// follow sends r, and again where the BMC wants its path spelled in another way.
func (f *fence) follow(r *http.Request) (*http.Response, error) {
	resp, err := f.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	again := respelled(r, resp)
	if again == nil {
		return resp, nil
	}
	_ = whatCame(resp.Body)
	if !f.holds(again.URL) {
		return nil, failf(Protocol, "the BMC sent us elsewhere")
	}
	if err := wait(r.Context(), f.limiter); err != nil {
		return nil, err
	}

	return f.next.RoundTrip(again)
}

// respelled is r at the spelling of its path that a redirect insists on, or
// nil: iLOs answer 308 where a slash at the end is missing. It stays on its
// host and names the same resource; no other redirect is followed.
func respelled(r *http.Request, resp *http.Response) *http.Request {
	read := r.Method == http.MethodGet
	switch resp.StatusCode {
	case http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
	case http.StatusMovedPermanently, http.StatusFound:
		if !read {
			return nil // Those turn a write into a read.
		}
	default:
		return nil
	}
	to, err := r.URL.Parse(resp.Header.Get("Location"))
	if err != nil || to.Path == r.URL.Path || !lenient.SamePath(to.Path, r.URL.Path) {
		return nil
	}
	again := r.Clone(r.Context())
	again.URL.Path, again.URL.RawPath = to.Path, to.RawPath
	if r.Body == nil || r.Body == http.NoBody {
		return again
	}
	if r.GetBody == nil {
		return nil
	}
	if again.Body, err = r.GetBody(); err != nil {
		return nil
	}

	return again
}

// whatCame is the body of an answer that failed, as far as it comes: a BMC
// that dies in the middle of a 401 has refused the password all the same.
func whatCame(body io.ReadCloser) io.ReadCloser {
	const most = 64 << 10
	defer func() { _ = body.Close() }()
	b, _ := io.ReadAll(io.LimitReader(body, most))

	return io.NopCloser(bytes.NewReader(b))
}

// retryAfter reads a Retry-After in seconds. One that is a date is left alone:
// the clocks of BMCs are wrong.
func retryAfter(header string) time.Duration {
	const most = 2 * time.Minute
	n, err := strconv.ParseUint(header, 10, 16)
	if err != nil {
		return 0
	}

	return min(time.Duration(n)*time.Second, most)
}

var mediaType = regexp.MustCompile(`^[a-z]{1,20}/[a-z0-9.+-]{1,60}$`)

// contentType is a header's media type, where it's well-formed: the header is a
// stranger's.
func contentType(header string) string {
	t, _, _ := strings.Cut(header, ";")
	if t = strings.ToLower(strings.TrimSpace(t)); mediaType.MatchString(t) {
		return t
	}

	return ""
}

// CloseIdleConnections is found by http.Client's method of that name.
func (f *fence) CloseIdleConnections() {
	if c, ok := f.next.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// noService answers every request with an empty object, and reaches nobody.
type noService struct{}

// RoundTrip implements http.RoundTripper.
func (noService) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader("{}")), Request: r}, nil
}

var errTooLong = errors.New("the BMC's answer is longer than 4 MiB")

// capped is the body of an answer, up to maxAnswer.
type capped struct {
	io.ReadCloser

	left int
	// over is called when the body is closed.
	over func()
}

// Close implements io.Closer.
func (c *capped) Close() error {
	defer c.over()

	return c.ReadCloser.Close()
}

// Read implements io.Reader; too long an answer is an error, never cut short.
func (c *capped) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	c.left -= n
	if c.left < 0 {
		return 0, errTooLong
	}

	return n, err
}
