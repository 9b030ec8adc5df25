package redfish

import (
	"context"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/quirk"
)

// Auth says how to log in.
type Auth string

// The ways to log in.
const (
	// AuthAuto uses a session, or basic authentication where the BMC has no sessions, or none left.
	AuthAuto    Auth = "Auto"
	AuthSession Auth = "Session"
	AuthBasic   Auth = "Basic"
)

// Verify says how the BMC's certificate is judged.
type Verify string

// The ways to judge a certificate.
const (
	// VerifySystem trusts the system's roots.
	VerifySystem Verify = "System"
	// VerifyCABundle trusts the given CAs alone.
	VerifyCABundle Verify = "CABundle"
	// VerifyPinned trusts leaf certificates by fingerprint.
	VerifyPinned Verify = "Pinned"
	// VerifyTrustOnFirstUse trusts what it sees while there is no pin: the
	// caller stores Client.Pin. With a pin it is VerifyPinned.
	VerifyTrustOnFirstUse Verify = "TrustOnFirstUse"
	// VerifyNone trusts everybody.
	VerifyNone Verify = "None"
)

// TLS is how the BMC's certificate is judged.
type TLS struct {
	Verify   Verify
	CABundle []byte   // PEM, for VerifyCABundle
	Pins     []string // SHA-256 of the leaf certificate (DER), hex
}

// Resolver looks up addresses; net.Resolver implements it.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// Waiter holds a request back; rate.Limiter implements it.
type Waiter interface {
	Wait(ctx context.Context) error
}

// Config says how to talk to one BMC.
type Config struct {
	// Address is a host, host:port, [v6], [v6]:port, bare IPv6 address, or an https URL.
	Address            string
	Username, Password string
	Auth               Auth
	TLS                TLS
	// Guard decides which addresses may be talked to. Its zero value allows none.
	Guard Guard
	// Limiter holds back every request; nil is no limit.
	Limiter Waiter
	// Resolver for names; nil is the system's.
	Resolver Resolver
	// RequestTimeout bounds one request with its body; default 30 s.
	RequestTimeout time.Duration
	// ReadBackInterval is between the reads after a write; default 500 ms.
	ReadBackInterval time.Duration
	// Quirks are what machines do differently; nil is the built-in table.
	Quirks []quirk.Row
}

const (
	defaultTimeout  = 30 * time.Second
	defaultReadBack = 500 * time.Millisecond
)

func (c Config) withDefaults() Config {
	if c.Auth == "" {
		c.Auth = AuthAuto
	}
	if c.TLS.Verify == "" {
		c.TLS.Verify = VerifySystem
	}
	if c.Resolver == nil {
		c.Resolver = net.DefaultResolver
	}
	if c.RequestTimeout == 0 {
		c.RequestTimeout = defaultTimeout
	}
	if c.ReadBackInterval == 0 {
		c.ReadBackInterval = defaultReadBack
	}
	if c.Quirks == nil {
		c.Quirks = quirk.Table()
	}

	return c
}

// Endpoint turns an address as people write it into host:port, lower-case: the
// key of a BMC. Only https is spoken: a password never travels in the open.
func Endpoint(address string) (string, error) {
	host := strings.TrimSpace(address)
	if scheme, rest, ok := strings.Cut(host, "://"); ok {
		if !strings.EqualFold(scheme, "https") {
			return "", failf(Invalid, "cannot use BMC address %q: only https is supported", address)
		}
		host = strings.TrimRight(rest, "/")
	}
	bare := host
	if strings.HasPrefix(host, "[") && strings.HasSuffix(host, "]") {
		bare = host[1 : len(host)-1]
	}
	if ip, err := netip.ParseAddr(bare); err == nil && ip.Zone() == "" {
		return net.JoinHostPort(ip.String(), defaultPort), nil
	}
	u, err := url.Parse("https://" + host)
	if err != nil || u.User != nil || u.Path != "" || u.RawQuery != "" || u.Fragment != "" || !isHost(u.Hostname()) || !isPort(u.Port()) {
		return "", failf(Invalid, "cannot use BMC address %q: it must be a host, host:port, [v6] or an https URL without a path", address)
	}
	port := u.Port()
	if port == "" {
		port = defaultPort
	}

	return net.JoinHostPort(strings.ToLower(u.Hostname()), port), nil
}

const defaultPort = "443"

var hostName = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._-]{0,252})$`)

// isHost says whether s is a name or an address without a zone.
func isHost(s string) bool {
	ip, err := netip.ParseAddr(s)

	return hostName.MatchString(s) || (err == nil && ip.Zone() == "")
}

// isPort says whether s is a port, or nothing.
func isPort(s string) bool {
	n, err := strconv.ParseUint(s, 10, 16)

	return s == "" || (err == nil && n > 0)
}
