package artifacts

import (
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// echo serves each path as its own text: four octets for "/abc". Below /chunked/ it doesn't tell how many.
func echo(t *testing.T) string {
	t.Helper()
	return serving(t, func(w http.ResponseWriter, r *http.Request) {
		text, chunked := strings.CutPrefix(r.URL.Path, "/chunked")
		if f, ok := w.(http.Flusher); ok && chunked {
			f.Flush()
		}
		_, _ = io.WriteString(w, text) //nolint:gosec // Octets for a cache, not a page.
	})
}

func has(t *testing.T, c *Cache, url, path string) {
	t.Helper()
	if err := c.Await(t.Context(), boot.Artifact{URL: url + path, Digest: sum(path)}); err != nil {
		t.Fatal(err)
	}
}

// ticking is a clock that goes on by a second whenever it's read.
func ticking() func() time.Time {
	var mu sync.Mutex
	now := time.Now().Add(-time.Hour)
	return func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		now = now.Add(time.Second)
		return now
	}
}

// TestBound: all files together take no more than the cache may; what goes is what wasn't used for longest.
func TestBound(t *testing.T) {
	url := echo(t)
	c := newCache(t, func(o *Options) { o.CacheBytes, o.Now = 12, ticking() })
	c.Need(map[string]Level{})
	for _, p := range []string{"/aaa", "/bbb", "/ccc"} {
		has(t, c, url, p)
	}
	if read(t, c, sum("/aaa")) != "/aaa" {
		t.Error("another file")
	}
	has(t, c, url, "/ddd")
	if got := left(c, "/aaa", "/bbb", "/ccc", "/ddd"); got != "/aaa /ccc /ddd" {
		t.Errorf("left %s: want the one gone that wasn't used since it came", got)
	}
	if n, _ := os.ReadDir(c.o.Dir); len(n) != 3 {
		t.Errorf("%v lie there", n)
	}
	if r := c.Report(); r.Bytes != 12 || r.Limit != 12 || c.Counts().Evictions != 1 {
		t.Errorf("%+v, %+v", r, c.Counts())
	}
}

// TestBeingSentStays: a machine that loads an image for an hour asks for its parts, too.
func TestBeingSentStays(t *testing.T) {
	url := echo(t)
	c := newCache(t, func(o *Options) { o.CacheBytes, o.Now = 8, ticking() })
	c.Need(map[string]Level{})
	has(t, c, url, "/aaa")
	f, sent, err := c.Open(boot.Artifact{Digest: sum("/aaa")})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	has(t, c, url, "/bbb")
	has(t, c, url, "/ccc")
	if got := left(c, "/aaa", "/bbb", "/ccc"); got != "/aaa /ccc" {
		t.Errorf("left %s: want that which is being sent", got)
	}
	sent()
	sent() // Once is all that counts.
	for _, p := range []string{"/bbb", "/ddd"} {
		has(t, c, url, p)
	}
	if got := left(c, "/aaa", "/bbb", "/ccc", "/ddd"); got != "/bbb /ddd" {
		t.Errorf("left %s: what was sent goes like others", got)
	}
}

func TestNoRoomIsSaid(t *testing.T) {
	url := echo(t)
	cases := map[string]struct {
		reason, path, says string
		needed             map[string]Level
	}{
		"Larger":        {"a file that can never be kept", "/" + strings.Repeat("x", 20), "larger than all of bootd's cache, 10 bytes: raise its --cache-bytes", map[string]Level{}},
		"LargerUnknown": {"nor one that doesn't tell its size", "/chunked/" + strings.Repeat("x", 20), "larger than all of bootd's cache, 10 bytes", map[string]Level{}},
		"Busy":          {"machines need what is there", "/new", "full of files that machines need now", map[string]Level{sum("/aaa"): Soon, sum("/bbb"): Soon}},
		"BusyUnknown":   {"and of a size that isn't known it's seen later", "/chunked/new", "full of files that machines need now", map[string]Level{sum("/aaa"): Soon, sum("/bbb"): Soon}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := newCache(t, func(o *Options) { o.CacheBytes = 10 })
			has(t, c, url, "/aaa")
			has(t, c, url, "/bbb")
			c.Need(tc.needed)
			a := boot.Artifact{URL: url + tc.path, Digest: sum(strings.TrimPrefix(tc.path, "/chunked"))}
			if err := c.Await(t.Context(), a); err == nil || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("%s: %v", tc.reason, err)
			}
			if half, _ := filepath.Glob(filepath.Join(c.o.Dir, "*.*")); len(half) != 0 {
				t.Errorf("%s: left %v", tc.reason, half)
			}
			if got := left(c, "/aaa", "/bbb"); !strings.HasPrefix(name, "LargerU") && got != "/aaa /bbb" {
				t.Errorf("%s: others went for it, %q is left", tc.reason, got)
			}
			if r := c.Report(); r.Bytes > 8 {
				t.Errorf("%s: counted %d bytes", tc.reason, r.Bytes)
			}
		})
	}
}

// TestLastUseSurvives: also after a restart what goes first is what wasn't used for longest, not what was fetched first.
func TestLastUseSurvives(t *testing.T) {
	url := echo(t)
	dir, clock := t.TempDir(), ticking()
	options := func(o *Options) { o.Dir, o.CacheBytes, o.Now = dir, 12, clock }
	c := newCache(t, options)
	for _, p := range []string{"/aaa", "/bbb", "/ccc"} {
		has(t, c, url, p)
	}
	_ = read(t, c, sum("/aaa"))
	ended, end := context.WithCancel(t.Context())
	end()
	if err := c.Run(ended); err != nil {
		t.Fatal(err)
	}
	c = newCache(t, options)
	c.Need(map[string]Level{})
	has(t, c, url, "/ddd")
	if got := left(c, "/aaa", "/bbb", "/ccc", "/ddd"); got != "/aaa /ccc /ddd" {
		t.Errorf("left %s", got)
	}
	if err := os.WriteFile(filepath.Join(dir, usedFile), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := newCache(t, options).Report(); r.Files != 3 {
		t.Errorf("without what was noted the files are there all the same: %+v", r)
	}
}

// TestAhead: what profiles name is fetched before a machine asks, and takes nothing from machines.
func TestAhead(t *testing.T) {
	url := echo(t)
	c := newCache(t, func(o *Options) { o.CacheBytes = 16 })
	at := func(p string) boot.Artifact { return boot.Artifact{URL: url + p, Digest: sum(p)} }
	has(t, c, url, "/old")
	c.Want(map[boot.Artifact]Level{at("/aaa"): ByProfile, at("/bbb"): ByProfile, at("/plan"): ByPlan, at("/soon"): Soon})
	awaitReport(t, c, func(r Report) bool { return len(r.Fetching) == 0 && r.Files >= 3 })
	if c.Has(sum("/plan")) {
		t.Error("an installed machine's files are fetched when it asks for them")
	}
	c.Want(map[boot.Artifact]Level{at("/aaa"): ByProfile, at("/bbb"): ByProfile, at("/ccc"): ByProfile, at("/soon"): Soon})
	r := awaitReport(t, c, func(r Report) bool { return len(r.Fetching) == 0 && len(r.Failed) > 0 })
	if len(r.Failed) != 1 || r.Failed[0].Digest != sum("/ccc") || !strings.Contains(r.Failed[0].Message, "half of it at most") || r.Failed[0].Reason != ReasonLater || !c.Has(sum("/soon")) {
		t.Errorf("%+v: half of the cache is for what profiles name", r)
	}
	has(t, c, url, "/ccc") // A machine that asks for it has it at once.
	if r := c.Report(); r.Bytes > 16 || len(r.Failed) != 0 {
		t.Errorf("%+v", r)
	}
}

func awaitReport(t *testing.T, c *Cache, good func(Report) bool) Report {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		r := c.Report()
		if good(r) {
			return r
		}
		if time.Now().After(end) {
			t.Fatalf("still %+v", r)
		}
	}
}

// TestSlowProfilesKeepNobodyWaiting: those that a machine waits for have places of their own, also at the same server, and what is
// waiting for a place is among them once a machine asks for it.
func TestSlowProfilesKeepNobodyWaiting(t *testing.T) {
	release := make(chan struct{})
	url := serving(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/slow") {
			select {
			case <-release:
			case <-r.Context().Done():
			}
		}
		_, _ = io.WriteString(w, r.URL.Path) //nolint:gosec // Octets for a cache, not a page.
	})
	t.Cleanup(func() { close(release) })
	c := newCache(t, nil)
	all := map[boot.Artifact]Level{{URL: url + "/late", Digest: sum("/late")}: ByProfile}
	for i := range 2 * aheads {
		p := "/slow" + strings.Repeat("x", i)
		all[boot.Artifact{URL: url + p, Digest: sum(p)}] = ByProfile
	}
	c.Want(all)
	has(t, c, url, "/late")
	has(t, c, url, "/other")
}
