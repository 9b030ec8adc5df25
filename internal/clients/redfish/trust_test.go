package redfish

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// certificate makes a self-signed one for names and addresses.
func certificate(t *testing.T, key, public any, names []string, ips ...net.IP) (shown tls.Certificate, ca []byte) {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "bmc"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, DNSNames: names, IPAddresses: ips,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, public, key)
	if err != nil {
		t.Fatal(err)
	}

	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// tlsBMC is a BMC with a certificate, and its address.
func tlsBMC(t *testing.T, cfg *tls.Config) string {
	t.Helper()
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, emptyRoot) }))
	srv.TLS, srv.Config.ErrorLog = cfg, log.New(io.Discard, "", 0)
	srv.StartTLS()
	t.Cleanup(srv.Close)

	return srv.Listener.Addr().String()
}

// TestServerName: a certificate is for a name or an address, and a BMC may have several certificates.
func TestServerName(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	named, namedCA := certificate(t, key, &key.PublicKey, []string{"r7-u12.bmc.example"})
	numbered, numberedCA := certificate(t, key, &key.PublicKey, nil, net.IPv4(127, 0, 0, 1))
	cases := map[string]struct {
		reason string
		shown  tls.Certificate
		tls    TLS
		want   Kind
	}{
		"Address":    {reason: "A certificate for the address.", shown: numbered, tls: TLS{Verify: VerifyCABundle, CABundle: numberedCA}},
		"OtherName":  {reason: "One for a name isn't for the address.", shown: named, tls: TLS{Verify: VerifyCABundle, CABundle: namedCA}, want: UntrustedCertificate},
		"ServerName": {reason: "Unless that is the name.", shown: named, tls: TLS{Verify: VerifyCABundle, CABundle: namedCA, ServerName: "r7-u12.bmc.example"}},
		"WrongName":  {reason: "Not another name.", shown: named, tls: TLS{Verify: VerifyCABundle, CABundle: namedCA, ServerName: "r7-u13.bmc.example"}, want: UntrustedCertificate},
		"NoAddress":  {reason: "Nor the address, where a name is asked for.", shown: numbered, tls: TLS{Verify: VerifyCABundle, CABundle: numberedCA, ServerName: "r7-u12.bmc.example"}, want: UntrustedCertificate},
		"Pinned":     {reason: "A pin is the certificate's, whatever its names.", shown: named, tls: TLS{Verify: VerifyPinned, Pins: []string{Fingerprint(named.Certificate[0])}}},
		"Repinned":   {reason: "Another certificate than the pinned one.", shown: numbered, tls: TLS{Verify: VerifyPinned, Pins: []string{Fingerprint(named.Certificate[0])}}, want: UntrustedCertificate},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			asked := ""
			address := tlsBMC(t, &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{tc.shown}, GetConfigForClient: func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
				asked = hello.ServerName

				return nil, nil
			}})
			c, err := Connect(t.Context(), Config{Address: address, Auth: AuthBasic, TLS: tc.tls, Guard: loopback()})
			if KindOf(err) != tc.want || asked != tc.tls.ServerName {
				t.Errorf("\n%s\nConnect(...): %v, asking for %q; want kind %q, asking for %q", tc.reason, err, asked, tc.want, tc.tls.ServerName)
			}
			if err == nil && c.Connection().TLSVersion != "TLS13" {
				t.Errorf("\n%s\nConnection(): %+v, want TLS13", tc.reason, c.Connection())
			}
		})
	}
}

// TestOldTLS: what old BMCs speak is spoken where the config says so, and a BMC that speaks nothing else is told from one that is away.
func TestOldTLS(t *testing.T) {
	const bits = 2048
	key, err := rsa.GenerateKey(rand.Reader, bits)
	if err != nil {
		t.Fatal(err)
	}
	cert, _ := certificate(t, key, &key.PublicKey, nil, net.IPv4(127, 0, 0, 1))
	address := func(most uint16) string {
		return tlsBMC(t, &tls.Config{
			MinVersion: tls.VersionTLS10, MaxVersion: most, Certificates: []tls.Certificate{cert},
			CipherSuites: []uint16{tls.TLS_RSA_WITH_AES_128_CBC_SHA}, //nolint:gosec // An old BMC's.
		})
	}
	cases := map[string]struct {
		reason  string
		bmc     uint16
		min     string
		want    Kind
		version string
	}{
		"Refused":     {reason: "Nobody said that it may.", bmc: tls.VersionTLS10, want: OldTLS},
		"Allowed":     {reason: "Somebody did.", bmc: tls.VersionTLS10, min: "TLS10", version: "TLS10"},
		"NotSoOld":    {reason: "Only so far.", bmc: tls.VersionTLS10, min: "TLS11", want: OldTLS},
		"Best":        {reason: "The best that the BMC has is taken.", bmc: tls.VersionTLS11, min: "TLS10", version: "TLS11"},
		"KeyExchange": {reason: "A newer version with an old key exchange.", bmc: tls.VersionTLS12, want: OldTLS},
		"Exchanged":   {reason: "The same switch.", bmc: tls.VersionTLS12, min: "TLS11", version: "TLS12"},
		"Newest":      {reason: "It can be made stricter, too.", bmc: tls.VersionTLS12, min: "TLS13", want: OldTLS},
		"Unknown":     {reason: "No such version.", bmc: tls.VersionTLS12, min: "SSL3", want: Invalid},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c, err := Connect(t.Context(), Config{Address: address(tc.bmc), Auth: AuthBasic, TLS: TLS{Verify: VerifyNone, MinVersion: tc.min}, Guard: loopback()})
			if KindOf(err) != tc.want {
				t.Fatalf("\n%s\nConnect(...): %v of kind %q, want %q", tc.reason, err, KindOf(err), tc.want)
			}
			if err == nil && c.Connection().TLSVersion != tc.version {
				t.Errorf("\n%s\nConnection(): %+v, want %s", tc.reason, c.Connection(), tc.version)
			}
		})
	}
}
