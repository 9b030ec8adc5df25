package netbox

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"
)

// errProxy is the sentinel of whatever a proxy does instead of a connection to NetBox.
var errProxy = errors.New("the proxy made no connection")

// proxyOp completes "cannot …".
const proxyOp = "use the proxy's URL"

// parseProxy accepts http and https proxies without a password; "" is nil.
func parseProxy(raw string) (*url.URL, error) {
	if raw == "" {
		return nil, nil //nolint:nilnil // No proxy is a way to connect.
	}
	u, err := url.Parse(strings.TrimSpace(raw))
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return nil, invalid(proxyOp, "", "it must look like http://proxy.example:3128")
	}
	if u.User != nil {
		return nil, invalid(proxyOp, u.Host, "it must not hold a user or password; proxies that want one aren't supported")
	}
	return &url.URL{Scheme: u.Scheme, Host: u.Host}, nil
}

// through has a transport connect by a proxy. The dialer's guard sees the proxy's address then, not NetBox's, whose name the proxy
// resolves: of that only what the URL itself says can be checked, which is done here. Where a name leads for the proxy isn't known; it
// is the proxy's network then that the request comes from, not ours.
func through(t *http.Transport, proxy, base *url.URL, dialer *net.Dialer, bundle TLS) error {
	if proxy == nil {
		return nil
	}
	if err := checkTarget(base, dialer); err != nil {
		return &Error{Kind: KindNotAllowed, Op: "use the NetBox URL", Subject: base.Host, Reason: "its address may not be connected to", Err: err}
	}
	t.Proxy = http.ProxyURL(proxy)
	t.OnProxyConnectResponse = func(_ context.Context, _ *url.URL, _ *http.Request, res *http.Response) error {
		if res.StatusCode == http.StatusOK {
			return nil
		}
		return fmt.Errorf("%w: status %d", errProxy, res.StatusCode)
	}
	if proxy.Scheme == "https" {
		tc, err := bundle.proxyConfig()
		if err != nil {
			return err
		}
		tc.ServerName = proxy.Hostname()
		t.DialTLSContext = (&tls.Dialer{NetDialer: dialer, Config: tc}).DialContext
	}
	return nil
}

// checkTarget asks the dialer's guard about a host that is an address, or one of the names of this very machine.
func checkTarget(base *url.URL, dialer *net.Dialer) error {
	host := strings.TrimSuffix(strings.ToLower(base.Hostname()), ".")
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		host = "127.0.0.1"
	}
	if _, err := netip.ParseAddr(host); err != nil || dialer.Control == nil {
		return nil //nolint:nilerr // A name says nothing of where it leads.
	}
	return dialer.Control("tcp", net.JoinHostPort(host, "443"), nil)
}

// newTransport is the connection's own: nothing of net/http's defaults is shared. It speaks HTTP/1.1 only: a connection that is lost
// then loses one request, not sixteen.
func newTransport(cfg Config, base *url.URL, o options) (*http.Transport, error) {
	tc, err := cfg.TLS.config()
	if err != nil {
		return nil, err
	}
	proxy, err := parseProxy(cfg.ProxyURL)
	if err != nil {
		return nil, err
	}
	dialer := &net.Dialer{Timeout: 10 * time.Second, KeepAlive: 15 * time.Second, Control: o.control}
	t := &http.Transport{
		DialContext:         dialer.DialContext,
		TLSClientConfig:     tc,
		TLSHandshakeTimeout: 10 * time.Second,
		// A proxy that the environment names would see the token, or resolve the name where our checks don't reach.
		Proxy:                  nil,
		MaxResponseHeaderBytes: 64 << 10,
		MaxIdleConnsPerHost:    inFlight,
		IdleConnTimeout:        30 * time.Second,
	}
	return t, through(t, proxy, base, dialer, cfg.TLS)
}
