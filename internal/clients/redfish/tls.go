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

	mu  sync.Mutex
	pin string
}

// Fingerprint is the SHA-256 of a certificate's DER in lower-case hex.
func Fingerprint(der []byte) string {
	sum := sha256.Sum256(der)

	return hex.EncodeToString(sum[:])
}

// config makes the TLS settings. Pins are checked in VerifyConnection, which
// runs for resumed connections too.
func (t *trust) config() (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12, VerifyConnection: t.verify}
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
	t.pin = seen

	return nil
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
