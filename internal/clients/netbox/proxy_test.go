package netbox_test

import (
	"encoding/pem"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// A proxy is a forward proxy: it makes tunnels, and passes plain requests on. It resolves every name to target.
type proxy struct {
	target           string
	refuse           int
	tunnels, passed  atomic.Int32
	authorization    atomic.Value
	lastConnect, url atomic.Value
}

func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodConnect {
		p.lastConnect.Store(r.Host)
		p.authorization.Store(r.Header.Get("Authorization") + r.Header.Get("Proxy-Authorization"))
	}
	switch {
	case p.refuse != 0:
		w.WriteHeader(p.refuse)
	case r.Method == http.MethodConnect:
		p.tunnels.Add(1)
		p.tunnel(w)
	default:
		p.passed.Add(1)
		p.url.Store(r.URL.String())
		answerWith(200, `{"netbox-version":"4.6.8"}`)(w, r)
	}
}

func (p *proxy) tunnel(w http.ResponseWriter) {
	there, err := net.Dial("tcp", p.target)
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	w.WriteHeader(http.StatusOK)
	here, ahead, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	go func() { _, _ = io.Copy(there, ahead); _ = there.Close() }() // Something may have been read already.
	go func() { _, _ = io.Copy(here, there); _ = here.Close() }()
}

func TestProxy(t *testing.T) {
	secure := httptest.NewTLSServer(answerWith(200, `{"netbox-version":"4.6.8"}`))
	defer secure.Close()
	at := secure.Listener.Addr().String()
	bundle := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw}))
	trust := netbox.TLS{Verify: netbox.VerifyCABundle, CABundle: bundle}
	cases := map[string]struct {
		reason, url     string
		tls, https      bool
		refuse          int
		want            netbox.Kind
		text            string
		tunnels, passed int32
	}{
		"Tunnel":      {reason: "https goes through a tunnel, and the proxy sees no token", url: "https://example.com/", tls: true, tunnels: 1},
		"SecureProxy": {reason: "the proxy itself may speak https", url: "https://example.com/", tls: true, https: true, tunnels: 1},
		"Plain":       {reason: "http is passed on, which the proxy can read", url: "http://netbox.example/sub", passed: 1},
		"Refused":     {reason: "a proxy that makes no tunnel; nothing was sent", url: "https://example.com/", refuse: 403, want: netbox.KindUnreachable, text: "refused to connect"},
		"Password":    {reason: "a proxy that wants a password", url: "https://example.com/", refuse: 407, want: netbox.KindUnreachable, text: "refused to connect"},
		"Stranger":    {reason: "the certificate is NetBox's to show, not the proxy's", url: "https://example.com/", tunnels: 1, want: netbox.KindUntrusted},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p := &proxy{target: at, refuse: tc.refuse}
			srv := httptest.NewUnstartedServer(p)
			cfg := netbox.Config{URL: tc.url, Token: token, MarkerField: "f"}
			if tc.tls {
				cfg.TLS = trust
			}
			if tc.https {
				srv.StartTLS() // With the same certificate.
			} else {
				srv.Start()
			}
			defer srv.Close()
			cfg.ProxyURL = srv.URL
			c, err := netbox.New(cfg)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			_, err = c.Status(t.Context())
			if netbox.KindOf(err) != tc.want || err != nil && !strings.Contains(err.Error(), tc.text) {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			_, werr := c.Create(t.Context(), netip.MustParsePrefix("10.0.0.1/24"), nil, netbox.Request{Marker: "m"})
			if tc.refuse != 0 && netbox.KindOf(werr) != netbox.KindUnreachable {
				t.Errorf("%s: a write: %v; nothing was sent", tc.reason, werr)
			}
			if a, _ := p.authorization.Load().(string); a != "" {
				t.Errorf("the proxy was told %q", a)
			}
			if p.tunnels.Load() < tc.tunnels || p.passed.Load() < tc.passed {
				t.Errorf("%s: %d tunnels, %d passed on", tc.reason, p.tunnels.Load(), p.passed.Load())
			}
		})
	}
}

// TestProxyGuard: what is connected to is the proxy, so that's what the guard sees; of NetBox's own host it sees what the URL says.
func TestProxyGuard(t *testing.T) {
	srv := httptest.NewServer(&proxy{})
	defer srv.Close()
	deny := func(bad string) netbox.Option {
		return netbox.WithDialControl(func(_, address string, _ syscall.RawConn) error {
			if ap, err := netip.ParseAddrPort(address); err != nil || ap.Addr().String() == bad {
				return errors.New("denied")
			}
			return nil
		})
	}
	cases := map[string]struct {
		reason, url, deny string
		want              netbox.Kind
	}{
		"Proxy":     {"a proxy where nothing may be sent to", "http://netbox.example/", "127.0.0.1", netbox.KindNotAllowed},
		"Address":   {"a NetBox where nothing may be sent to", "http://169.254.169.254/", "169.254.169.254", netbox.KindNotAllowed},
		"Localhost": {"the proxy's own machine", "http://LocalHost.:8000/", "127.0.0.1", netbox.KindNotAllowed},
		"IPv6":      {"the same by IPv6", "http://[::1]:8000/", "::1", netbox.KindNotAllowed},
		"Name":      {"where a name leads for the proxy isn't known", "http://internal.example/", "10.0.0.1", ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c, err := netbox.New(netbox.Config{URL: tc.url, Token: token, MarkerField: "f", ProxyURL: srv.URL}, deny(tc.deny))
			if err == nil {
				defer c.Close()
				_, err = c.Status(t.Context())
			}
			if netbox.KindOf(err) != tc.want {
				t.Errorf("%s: got %v, want %q", tc.reason, err, tc.want)
			}
		})
	}
}

func TestProxyURL(t *testing.T) {
	cases := map[string]struct{ url, want string }{
		"Socks":    {"socks5://proxy.example:1080", "must look like"},
		"Bare":     {"proxy.example:3128", "must look like"},
		"Password": {"http://u:hunter2@proxy.example:3128", "must not hold a user"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := netbox.New(netbox.Config{URL: "https://netbox.example", Token: token, MarkerField: "f", ProxyURL: tc.url})
			if !netbox.IsInvalid(err) || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

// TestNoProxyOfTheEnvironment: a proxy that nobody set in the provider config gets no token.
func TestNoProxyOfTheEnvironment(t *testing.T) {
	p := &proxy{}
	srv := httptest.NewServer(p)
	defer srv.Close()
	for _, k := range []string{"HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"} {
		t.Setenv(k, srv.URL)
	}
	if _, err := newClient(t, "http://netbox.invalid").Status(t.Context()); !netbox.IsUnreachable(err) || p.passed.Load() != 0 {
		t.Errorf("%v, %d requests to the proxy", err, p.passed.Load())
	}
}
