package redfish

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/lenient"
)

// maxAnswer bounds one answer of a BMC.
const maxAnswer = 4 << 20

// newHTTPClient makes the only way in which this package reaches a network.
func newHTTPClient(cfg Config, endpoint string, t *trust) (*http.Client, *fence, error) {
	tlsConfig, err := t.config()
	if err != nil {
		return nil, nil, err
	}
	d := dialer{guard: cfg.Guard, resolver: cfg.Resolver, dial: (&net.Dialer{}).DialContext}
	f := &fence{host: endpoint, next: &http.Transport{
		DialContext: d.DialContext, TLSClientConfig: tlsConfig,
		TLSHandshakeTimeout: dialTimeout, MaxIdleConns: 1, MaxConnsPerHost: 1,
		IdleConnTimeout: time.Minute, MaxResponseHeaderBytes: 64 << 10,
	}}

	return &http.Client{
		Timeout: cfg.RequestTimeout, Transport: f,
		// A redirect would carry the credential to somebody else's choice.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, f, nil
}

// fence lets requests go to one host only, and caps what comes back: a link
// such as "@evil.example/x", appended to a base URL, must not name a new host.
// Like its Client it isn't safe for concurrent use.
type fence struct {
	host string
	next http.RoundTripper
	// retryAfter is what the last answer asked for.
	retryAfter time.Duration
}

// RoundTrip implements http.RoundTripper.
func (f *fence) RoundTrip(r *http.Request) (*http.Response, error) {
	f.retryAfter = 0
	if r.URL.Host != f.host || r.URL.Scheme != "https" || r.URL.User != nil {
		return nil, failf(Protocol, "the BMC named a link that leads to another host")
	}
	resp, err := f.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if again := respelled(r, resp); again != nil {
		_ = whatCame(resp.Body)
		if resp, err = f.next.RoundTrip(again); err != nil {
			return nil, err
		}
	}
	resp.Body = &capped{ReadCloser: resp.Body, left: maxAnswer}
	f.retryAfter = retryAfter(resp.Header.Get("Retry-After"))
	if resp.StatusCode >= http.StatusBadRequest {
		resp.Body = whatCame(resp.Body)
	}

	return resp, nil
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

type capped struct {
	io.ReadCloser

	left int
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
