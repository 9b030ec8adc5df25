package artifacts

import (
	"context"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"errors"
	"io"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

func sum(s string) string {
	h := sha256.Sum256([]byte(s))
	return "sha256:" + hex.EncodeToString(h[:])
}

func newCache(t *testing.T, change func(*Options)) *Cache {
	t.Helper()
	o := Options{Dir: t.TempDir(), Guard: Guard{Local: true}, Now: time.Now, Logger: slog.New(slog.DiscardHandler)}
	if change != nil {
		change(&o)
	}
	c, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func serving(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

func read(t *testing.T, c *Cache, digest string) string {
	t.Helper()
	return content(t, c, boot.Artifact{Digest: digest})
}

// content of what is given for an artifact that's there.
func content(t *testing.T, c *Cache, a boot.Artifact) string {
	t.Helper()
	f, sent, err := c.Open(a)
	if err != nil {
		t.Fatal(err)
	}
	defer sent()
	defer func() { _ = f.Close() }()
	b, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestFetchedOnce(t *testing.T) {
	var asked atomic.Int32
	url := serving(t, func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		_, _ = io.WriteString(w, "kernel")
	})
	c := newCache(t, nil)
	a := boot.Artifact{URL: url, Digest: sum("kernel")}
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			if err := c.Await(t.Context(), a); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if got := read(t, c, a.Digest); got != "kernel" || asked.Load() != 1 {
		t.Errorf("%q, fetched %d times", got, asked.Load())
	}
	if r := c.Report(); r.Files != 1 || r.Bytes != 6 || r.Digests[0] != a.Digest || len(r.Fetching)+len(r.Failed) != 0 {
		t.Errorf("holdings %+v", r)
	}
	long := sha512.Sum512([]byte("kernel"))
	if err := c.Await(t.Context(), boot.Artifact{URL: url, Digest: "sha512:" + hex.EncodeToString(long[:])}); err != nil {
		t.Errorf("sha512: %v", err)
	}
}

func TestRefusals(t *testing.T) {
	url := serving(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/secret":
			w.Header().Set("Content-Type", "application/json; charset=utf-8")
			w.WriteHeader(http.StatusForbidden)
			_, _ = io.WriteString(w, "the password is hunter2")
		case "/short":
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, "short")
		case "/away":
			http.Redirect(w, r, "http://169.254.169.254/latest", http.StatusFound)
		case "/file":
			http.Redirect(w, r, "file:///etc/passwd", http.StatusFound)
		case "/loop":
			http.Redirect(w, r, "/loop", http.StatusFound)
		default:
			_, _ = io.WriteString(w, strings.Repeat("x", 2000))
		}
	})
	cases := map[string]struct {
		reason, path, digest, want, says string
		max                              int64
	}{
		"Digest":   {reason: "nothing of a wrong file is served", path: "/x", digest: sum("y"), want: ReasonDigest, says: "correct the URL or the digest"},
		"Status":   {reason: "status and content type, nothing else", path: "/secret", digest: sum("y"), want: ReasonFetch, says: "answered 403 (application/json), not 200"},
		"Short":    {reason: "half a file", path: "/short", digest: sum("short"), want: ReasonFetch, says: "broke off after 5 bytes"},
		"Large":    {reason: "a file that's too large", path: "/x", digest: sum("y"), max: 1000, want: ReasonFetch, says: "larger than 1000 bytes"},
		"Redirect": {reason: "a redirect into forbidden ranges", path: "/away", digest: sum("y"), want: ReasonTarget, says: "refused"},
		"Scheme":   {reason: "a redirect to a file", path: "/file", digest: sum("y"), want: ReasonFetch, says: "its server redirects"},
		"Loop":     {reason: "redirects without end", path: "/loop", digest: sum("y"), want: ReasonFetch, says: "its server redirects"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := newCache(t, func(o *Options) { o.MaxBytes = tc.max })
			err := c.Await(t.Context(), boot.Artifact{URL: url + tc.path, Digest: tc.digest})
			var why *Error
			if !errors.As(err, &why) || why.Reason != tc.want || !strings.Contains(err.Error(), tc.says) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("%s: %v, want %s saying %q", tc.reason, err, tc.want, tc.says)
			}
			if served := sum(strings.Repeat("x", 2000)); strings.Contains(err.Error(), served[len("sha256:"):][:12]) {
				t.Errorf("%s: it tells what a stranger serves: %v", tc.reason, err)
			}
			if c.Has(tc.digest) {
				t.Errorf("%s: it's there all the same", tc.reason)
			}
			if left, _ := os.ReadDir(c.o.Dir); len(left) != 0 {
				t.Errorf("%s: left %v behind", tc.reason, left)
			}
		})
	}
}

// TestCertificate: a server whose certificate isn't trusted isn't one that's away.
func TestCertificate(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "x") }))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	c := newCache(t, func(*Options) {})
	err := c.Await(t.Context(), boot.Artifact{URL: s.URL, Digest: sum("x")})
	if err == nil || !strings.Contains(err.Error(), "certificate isn't of the name in the URL, or of no authority that bootd trusts") {
		t.Error(err)
	}
}

// TestHealsWithoutRestart: a failure stands for a while, that of a file which came whole for longer; then it's tried again.
func TestHealsWithoutRestart(t *testing.T) {
	cases := map[string]struct {
		reason, text string
		status       int
		stands       time.Duration
	}{
		"Away":  {"a server may be back in a moment", "right", http.StatusServiceUnavailable, failureFor},
		"Wrong": {"somebody has to mend the file, or the profile", "wrong", http.StatusOK, mismatchFor},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var asked, mended atomic.Int32
			url := serving(t, func(w http.ResponseWriter, _ *http.Request) {
				asked.Add(1)
				if mended.Load() > 0 {
					_, _ = io.WriteString(w, "right")
					return
				}
				w.WriteHeader(tc.status)
				_, _ = io.WriteString(w, tc.text)
			})
			var later atomic.Int64
			began := time.Now()
			c := newCache(t, func(o *Options) { o.Now = func() time.Time { return began.Add(time.Duration(later.Load())) } })
			a := boot.Artifact{URL: url, Digest: sum("right")}
			for _, after := range []time.Duration{0, 0, tc.stands - time.Second} {
				later.Store(int64(after))
				if err := c.Await(t.Context(), a); err == nil {
					t.Fatalf("%s: what isn't right was taken", tc.reason)
				}
			}
			if asked.Load() != 1 {
				t.Errorf("%s: within %s it was asked %d times", tc.reason, tc.stands, asked.Load())
			}
			mended.Store(1)
			later.Store(int64(tc.stands + time.Second))
			if err := c.Await(t.Context(), a); err != nil {
				t.Errorf("%s: after the cause is gone: %v", tc.reason, err)
			}
		})
	}
}

func TestAwaitEndsBeforeTheDownload(t *testing.T) {
	release := make(chan struct{})
	url := serving(t, func(w http.ResponseWriter, _ *http.Request) {
		<-release
		_, _ = io.WriteString(w, "slow")
	})
	c := newCache(t, nil)
	a := boot.Artifact{URL: url, Digest: sum("slow")}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.Await(ctx, a); !errors.Is(err, ErrFetching) {
		t.Errorf("on its way: %v", err)
	}
	close(release)
	if err := c.Await(t.Context(), a); err != nil {
		t.Errorf("the download went on: %v", err)
	}
}

func TestHalfDoneIsRemoved(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"1" + partial, fileOf(sum("a")) + partial, fileOf(sum("b")) + remnants, usedFile + fresh} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := newCache(t, func(o *Options) { o.Dir = dir })
	if left, _ := os.ReadDir(c.o.Dir); len(left) != 0 {
		t.Errorf("left %v", left)
	}
	if _, _, err := c.Open(boot.Artifact{Digest: "sha256:../../etc/passwd"}); !errors.Is(err, ErrDigest) {
		t.Errorf("a digest is no path: %v", err)
	}
	if _, _, err := c.Open(boot.Artifact{Digest: sum("x")}); !errors.Is(err, ErrFetching) {
		t.Errorf("not there: %v", err)
	}
}

func TestGuard(t *testing.T) {
	mirror := Guard{Allowed: []netip.Prefix{netip.MustParsePrefix("10.9.0.0/16")}}
	cases := map[string]struct {
		guard   Guard
		address string
		want    bool
	}{
		"Public":           {Guard{}, "93.184.216.34", true},
		"PublicV6":         {Guard{}, "2606:2800:220:1::1", true},
		"Private":          {Guard{}, "10.9.0.1", false},
		"Mirror":           {mirror, "10.9.0.1", true},
		"BesideTheMirror":  {mirror, "10.10.0.1", false},
		"Loopback":         {Guard{}, "127.0.0.1", false},
		"LoopbackV6":       {Guard{}, "::1", false},
		"MappedLoopback":   {Guard{}, "::ffff:127.0.0.1", false},
		"NAT64":            {Guard{}, "64:ff9b::7f00:1", false},
		"6to4":             {Guard{}, "2002:7f00:1::", false},
		"Zero":             {Guard{}, "0.0.0.0", false},
		"ThisNetwork":      {Guard{}, "0.1.2.3", false},
		"Metadata":         {Guard{}, "169.254.169.254", false},
		"LinkLocalV6":      {Guard{}, "fe80::1%eth0", false},
		"SharedSpace":      {Guard{}, "100.64.0.1", false},
		"UniqueLocal":      {Guard{}, "fd00::1", false},
		"Multicast":        {Guard{}, "224.0.0.1", false},
		"Broadcast":        {Guard{}, "255.255.255.255", false},
		"DemoLoopback":     {Guard{Local: true}, "127.0.0.1", true},
		"DemoPrivate":      {Guard{Local: true}, "192.168.1.1", true},
		"DemoMetadata":     {Guard{Local: true}, "169.254.169.254", false},
		"MetadataNotEver":  {Guard{Allowed: []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0")}}, "169.254.169.254", false},
		"MappedWithMirror": {mirror, "::ffff:10.9.0.1", true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := tc.guard.Allows(netip.MustParseAddr(tc.address)); got != tc.want {
				t.Errorf("%s: %t", tc.address, got)
			}
		})
	}
}

func TestLoopbackIsRefusedAfterDNS(t *testing.T) {
	url := serving(t, func(http.ResponseWriter, *http.Request) { t.Error("it was asked") })
	c := newCache(t, func(o *Options) { o.Guard = Guard{} })
	for _, u := range []string{url, strings.Replace(url, "127.0.0.1", "localhost", 1), "ftp://example.org/x", "http://", "%"} {
		var why *Error
		if err := c.Await(t.Context(), boot.Artifact{URL: u, Digest: sum(u)}); !errors.As(err, &why) || why.Reason != ReasonTarget {
			t.Errorf("%q: %v", u, err)
		}
	}
}

func TestRedacted(t *testing.T) {
	if got := redacted("https://user:pw@host/path?token=x#y"); got != "https://host/path" {
		t.Error(got)
	}
}
