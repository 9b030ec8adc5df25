package certificate

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"log/slog"
	"math/big"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func t0() time.Time { return time.Date(2026, 8, 1, 10, 0, 0, 0, time.UTC) }

// files are a certificate and its key in a folder.
type files struct {
	t         *testing.T
	cert, key string
}

func newFiles(t *testing.T) files {
	t.Helper()
	dir := t.TempDir()
	return files{t, filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")}
}

// renew writes a new pair by a name, which ends after some time.
func (f files) renew(name string, lasts time.Duration) {
	f.t.Helper()
	f.between(name, t0().Add(-time.Hour), t0().Add(lasts))
}

// between writes a new pair by a name, which is valid between two times.
func (f files) between(name string, begins, ends time.Time) {
	f.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		f.t.Fatal(err)
	}
	x := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name}, NotBefore: begins, NotAfter: ends,
	}
	der, err := x509.CreateCertificate(rand.Reader, x, x, &key.PublicKey, key)
	if err != nil {
		f.t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		f.t.Fatal(err)
	}
	f.write(f.cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	f.write(f.key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}))
}

// write replaces a file, as a volume of a Secret does: all at once.
func (f files) write(path string, b []byte) {
	f.t.Helper()
	if err := errors.Join(os.WriteFile(path+".new", b, 0o600), os.Rename(path+".new", path)); err != nil { //nolint:gosec // A folder of the test.
		f.t.Fatal(err)
	}
}

// alike gives the files a time.
func (f files) alike(at time.Time) {
	f.t.Helper()
	if err := errors.Join(os.Chtimes(f.cert, at, at), os.Chtimes(f.key, at, at)); err != nil {
		f.t.Fatal(err)
	}
}

// name that a client sees.
func name(t *testing.T, p *Pair) string {
	t.Helper()
	c, err := p.Config(false).GetCertificate(&tls.ClientHelloInfo{})
	if err != nil {
		t.Fatal(err)
	}
	return c.Leaf.Subject.CommonName
}

func TestRenewed(t *testing.T) {
	f, now := newFiles(t), t0()
	var log bytes.Buffer
	f.renew("one", 90*24*time.Hour)
	p, err := Read(f.cert, f.key, func() time.Time { return now }, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	if got := name(t, p); got != "one" {
		t.Fatalf("%q is served", got)
	}
	f.renew("two", 90*24*time.Hour)
	now = now.Add(2 * often)
	if got := name(t, p); got != "two" {
		t.Errorf("%q is served after it was renewed", got)
	}
	f.write(f.key, []byte("nonsense"))
	for range 3 {
		now = now.Add(2 * often)
		if got := name(t, p); got != "two" {
			t.Errorf("%q is served while the key is nonsense", got)
		}
	}
	if n := strings.Count(log.String(), "isn't read anew"); n != 1 {
		t.Errorf("it's said %d times what is wrong:\n%s", n, log.String())
	}
	if err := os.Remove(f.cert); err != nil {
		t.Fatal(err)
	}
	now = now.Add(2 * often)
	if got := name(t, p); got != "two" {
		t.Errorf("%q is served while there's no file", got)
	}
	f.renew("ended", -time.Hour)
	now = now.Add(2 * often)
	if got := name(t, p); got != "two" {
		t.Errorf("%q is served in the place of one that's good still", got)
	}
	ahead := now
	now = now.Add(80 * 24 * time.Hour)
	f.renew("soon", 60*24*time.Hour) // By a clock that's ahead it has ended.
	_ = name(t, p)
	now = ahead.Add(2 * often)
	if got := name(t, p); got != "soon" {
		t.Errorf("%q is served once the clock is right again", got)
	}
	f.renew("three", 90*24*time.Hour)
	now = now.Add(2 * often)
	if got := name(t, p); got != "three" {
		t.Errorf("%q is served once the files are right again", got)
	}
	f.renew("3rd", 90*24*time.Hour) // As long a name, and of one time.
	f.alike(t0())
	now = now.Add(2 * often)
	f.renew("4th", 90*24*time.Hour)
	_ = name(t, p)
	f.alike(t0())
	now = now.Add(2 * often)
	if got := name(t, p); got != "4th" {
		t.Errorf("%q is served after a pair that's as large and as old as the one before", got)
	}
	b, err := os.ReadFile(f.cert)
	if err != nil {
		t.Fatal(err)
	}
	said := strings.Count(log.String(), "read anew")
	f.write(f.cert, append(b, b...)) // With one more of those between it and its issuer.
	now = now.Add(2 * often)
	if _ = name(t, p); strings.Count(log.String(), "read anew") != said+1 {
		t.Errorf("it isn't said that the issuer came:\n%s", log.String())
	}
	if strings.Contains(log.String(), "PRIVATE") || strings.Contains(log.String(), "nonsense") {
		t.Errorf("the log shows a key:\n%s", log.String())
	}
}

// TestReplacedMeanwhile: a pair that's replaced while the one before is being read is read soon, and not at its own renewal.
func TestReplacedMeanwhile(t *testing.T) {
	f, now := newFiles(t), t0()
	f.renew("one", 90*24*time.Hour)
	key, err := os.ReadFile(f.key)
	if err = errors.Join(err, os.Remove(f.key), syscall.Mkfifo(f.key, 0o600)); err != nil {
		t.Fatal(err)
	}
	written := make(chan error, 1)
	go func() {
		pipe, err := os.OpenFile(f.key, os.O_WRONLY, 0) // Once its reader is there, who has the certificate then.
		if err != nil {
			written <- err
			return
		}
		f.renew("two", 90*24*time.Hour)
		_, err = pipe.Write(key)
		written <- errors.Join(err, pipe.Close())
	}()
	p, err := Read(f.cert, f.key, func() time.Time { return now }, slog.New(slog.DiscardHandler))
	if err = errors.Join(err, <-written); err != nil {
		t.Fatal(err)
	}
	if got := name(t, p); got != "one" {
		t.Fatalf("%q is served", got)
	}
	now = now.Add(2 * often)
	if got := name(t, p); got != "two" {
		t.Errorf("%q is served though it was replaced", got)
	}
}

func TestEnds(t *testing.T) {
	f, now := newFiles(t), t0()
	var log bytes.Buffer
	f.renew("one", 10*24*time.Hour)
	p, err := Read(f.cert, f.key, func() time.Time { return now }, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	if log.Len() > 0 {
		t.Errorf("it's said too soon:\n%s", log.String())
	}
	now = t0().Add(4 * 24 * time.Hour)
	for range 47 {
		name(t, p)
		now = now.Add(time.Hour)
	}
	if n := strings.Count(log.String(), "renew it"); n != 2 {
		t.Errorf("it's said %d times in two days:\n%s", n, log.String())
	}
	said := strings.Count(log.String(), "read anew")
	b, err := os.ReadFile(f.cert)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 { // Some file systems give another inode each time.
		f.write(f.cert, b)
		now = now.Add(2 * often)
		name(t, p)
	}
	if n := strings.Count(log.String(), "renew it"); n > 3 || strings.Count(log.String(), "read anew") != said {
		t.Errorf("the same pair is told of as another, %d times:\n%s", n, log.String())
	}
	log.Reset()
	now = t0().Add(10*24*time.Hour + time.Hour) // An hour after its end, and not a day after it was told of last.
	if got := name(t, p); got != "one" || !strings.Contains(log.String(), "has ended, and machines refuse it: renew it") {
		t.Errorf("%q is served, and said of its end:\n%s", got, log.String())
	}
	log.Reset()
	now = t0().Add(12 * 24 * time.Hour)
	if got := name(t, p); got != "one" || !strings.Contains(log.String(), "has ended, and machines refuse it: renew it") {
		t.Errorf("%q is served, and said of it:\n%s", got, log.String())
	}
	f.renew("two", -time.Hour)
	now = now.Add(2 * often)
	if got := name(t, p); got != "two" {
		t.Errorf("%q is served where both have ended", got)
	}
}

// TestBegins: a pair that hasn't begun takes the place of one that's good once it has, or that one is no more; and it's said that one which is served hasn't.
func TestBegins(t *testing.T) {
	day := func(n int) time.Time { return t0().Add(time.Duration(n) * 24 * time.Hour) }
	cases := map[string]struct {
		reason string
		two    [2]int // When it begins and ends, in days; the other ends at 90.
		looks  []int
		want   string // By their first letters.
		said   string
	}{
		"Tomorrow": {"it's served from when it begins", [2]int{10, 200}, []int{0, 1, 9, 10, 11}, "ooott", "isn't valid before 2026-08-11"},
		"Gap":      {"there's no better one", [2]int{100, 200}, []int{0, 89, 91, 100}, "oott", "isn't valid yet, and machines refuse it"},
		"Clock":    {"the clock is put right", [2]int{10, 200}, []int{0, 20, 0}, "ott", "isn't valid yet, and machines refuse it"},
	}
	for title, tc := range cases {
		t.Run(title, func(t *testing.T) {
			f, now := newFiles(t), t0()
			var log bytes.Buffer
			f.between("one", day(-1), day(90))
			p, err := Read(f.cert, f.key, func() time.Time { return now }, slog.New(slog.NewTextHandler(&log, nil)))
			if err != nil {
				t.Fatal(err)
			}
			f.between("two", day(tc.two[0]), day(tc.two[1]))
			got := ""
			for _, d := range tc.looks {
				now = day(d).Add(2 * often)
				got += string(name(t, p)[0])
			}
			if got != tc.want || !strings.Contains(log.String(), tc.said) {
				t.Errorf("%s: %q, want %q; said:\n%s", tc.reason, got, tc.want, log.String())
			}
		})
	}
}

// TestOfNoUse: a key that firmware can't use is said where firmware comes, at once and of each pair that is read anew.
func TestOfNoUse(t *testing.T) {
	for _, firmware := range []bool{false, true} {
		f, now := newFiles(t), t0()
		var log bytes.Buffer
		f.renew("one", 90*24*time.Hour)
		p, err := Read(f.cert, f.key, func() time.Time { return now }, slog.New(slog.NewTextHandler(&log, nil)))
		if err != nil {
			t.Fatal(err)
		}
		p.Config(firmware)
		f.renew("two", 90*24*time.Hour)
		now = now.Add(2 * often)
		p.Told("two")
		want := 0
		if firmware {
			want = 2
		}
		if n := strings.Count(log.String(), "is no RSA key"); n != want {
			t.Errorf("firmware %t: it's said %d times, want %d:\n%s", firmware, n, want, log.String())
		}
	}
}

// TestTold: a host that machines are told and refuse is said once, and again of a certificate that doesn't name it either.
func TestTold(t *testing.T) {
	f, now := newFiles(t), t0()
	var log bytes.Buffer
	f.renew("boot.example", 90*24*time.Hour)
	p, err := Read(f.cert, f.key, func() time.Time { return now }, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	says := func(host string, want int) {
		t.Helper()
		p.Told(host)
		p.Told(host)
		if n := strings.Count(log.String(), "host="+host); n != want {
			t.Errorf("%s is said %d times, want %d:\n%s", host, n, want, log.String())
		}
	}
	says("boot.example", 0)
	says("10.77.0.1", 1)
	says("fd00::1", 1)
	f.renew("other.example", 90*24*time.Hour)
	now = now.Add(2 * often)
	says("boot.example", 1)
	says("10.77.0.1", 2)
	for i := range 2 * maxTold {
		p.Told(strconv.Itoa(i))
	}
	if len(p.told) > maxTold {
		t.Errorf("%d hosts are remembered", len(p.told))
	}
}

func TestReadRefuses(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(files)
		says   string
	}{
		"NoCertificate": {"a path that isn't right", func(f files) { _ = os.Remove(f.cert) }, "cannot read the TLS certificate"},
		"NoKey":         {"or that of the key", func(f files) { _ = os.Remove(f.key) }, "cannot read the TLS key"},
		"Nonsense":      {"no certificate", func(f files) { f.write(f.cert, []byte("x")) }, "cannot use TLS certificate"},
		"NotAKey": {"a certificate in the place of the key", func(f files) {
			b, err := os.ReadFile(f.cert)
			if err != nil {
				f.t.Fatal(err)
			}
			f.write(f.key, b)
		}, "cannot use TLS certificate"},
		"OtherKey": {"the key of another", func(f files) {
			b, err := os.ReadFile(f.cert)
			if err != nil {
				f.t.Fatal(err)
			}
			f.renew("other", time.Hour)
			f.write(f.cert, b)
		}, "does not match"},
	}
	for n, tc := range cases {
		t.Run(n, func(t *testing.T) {
			f := newFiles(t)
			f.renew("one", time.Hour)
			tc.change(f)
			if _, err := Read(f.cert, f.key, t0, slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("%s: %v, want %q", tc.reason, err, tc.says)
			}
		})
	}
}
