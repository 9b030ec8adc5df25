package certificate

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"log/slog"
	"math/big"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestSuites: what firmware offers isn't what Go's server takes by itself.
func TestSuites(t *testing.T) {
	f := newFiles(t)
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	x := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "bootd"}, NotBefore: t0().Add(-time.Hour), NotAfter: t0().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, x, x, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	f.write(f.cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	f.write(f.key, pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}))
	var log bytes.Buffer
	p, err := Read(f.cert, f.key, t0, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	p.Config(true)
	if strings.Contains(log.String(), "RSA") {
		t.Error(log.String())
	}
	cases := map[string]struct {
		reason string
		offers []uint16
		plain  bool // Nobody says that firmware comes.
		want   uint16
	}{
		"EDK2": {
			"OVMF of Debian 13 offers 9f 9e 6b 67 39 33 9d 9c 3d 3c 35 2f, of which Go knows four",
			[]uint16{tls.TLS_RSA_WITH_AES_256_GCM_SHA384, tls.TLS_RSA_WITH_AES_128_GCM_SHA256, tls.TLS_RSA_WITH_AES_256_CBC_SHA, tls.TLS_RSA_WITH_AES_128_CBC_SHA},
			false, tls.TLS_RSA_WITH_AES_128_GCM_SHA256,
		},
		"OldIPXE": {"iPXE 1.21.1 has neither GCM nor ECDHE", []uint16{tls.TLS_RSA_WITH_AES_128_CBC_SHA}, false, tls.TLS_RSA_WITH_AES_128_CBC_SHA},
		"Plain":   {"a system has better, and whoever pretends that it hasn't is in between", []uint16{tls.TLS_RSA_WITH_AES_128_GCM_SHA256}, true, 0},
		"Both": {
			"who can do better does", []uint16{tls.TLS_RSA_WITH_AES_256_GCM_SHA384, tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256},
			false, tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			ours, theirs := net.Pipe()
			defer ours.Close()
			defer theirs.Close()
			server := tls.Server(ours, p.Config(!tc.plain))
			done := make(chan error, 1)
			go func() { done <- server.Handshake() }()
			c := tls.Client(theirs, &tls.Config{
				InsecureSkipVerify: true, MaxVersion: tls.VersionTLS12, CipherSuites: tc.offers, //nolint:gosec // It's firmware's offer that is tried.
			})
			err, refused := c.Handshake(), <-done
			if got := err == nil && refused == nil; got != (tc.want != 0) {
				t.Fatalf("%s: client %v, server %v", tc.reason, err, refused)
			}
			if diff := cmp.Diff(tls.CipherSuiteName(tc.want), tls.CipherSuiteName(c.ConnectionState().CipherSuite)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
