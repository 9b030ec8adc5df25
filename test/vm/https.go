package vm

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/test/guest"
)

const (
	// keyBits of the RSA keys: EDK2 of Debian 12 knows no other kind.
	keyBits = 2048
	// keyLife is how long certificates are good.
	keyLife = 30 * 24 * time.Hour
)

// NewHTTPSSite makes a site whose firmware is told HTTPS: that of NewSite otherwise. The authority, in DER, is what its machines have to trust.
func NewHTTPSSite(ctx context.Context, root, dir string, a guest.Artifacts, machines ...net.HardwareAddr) (site *Site, authority []byte, err error) {
	cert, key := filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	if authority, err = Issue(cert, key); err != nil {
		return nil, nil, err
	}
	site, err = newSite(ctx, root, dir, a, machines, &Site{
		example: edge(), flags: []string{"--https-listen=" + siteAddress + ":8483", "--tls-cert=" + cert, "--tls-key=" + key, "--tls-for=firmware"},
	})
	return site, authority, err
}

// Issue writes a certificate for a site's bootd and its key, both in PEM, and gives the certificate of the authority that has signed it, in DER.
func Issue(cert, key string) (authority []byte, err error) {
	of, err := rsa.GenerateKey(rand.Reader, keyBits)
	if err != nil {
		return nil, fmt.Errorf("cannot make an authority's key: %w", err)
	}
	now := time.Now()
	ca := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "site"}, NotBefore: now.Add(-keyLife), NotAfter: now.Add(keyLife),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	if authority, err = x509.CreateCertificate(rand.Reader, ca, ca, of.Public(), of); err != nil {
		return nil, fmt.Errorf("cannot make an authority: %w", err)
	}
	own, err := rsa.GenerateKey(rand.Reader, keyBits)
	if err != nil {
		return nil, fmt.Errorf("cannot make bootd's key: %w", err)
	}
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "bootd"}, NotBefore: ca.NotBefore, NotAfter: ca.NotAfter,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		IPAddresses: []net.IP{net.ParseIP(siteAddress)},
	}
	b, err := x509.CreateCertificate(rand.Reader, leaf, ca, own.Public(), of)
	if err != nil {
		return nil, fmt.Errorf("cannot make bootd's certificate: %w", err)
	}
	for path, block := range map[string]*pem.Block{
		cert: {Type: "CERTIFICATE", Bytes: b}, key: {Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(own)},
	} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			return nil, fmt.Errorf("cannot write what bootd serves HTTPS with: %w", err)
		}
	}
	return authority, nil
}
