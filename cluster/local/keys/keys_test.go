package keys

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"testing"
	"time"
)

func TestIssue(t *testing.T) {
	now := time.Now()
	ca, err := New("test", now)
	if err != nil {
		t.Fatal(err)
	}
	c, err := ca.Issue(pkix.Name{CommonName: "x", Organization: []string{"g"}}, []string{"127.0.0.1", "localhost"}, now)
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(c.Cert)
	leaf, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca.PEM)
	cases := map[string]struct {
		reason string
		opts   x509.VerifyOptions
		ok     bool
	}{
		"Address":  {"It serves for its address.", x509.VerifyOptions{DNSName: "127.0.0.1"}, true},
		"Name":     {"It serves for its name.", x509.VerifyOptions{DNSName: "localhost"}, true},
		"Client":   {"It identifies a client.", x509.VerifyOptions{KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}, true},
		"Stranger": {"It doesn't serve for another name.", x509.VerifyOptions{DNSName: "example.org"}, false},
		"Later":    {"It doesn't live for ever.", x509.VerifyOptions{CurrentTime: now.Add(2 * Lifetime)}, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			tc.opts.Roots = roots
			_, err := leaf.Verify(tc.opts)
			if (err == nil) != tc.ok {
				t.Errorf("%s\nVerify: %v", tc.reason, err)
			}
		})
	}
}

func TestRead(t *testing.T) {
	ca, err := New("test", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	own, err := ca.Own()
	if err != nil {
		t.Fatal(err)
	}
	again, err := Read(own.Cert, own.Key)
	if err != nil {
		t.Fatal(err)
	}
	c, err := again.Issue(pkix.Name{CommonName: "x"}, nil, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(c.Cert)
	leaf, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	if err := leaf.CheckSignatureFrom(ca.cert); err != nil {
		t.Errorf("an authority that was written and read signs as before: %v", err)
	}
	if _, err := Read(c.Cert, []byte("no key")); err == nil {
		t.Error("Read: want an error for what isn't a key")
	}
}
