package redfish

import (
	"errors"
	"io"
	"net"
	"net/http"
	"time"
)

// maxAnswer bounds one answer of a BMC.
const maxAnswer = 4 << 20

// newHTTPClient makes the only way in which this package reaches a network.
func newHTTPClient(cfg Config, endpoint string, t *trust) (*http.Client, error) {
	tlsConfig, err := t.config()
	if err != nil {
		return nil, err
	}
	d := dialer{guard: cfg.Guard, resolver: cfg.Resolver, dial: (&net.Dialer{}).DialContext}

	return &http.Client{
		Timeout: cfg.RequestTimeout,
		// A redirect would carry the credential to somebody else's choice.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: fence{host: endpoint, next: &http.Transport{
			DialContext: d.DialContext, TLSClientConfig: tlsConfig,
			TLSHandshakeTimeout: dialTimeout, MaxIdleConns: 1, MaxConnsPerHost: 1,
			IdleConnTimeout: time.Minute, MaxResponseHeaderBytes: 64 << 10,
		}},
	}, nil
}

// fence lets requests go to one host only, and caps what comes back: a link
// such as "@evil.example/x", appended to a base URL, must not name a new host.
type fence struct {
	host string
	next http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (f fence) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Host != f.host || r.URL.Scheme != "https" || r.URL.User != nil {
		return nil, failf(Protocol, "the BMC named a link that leads to another host")
	}
	resp, err := f.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	resp.Body = &capped{ReadCloser: resp.Body, left: maxAnswer}

	return resp, nil
}

// CloseIdleConnections is found by http.Client's method of that name.
func (f fence) CloseIdleConnections() {
	if c, ok := f.next.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
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
