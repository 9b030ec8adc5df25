package netbox

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"strings"
)

// A Verify is a way to decide whether a certificate is NetBox's (tls.verify of a provider config).
type Verify string

// The supported ways. TrustOnFirstUse isn't supported for NetBox yet.
const (
	// VerifySystem trusts the system's authorities; so does "".
	VerifySystem Verify = "System"
	// VerifyCABundle trusts the given authorities only.
	VerifyCABundle Verify = "CABundle"
	// VerifyPinned trusts the given leaf certificates only, whatever their names and dates.
	VerifyPinned Verify = "Pinned"
	// VerifyNone trusts anybody who answers.
	VerifyNone Verify = "None"
)

// TLS says whom to trust.
type TLS struct {
	Verify Verify
	// CABundle is PEM, for VerifyCABundle.
	CABundle string
	// PinnedSHA256 are hex SHA-256 digests of the leaf certificate's DER, colons allowed.
	PinnedSHA256 []string
	// MinVersion is the oldest TLS that is spoken, TLS12 or TLS13; "" is TLS12.
	MinVersion string
}

// oldest is the version that MinVersion names: what it doesn't know is TLS12, older than which nothing is spoken to a NetBox.
func (t TLS) oldest() uint16 {
	if t.MinVersion == "TLS13" {
		return tls.VersionTLS13
	}
	return tls.VersionTLS12
}

var errPin = errors.New("certificate doesn't match a pin") // sentinel: the handshake wraps it

// config returns the settings for crypto/tls. Errors are KindInvalid.
func (t TLS) config() (*tls.Config, error) {
	c := &tls.Config{MinVersion: t.oldest()}
	switch t.Verify {
	case VerifySystem, "":
		return c, nil
	case VerifyCABundle:
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM([]byte(t.CABundle)) {
			return nil, invalid("use tls.caBundle", "", "it holds no PEM certificate")
		}
		return c, nil
	case VerifyPinned:
		return t.pinned(c)
	case VerifyNone:
		c.InsecureSkipVerify = true // the operator wrote verify: None
		return c, nil
	}
	return nil, invalid("use tls.verify", string(t.Verify), "for NetBox it isn't supported yet; use System, CABundle, Pinned or None")
}

// proxyConfig is for a proxy's own certificate: pins and None are about NetBox's.
func (t TLS) proxyConfig() (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if t.Verify != VerifyCABundle {
		return c, nil
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool()
	}
	if !roots.AppendCertsFromPEM([]byte(t.CABundle)) {
		return nil, invalid("use tls.caBundle", "", "it holds no PEM certificate")
	}
	c.RootCAs = roots
	return c, nil
}

func (t TLS) pinned(c *tls.Config) (*tls.Config, error) {
	pins := make(map[string]bool, len(t.PinnedSHA256))
	for _, p := range t.PinnedSHA256 {
		p = strings.ToLower(strings.ReplaceAll(p, ":", ""))
		if b, err := hex.DecodeString(p); err != nil || len(b) != sha256.Size {
			return nil, invalid("use tls.pinnedSHA256", p, "a pin is 64 hex digits")
		}
		pins[p] = true
	}
	if len(pins) == 0 {
		return nil, invalid("use tls.pinnedSHA256", "", "verify: Pinned needs at least one pin")
	}
	c.InsecureSkipVerify = true // VerifyConnection below checks the pin instead of the chain
	c.VerifyConnection = func(s tls.ConnectionState) error {
		sum := sha256.Sum256(s.PeerCertificates[0].Raw)
		if !pins[hex.EncodeToString(sum[:])] {
			return errPin
		}
		return nil
	}
	return c, nil
}
