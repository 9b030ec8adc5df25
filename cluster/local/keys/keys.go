// Package keys is a certificate authority for control planes that are thrown away: it signs, and writes files.
package keys

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// Lifetime of everything signed here: longer than any demo or test is left running.
const Lifetime = 30 * 24 * time.Hour

// An Authority signs certificates.
type Authority struct {
	// PEM is its certificate.
	PEM []byte

	cert *x509.Certificate
	key  crypto.Signer
}

// New makes a certificate authority that signs itself.
func New(name string, now time.Time) (*Authority, error) {
	key, err := newKey()
	if err != nil {
		return nil, err
	}
	t, err := template(pkix.Name{CommonName: name}, now)
	if err != nil {
		return nil, err
	}
	t.IsCA, t.BasicConstraintsValid = true, true
	t.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature
	der, err := x509.CreateCertificate(rand.Reader, t, t, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("cannot sign the certificate of authority %q: %w", name, err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("cannot read back the certificate of authority %q: %w", name, err)
	}
	return &Authority{cert: cert, key: key, PEM: encode("CERTIFICATE", der)}, nil
}

// Read takes an authority from its certificate and key in PEM, as Crossplane's root Secret holds them.
func Read(certPEM, keyPEM []byte) (*Authority, error) {
	pair, err := tlsPair(certPEM, keyPEM)
	if err != nil {
		return nil, err
	}
	key, ok := pair.PrivateKey.(crypto.Signer)
	if !ok {
		return nil, fmt.Errorf("the key of %q can't sign", pair.Leaf.Subject)
	}
	return &Authority{cert: pair.Leaf, key: key, PEM: certPEM}, nil
}

// A Certificate with its key, both in PEM.
type Certificate struct{ Cert, Key []byte }

// Own is the authority's own certificate with its key, for a program that signs in its name.
func (a *Authority) Own() (Certificate, error) {
	key, ok := a.key.(*ecdsa.PrivateKey)
	if !ok {
		return Certificate{}, fmt.Errorf("cannot encode the key of %q: it isn't of ours", a.cert.Subject)
	}
	b, err := encodeKey(key)
	return Certificate{Cert: a.PEM, Key: b}, err
}

// Issue signs a certificate that serves for the given host names and addresses, and identifies its subject as a client.
func (a *Authority) Issue(subject pkix.Name, hosts []string, now time.Time) (Certificate, error) {
	key, err := newKey()
	if err != nil {
		return Certificate{}, err
	}
	t, err := template(subject, now)
	if err != nil {
		return Certificate{}, err
	}
	t.KeyUsage = x509.KeyUsageDigitalSignature
	t.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	for _, h := range hosts {
		if ip := net.ParseIP(h); ip != nil {
			t.IPAddresses = append(t.IPAddresses, ip)
			continue
		}
		t.DNSNames = append(t.DNSNames, h)
	}
	der, err := x509.CreateCertificate(rand.Reader, t, a.cert, key.Public(), a.key)
	if err != nil {
		return Certificate{}, fmt.Errorf("cannot sign a certificate for %q: %w", subject, err)
	}
	keyPEM, err := encodeKey(key)
	if err != nil {
		return Certificate{}, err
	}
	return Certificate{Cert: encode("CERTIFICATE", der), Key: keyPEM}, nil
}

// NewKey makes a private key alone, in PEM: one that signs tokens.
func NewKey() ([]byte, error) {
	key, err := newKey()
	if err != nil {
		return nil, err
	}
	return encodeKey(key)
}

func template(subject pkix.Name, now time.Time) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, fmt.Errorf("cannot make a serial number: %w", err)
	}
	return &x509.Certificate{
		SerialNumber: serial,
		Subject:      subject,
		NotBefore:    now.Add(-time.Minute),
		NotAfter:     now.Add(Lifetime),
	}, nil
}

func newKey() (*ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("cannot make a key: %w", err)
	}
	return key, nil
}

// encodeKey uses the older of the two encodings: the API server doesn't take ServiceAccounts' key in PKCS #8.
func encodeKey(key *ecdsa.PrivateKey) ([]byte, error) {
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("cannot encode a key: %w", err)
	}
	return encode("EC PRIVATE KEY", der), nil
}

func encode(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

// Write puts a certificate into dir as NAME.crt and NAME.key.
func (c Certificate) Write(dir, name string) error {
	if err := WriteFile(filepath.Join(dir, name+".crt"), c.Cert); err != nil {
		return err
	}
	return WriteFile(filepath.Join(dir, name+".key"), c.Key)
}

// WriteFile writes a file that only its owner may read, and makes its folder.
func WriteFile(path string, b []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("cannot make the folder of %q: %w", path, err)
	}
	if err := os.WriteFile(path, b, 0o600); err != nil {
		return fmt.Errorf("cannot write %q: %w", path, err)
	}
	return nil
}

func tlsPair(certPEM, keyPEM []byte) (tls.Certificate, error) {
	pair, err := tls.X509KeyPair(certPEM, keyPEM)
	if err != nil {
		return pair, fmt.Errorf("cannot read a certificate with its key: %w", err)
	}
	return pair, nil
}
