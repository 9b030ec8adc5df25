package bootd

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// issued writes a certificate for loopback, its key, and gives those who trust it.
func issued(t *testing.T, cert, key string) *x509.CertPool {
	t.Helper()
	secret, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	x := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(30 * 24 * time.Hour), IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, x, x, &secret.PublicKey, secret)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(secret)
	if err != nil {
		t.Fatal(err)
	}
	public := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	err = errors.Join(os.WriteFile(cert, public, 0o600), os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(public)
	return pool
}

// secured asks as who trusts a certificate.
func secured(t *testing.T, trusted *x509.CertPool, url string) string {
	t.Helper()
	c := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted, MinVersion: tls.VersionTLS12}, DisableKeepAlives: true}}
	resp, err := c.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK || resp.TLS == nil {
		t.Fatalf("%s: %d %s, %v", url, resp.StatusCode, b, err)
	}
	return string(b)
}

// TestHTTPS: whoever comes by HTTPS goes on by it, whoever is told HTTPS is, and a certificate that is renewed is served without a restart.
func TestHTTPS(t *testing.T) {
	files, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	web := &http.Server{ReadHeaderTimeout: time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "x")
	})}
	go func() { _ = web.Serve(files) }()
	t.Cleanup(func() { _ = web.Close() })
	cases := map[string]struct {
		reason            string
		who               []string
		told, byHTTP, its string // the schemes of the script's URL, and of what a script names for what runs later
	}{
		"Nobody":    {"HTTPS is there for who asks for it", nil, "http", "http", "https"},
		"Installer": {"what runs after iPXE trusts it", []string{TLSInstaller}, "http", "https", "https"},
		"IPXE":      {"an iPXE of the operator's own", []string{TLSIPXE}, "https", "http", "https"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c, dir := config(t), t.TempDir()
			c.TLS = TLS{Listen: freePort(t), Cert: filepath.Join(dir, "tls.crt"), Key: filepath.Join(dir, "tls.key"), For: tc.who}
			trusted := issued(t, c.TLS.Cert, c.TLS.Key)
			c.PlansDir = t.TempDir()
			if err := os.WriteFile(filepath.Join(c.PlansDir, "a.yaml"), fmt.Appendf(nil, plans, "http://"+files.Addr().String()), 0o600); err != nil {
				t.Fatal(err)
			}
			running(t, c)
			told := request(t, c.DHCPListen)
			if !strings.HasPrefix(told, tc.told+"://127.0.0.1:") {
				t.Errorf("%s: DHCP names %q", tc.reason, told)
			}
			_, path, _ := strings.Cut(told, "/v1/")
			_, plain := get(t, "http://"+c.HTTPListen+"/v1/"+path)
			if !strings.Contains(plain, "baremetal.callback="+tc.byHTTP+"://127.0.0.1:") || !strings.Contains(plain, "kernel ${bootd-bound} --name vmlinuz http://") {
				t.Errorf("%s: by HTTP\n%s", tc.reason, plain)
			}
			its := secured(t, trusted, "https://"+c.TLS.Listen+"/v1/"+path)
			if !strings.Contains(its, "baremetal.callback="+tc.its+"://"+c.TLS.Listen) || !strings.Contains(its, "kernel ${bootd-bound} --name vmlinuz https://"+c.TLS.Listen) {
				t.Errorf("%s: by HTTPS\n%s", tc.reason, its)
			}
			renewed := issued(t, c.TLS.Cert, c.TLS.Key)
			time.Sleep(1100 * time.Millisecond)
			secured(t, renewed, "https://"+c.TLS.Listen+"/v1/"+path)
		})
	}
}

func TestTLSCheck(t *testing.T) {
	whole := TLS{Listen: ":8483", Cert: "c", Key: "k"}
	with := func(change func(*TLS)) TLS {
		x := whole
		change(&x)
		return x
	}
	cases := map[string]struct {
		reason string
		tls    TLS
		http   string
		says   string
	}{
		"None":      {"HTTPS isn't asked for", TLS{}, "", ""},
		"Whole":     {"it is", with(func(x *TLS) { x.For, x.Host = []string{TLSFirmware, TLSIPXE, TLSInstaller}, "boot.example" }), ":8480", ""},
		"NoListen":  {"a certificate for nothing", TLS{Cert: "c", Key: "k"}, ":8480", "go with an address"},
		"NoKey":     {"half of it", TLS{Listen: ":8483", Cert: "c"}, ":8480", "its key"},
		"NoHTTP":    {"machines need HTTP too", whole, "", "beside HTTP"},
		"Host":      {"a URL isn't a name", with(func(x *TLS) { x.Host = "https://boot" }), ":8480", "isn't the name of a host"},
		"Somebody":  {"nobody knows who that is", with(func(x *TLS) { x.For = []string{"grub"} }), ":8480", `not for "grub"`},
		"ForNobody": {"who is told HTTPS that isn't there", TLS{For: []string{TLSIPXE}}, ":8480", "go with an address"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			err := tc.tls.check(tc.http)
			if (err == nil) != (tc.says == "") || err != nil && !strings.Contains(err.Error(), tc.says) {
				t.Errorf("%s: %v", tc.reason, err)
			}
		})
	}
}

// heard is the host that it heard of last.
type heard string

func (h *heard) Told(host string) { *h = heard(host) }

func TestSecured(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	for host, want := range map[string]string{"": "10.77.0.1", "boot.example": "boot.example"} {
		var heard heard
		if got := (TLS{Host: host}).secured(l, &heard)("http://10.77.0.1:8480"); got != "https://"+want+":"+port || string(heard) != want {
			t.Errorf("%q of %q, want %q", got, heard, want)
		}
	}
	if (TLS{}).secured(nil, nil) != nil {
		t.Error("there's HTTPS without a listener")
	}
}
