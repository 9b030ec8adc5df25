package redfish

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"slices"
	"strings"
	"sync"
)

// trust judges certificates and remembers the one it saw first.
type trust struct {
	cfg TLS

	mu     sync.Mutex
	pin    string
	spoken uint16 // the version of TLS
}

// Fingerprint is the SHA-256 of a certificate's DER in lower-case hex.
func Fingerprint(der []byte) string {
	sum := sha256.Sum256(der)

	return hex.EncodeToString(sum[:])
}

// config makes the TLS settings. Pins are checked in VerifyConnection, which
// runs for resumed connections too.
func (t *trust) config() (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12, VerifyConnection: t.verify, ServerName: t.cfg.ServerName}
	if err := t.older(c); err != nil {
		return nil, err
	}
	switch t.cfg.Verify {
	case VerifySystem:
	case VerifyCABundle:
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(t.cfg.CABundle) {
			return nil, failf(Invalid, "cannot use caBundle: it holds no PEM certificate")
		}
	case VerifyPinned, VerifyTrustOnFirstUse:
		// The chain of a BMC's own certificate proves nothing: verify judges.
		c.InsecureSkipVerify = true
	case VerifyNone:
		c.InsecureSkipVerify = true
	default:
		return nil, failf(Invalid, "cannot verify the BMC's certificate: unknown mode %q", t.cfg.Verify)
	}
	if t.cfg.Verify == VerifyPinned && len(t.cfg.Pins) == 0 {
		return nil, failf(Invalid, "cannot verify the BMC's certificate: verify is Pinned but there is no pin")
	}

	return c, nil
}

// versions of TLS by their names.
var versions = map[string]uint16{ //nolint:gochecknoglobals // A table.
	"TLS10": tls.VersionTLS10, "TLS11": tls.VersionTLS11, "TLS12": tls.VersionTLS12, "TLS13": tls.VersionTLS13,
}

// oldKeyExchange is what BMCs of before 2014 have alone. crypto/tls doesn't offer
// it any more, since who gets hold of the BMC's key can read what was recorded.
var oldKeyExchange = []uint16{ //nolint:gochecknoglobals // A table.
	tls.TLS_RSA_WITH_AES_128_GCM_SHA256, tls.TLS_RSA_WITH_AES_256_GCM_SHA384, tls.TLS_RSA_WITH_AES_128_CBC_SHA, tls.TLS_RSA_WITH_AES_256_CBC_SHA,
}

// older allows the versions that the configuration says.
func (t *trust) older(c *tls.Config) error {
	if t.cfg.MinVersion == "" {
		return nil
	}
	v, known := versions[t.cfg.MinVersion]
	if !known {
		return failf(Invalid, "cannot talk to the BMC: unknown tls.minVersion %q; use TLS10, TLS11, TLS12 or TLS13", t.cfg.MinVersion)
	}
	c.MinVersion = v
	if v >= tls.VersionTLS12 {
		return nil
	}
	for _, suite := range tls.CipherSuites() {
		c.CipherSuites = append(c.CipherSuites, suite.ID)
	}
	c.CipherSuites = append(c.CipherSuites, oldKeyExchange...)

	return nil
}

func (t *trust) verify(state tls.ConnectionState) error {
	if len(state.PeerCertificates) == 0 {
		return failf(UntrustedCertificate, "the BMC showed no certificate")
	}
	seen := Fingerprint(state.PeerCertificates[0].Raw)
	t.mu.Lock()
	defer t.mu.Unlock()
	if want := t.pins(); want != nil && !slices.Contains(want, seen) {
		return failf(UntrustedCertificate, "the BMC's certificate has SHA-256 %s, which isn't the pinned one", seen)
	}
	t.pin, t.spoken = seen, state.Version

	return nil
}

// version is the name of the one that is spoken, or "".
func (t *trust) version() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	for name, v := range versions {
		if v == t.spoken {
			return name
		}
	}

	return ""
}

// pins returns what the certificate must be one of; nil is anything. Within
// one Client the first certificate seen stays the only one, stored or not.
func (t *trust) pins() []string {
	if t.cfg.Verify != VerifyPinned && t.cfg.Verify != VerifyTrustOnFirstUse {
		return nil
	}
	if len(t.cfg.Pins) == 0 && t.pin != "" {
		return []string{t.pin}
	}
	var pins []string
	for _, p := range t.cfg.Pins {
		pins = append(pins, strings.ToLower(strings.ReplaceAll(p, ":", "")))
	}

	return pins
}

func (t *trust) seen() string {
	t.mu.Lock()
	defer t.mu.Unlock()

	return t.pin
}
