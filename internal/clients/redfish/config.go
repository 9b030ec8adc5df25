package redfish

import (
	"context"
	"net"
	"net/netip"
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
	// VerifyPlain is what a Connection by http shows; it can't be asked for.
	VerifyPlain Verify = "Plaintext"
)

// TLS is how the BMC's certificate is judged.
type TLS struct {
	Verify   Verify
	CABundle []byte   // PEM, for VerifyCABundle
	Pins     []string // SHA-256 of the leaf certificate (DER), hex
	// MinVersion is the oldest TLS that is spoken: TLS10, TLS11, TLS12 or TLS13;
	// "" is TLS12. Below that, key exchanges are allowed that BMCs of the time need.
	MinVersion string
	// ServerName that the certificate must carry, and that is asked for; "" is
	// the address'.
	ServerName string
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
	// Address is one that ParseAddress reads. The System that it may name is the
	// caller's business. http is spoken with VerifyNone alone: whoever said
	// that has said that the password may be read on the way.
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
