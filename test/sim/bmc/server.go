package bmc

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"sync"
	"time"
)

// Server is a BMC behind TLS on a loopback address with a self-signed
// certificate of its own.
type Server struct {
	*BMC

	cert tls.Certificate

	mu   sync.Mutex
	addr string
	srv  *http.Server
}

// NewServer starts a BMC on 127.0.0.1 and a free port. Close it.
func NewServer(cfg Config) (*Server, error) { return NewServerAt("127.0.0.1:0", cfg) }

// NewServerAt starts a BMC on addr (host:port).
func NewServerAt(addr string, cfg Config) (*Server, error) {
	cert, err := selfSigned()
	if err != nil {
		return nil, err
	}
	s := &Server{BMC: New(cfg), cert: cert, addr: addr}
	if err := s.listen(); err != nil {
		return nil, err
	}

	return s, nil
}

// Addr is the server's host:port.
func (s *Server) Addr() string {
	s.mu.Lock()
	defer s.mu.Unlock()

	return s.addr
}

// URL is the server's address as a URL without a path.
func (s *Server) URL() string { return "https://" + s.Addr() }

// CertificatePEM is the server's certificate, which is its own CA.
func (s *Server) CertificatePEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.cert.Certificate[0]})
}

// CertificateSHA256 is the fingerprint of the server's certificate in lower-case hex.
func (s *Server) CertificateSHA256() string {
	sum := sha256.Sum256(s.cert.Certificate[0])

	return hex.EncodeToString(sum[:])
}

// SetDead makes the BMC refuse connections, or accept them again on the same port.
func (s *Server) SetDead(dead bool) error {
	if dead {
		return s.Close()
	}

	return s.listen()
}

// Renew gives the server another certificate, as a replaced BMC has. Open
// connections are closed.
func (s *Server) Renew() error {
	cert, err := selfSigned()
	if err != nil {
		return err
	}
	if err := s.Close(); err != nil {
		return err
	}
	s.mu.Lock()
	s.cert = cert
	s.mu.Unlock()

	return s.listen()
}

// Close ends the server and its connections.
func (s *Server) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.srv == nil {
		return nil
	}
	err := s.srv.Close()
	s.srv = nil

	return err
}

func (s *Server) listen() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.srv != nil {
		return nil
	}
	l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", s.addr)
	if err != nil {
		return fmt.Errorf("cannot listen for an emulated BMC on %q: %w", s.addr, err)
	}
	s.addr = l.Addr().String()
	srv := &http.Server{
		Handler: s.BMC, ReadHeaderTimeout: 10 * time.Second, ErrorLog: log.New(io.Discard, "", 0),
		TLSConfig: &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{s.cert}},
	}
	s.srv = srv
	go func() {
		if err := srv.ServeTLS(l, "", ""); !errors.Is(err, http.ErrServerClosed) {
			_ = l.Close()
		}
	}()

	return nil
}

func selfSigned() (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("cannot make a key: %w", err)
	}
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("cannot make a serial number: %w", err)
	}
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: "emulated-bmc"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().AddDate(10, 0, 0),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{"localhost"},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("cannot sign a certificate: %w", err)
	}

	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
}
