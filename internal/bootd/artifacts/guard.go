package artifacts

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"syscall"
	"time"
)

// ErrTarget says that an artifact's address may not be asked. It doesn't say which address a name has: a
// tenant wrote the name.
var ErrTarget = errors.New("its address may not be used: loopback, link-local, private and other special ranges are refused")

// special ranges of IANA's registries that net/netip has no word for.
func special() []netip.Prefix {
	var out []netip.Prefix
	for _, s := range []string{
		"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24",
		"203.0.113.0/24", "240.0.0.0/4", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "2002::/16",
	} {
		out = append(out, netip.MustParsePrefix(s))
	}
	return out
}

// A Guard says which addresses artifacts may be fetched from.
type Guard struct {
	// Local allows loopback and private addresses: for a demo, for tests, or where nobody untrusted
	// writes BootProfiles. Link-local addresses, behind which clouds keep credentials, stay refused.
	Local bool
	// Allowed ranges, such as that of the mirror in the same rack.
	Allowed []netip.Prefix
}

// Allows says whether an address may be asked.
func (g Guard) Allows(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	if !a.IsValid() || a.IsUnspecified() || a.IsMulticast() || a.IsLinkLocalUnicast() {
		return false
	}
	for _, p := range g.Allowed {
		if p.Contains(a) {
			return true
		}
	}
	if a.IsLoopback() || a.IsPrivate() {
		return g.Local
	}
	for _, p := range special() {
		if p.Contains(a) {
			return false
		}
	}
	return true
}

const (
	dialTimeout   = 10 * time.Second
	headerTimeout = 30 * time.Second
	maxRedirects  = 5
	maxHeader     = 64 << 10
)

// client makes an HTTP client that asks only what the guard allows. It's checked after DNS, at each
// connection, so that neither a name nor a redirect leads elsewhere; a proxy of the environment would be
// a way around, and isn't used.
func (g Guard) client() *http.Client {
	d := &net.Dialer{Timeout: dialTimeout, Control: func(_, address string, _ syscall.RawConn) error {
		a, err := netip.ParseAddrPort(address)
		if err != nil || !g.Allows(a.Addr()) {
			return ErrTarget
		}
		return nil
	}}
	t := &http.Transport{
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			return d.DialContext(ctx, network, address)
		},
		TLSHandshakeTimeout:   dialTimeout,
		ResponseHeaderTimeout: headerTimeout,

		MaxResponseHeaderBytes: maxHeader,
		IdleConnTimeout:        headerTimeout,
		DisableCompression:     true, // The digest is of the file as it's served.
		ForceAttemptHTTP2:      true,
	}
	return &http.Client{Transport: t, CheckRedirect: func(req *http.Request, via []*http.Request) error {
		if len(via) > maxRedirects {
			return errRedirects
		}
		if req.URL.Scheme != via[0].URL.Scheme || req.URL.Host != via[0].URL.Host || req.URL.Path != via[0].URL.Path {
			req.Header.Del("Authorization") // A password is for the path that it's named for, what a token service gave for the registry.
		}
		req.Header.Del("Referer") // The URL before may hold a secret.
		if scheme(req.URL) != nil {
			return errRedirects
		}
		return nil
	}}
}

func scheme(u *url.URL) error {
	if u.Scheme != "http" && u.Scheme != "https" {
		return fmt.Errorf("scheme %q isn't http or https", u.Scheme)
	}
	return nil
}
