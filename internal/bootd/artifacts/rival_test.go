package artifacts

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// stalling is a server that gives two octets of a file and then nothing, until whoever asks gives up.
func stalling(t *testing.T, left *atomic.Int32) string {
	t.Helper()
	return serving(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"one"`)
		w.Header().Set("Content-Length", "6")
		_, _ = io.WriteString(w, "ke")
		if f, ok := w.(http.Flusher); ok {
			f.Flush()
		}
		<-r.Context().Done()
		left.Add(1)
	})
}

// TestSlowSourceHoldsNobodyElse: somebody names a server that never ends for a file that others have from their own. They don't wait for it,
// and who does has the file, too, once it's there.
func TestSlowSourceHoldsNobodyElse(t *testing.T) {
	for name, level := range map[string]Level{"Machine": Soon, "Profile": ByProfile} {
		t.Run(name, func(t *testing.T) {
			var left, asked atomic.Int32
			slow := boot.Artifact{URL: stalling(t, &left), Digest: sum("kernel")}
			quick := boot.Artifact{URL: serving(t, func(w http.ResponseWriter, _ *http.Request) {
				asked.Add(1)
				_, _ = io.WriteString(w, "kernel")
			}), Digest: slow.Digest}
			c := newCache(t, nil)
			c.Want(map[boot.Artifact]Level{slow: level})
			half := filepath.Join(c.o.Dir, halfName(slow))
			for end := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
				if i, err := os.Stat(half); err == nil && i.Size() == 2 {
					break
				}
				if time.Now().After(end) {
					t.Fatal("the slow server isn't asked")
				}
			}
			waits := make(chan error, 1)
			go func() { waits <- c.Await(t.Context(), slow) }()
			c.Want(map[boot.Artifact]Level{slow: level, quick: Soon})
			if err := c.Await(t.Context(), quick); err != nil {
				t.Fatal(err)
			}
			if err := <-waits; err != nil {
				t.Errorf("who waits for the slow one has it, too: %v", err)
			}
			if got := read(t, c, slow.Digest); got != "kernel" || asked.Load() != 1 {
				t.Errorf("%q, fetched %d times", got, asked.Load())
			}
			for end := time.Now().Add(10 * time.Second); left.Load() == 0; time.Sleep(time.Millisecond) {
				if time.Now().After(end) {
					t.Fatal("the slow server is still being asked")
				}
			}
			if n, _ := os.ReadDir(c.o.Dir); len(n) != 1 {
				t.Errorf("%v lie there", n)
			}
			if r := c.Report(); r.Bytes != 6 || len(r.Fetching)+len(r.Failed) != 0 {
				t.Errorf("%+v", r)
			}
		})
	}
}

// TestFailureIsItsURLs: what another URL of a file answers is no failure of its own, and is told once a file.
func TestFailureIsItsURLs(t *testing.T) {
	gone := serving(t, http.NotFound)
	c := newCache(t, nil)
	one, two := boot.Artifact{URL: gone + "/one", Digest: sum("kernel")}, boot.Artifact{URL: gone + "/two", Digest: sum("kernel")}
	c.Want(map[boot.Artifact]Level{one: Soon, two: Soon})
	for _, a := range []boot.Artifact{one, two} {
		if err := c.Await(t.Context(), a); err == nil || !strings.Contains(err.Error(), "404") {
			t.Errorf("%v", err)
		}
	}
	if r := c.Report(); len(r.Failed) != 1 {
		t.Errorf("told %+v", r.Failed)
	}
	c.Want(map[boot.Artifact]Level{{URL: echo(t) + "/else", Digest: sum("kernel")}: ByPlan})
	if r := c.Report(); len(r.Failed) != 0 {
		t.Errorf("nobody names these any more: %+v", r.Failed)
	}
}

// TestHalfOfAnotherSourceGoes: half of a file that another URL gave, and doesn't go on with, keeps no room from the whole of it.
func TestHalfOfAnotherSourceGoes(t *testing.T) {
	text := "0123456789"
	b := &breaking{text: []byte(text), headers: map[string]string{"ETag": `"one"`}, breaks: []int{4}}
	broken := boot.Artifact{URL: b.serve(t), Digest: sum(text)}
	whole := boot.Artifact{URL: serving(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, text) }), Digest: broken.Digest}
	c := newCache(t, func(o *Options) { o.CacheBytes = 12 })
	c.Want(map[boot.Artifact]Level{broken: Soon})
	if err := c.Await(t.Context(), broken); err == nil || !strings.Contains(err.Error(), "broke off") {
		t.Fatal(err)
	}
	c.Want(map[boot.Artifact]Level{broken: Unneeded, whole: Soon})
	if err := c.Await(t.Context(), whole); err != nil {
		t.Error(err)
	}
	if n, _ := os.ReadDir(c.o.Dir); len(n) != 1 {
		t.Errorf("%v lie there", n)
	}
}

// TestHalfOfAnEarlierVersion: its name doesn't say where it came from.
func TestHalfOfAnEarlierVersion(t *testing.T) {
	dir := t.TempDir()
	for _, end := range []string{partial, remnants} {
		if err := os.WriteFile(filepath.Join(dir, fileOf(sum("a"))+end), []byte(`{"fixed":true}`), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	newCache(t, func(o *Options) { o.Dir = dir })
	if n, _ := os.ReadDir(dir); len(n) != 0 {
		t.Errorf("%v lie there", n)
	}
}

// TestBoundThatNobodyChose: at an upgrade from a version without a bound, what lies there may be more than half of the disk. It's no less
// needed for that, and nothing goes but for a new file, one for one.
func TestBoundThatNobodyChose(t *testing.T) {
	url := echo(t)
	cases := map[string]struct {
		reason     string
		cacheBytes int64
		limit      int64
		left       string
	}{
		"Nobody":   {reason: "half of the disk would be 8", limit: 16, left: "/bbb /ccc /ddd /eee"},
		"Operator": {reason: "who names a bound means it", cacheBytes: 8, limit: 8, left: "/ccc /eee"},
		"Room":     {reason: "and one that is larger holds more", cacheBytes: 100, limit: 100, left: "/aaa /bbb /ccc /ddd /eee"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			dir, now := t.TempDir(), ticking()
			for _, text := range []string{"/aaa", "/bbb", "/ccc", "/ddd"} {
				path := filepath.Join(dir, fileOf(sum(text)))
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				if at := now(); os.Chtimes(path, at, at) != nil {
					t.Fatal("its time can't be set")
				}
			}
			c := newCache(t, func(o *Options) {
				o.Dir, o.CacheBytes, o.Half, o.Now = dir, tc.cacheBytes, func() int64 { return 8 }, now
			})
			if r := c.Report(); r.Limit != tc.limit || r.Bytes != 16 || c.Counts().Evictions != 0 {
				t.Errorf("%s: %+v", tc.reason, r)
			}
			c.Need(map[string]Level{sum("/ccc"): Soon, sum("/eee"): Soon, sum("/bbb"): ByPlan})
			has(t, c, url, "/eee")
			if got := left(c, "/aaa", "/bbb", "/ccc", "/ddd", "/eee"); got != tc.left {
				t.Errorf("%s: left %s, want %s", tc.reason, got, tc.left)
			}
		})
	}
}

// TestSlowQueueIsLeft: a download that waits for its turn at a slow server ends once its file is there.
func TestSlowQueueIsLeft(t *testing.T) {
	q := newQueue(1, 1, 0)
	leave, ok := q.enter("slow", nil, nil)
	if !ok {
		t.Fatal("a place is free")
	}
	over := make(chan struct{})
	out := make(chan bool, 1)
	go func() {
		_, ok := q.enter("slow", nil, over)
		out <- ok
	}()
	close(over)
	if <-out {
		t.Error("it has a place")
	}
	leave()
	again, ok := q.enter("slow", nil, nil)
	if !ok {
		t.Fatal("the place is lost")
	}
	again()
	if len(q.busy) != 0 {
		t.Errorf("left behind: %v", q.busy)
	}
}

// TestTurnEnds: downloads that never end, of whatever servers, keep their places for a while and no longer.
func TestTurnEnds(t *testing.T) {
	q := newQueue(2, 1, 20*time.Millisecond)
	var leaves []func()
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		leave, ok := q.enter(name, nil, nil)
		if !ok {
			t.Fatalf("%s has no place", name)
		}
		leaves = append(leaves, leave)
	}
	ended := make(chan struct{})
	close(ended)
	if _, ok := q.enter("a", nil, ended); ok {
		t.Error("one server is asked for more at once than it's to be")
	}
	for _, leave := range leaves {
		leave()
	}
	if len(q.all) != 0 || len(q.busy) != 0 {
		t.Errorf("%d places are lost, and %d servers kept", len(q.all), len(q.busy))
	}
}
