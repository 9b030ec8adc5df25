package artifacts

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

func TestPatience(t *testing.T) {
	fired := time.AfterFunc(time.Hour, func() {})
	defer fired.Stop()
	p := &patient{r: bytes.NewReader(make([]byte, leastProgress+1)), t: fired}
	read := func(n int) {
		t.Helper()
		fired.Stop()
		if _, err := io.ReadFull(p, make([]byte, n)); err != nil {
			t.Fatal(err)
		}
	}
	read(leastProgress - 1)
	if fired.Stop() {
		t.Error("a server that gives a little now and then wins time")
	}
	read(1)
	if !fired.Stop() {
		t.Error("one that makes progress gets no more time")
	}
	fired.Reset(time.Hour)
	if _, err := io.ReadAll(p); err != nil || fired.Stop() {
		t.Errorf("the end stops the clock: %v", err)
	}
	fired.Reset(time.Hour)
	broken := &patient{r: iotest.ErrReader(io.ErrUnexpectedEOF), t: fired}
	if _, err := broken.Read(make([]byte, 1)); err == nil || fired.Stop() {
		t.Errorf("so does an error: %v", err)
	}
}

// TestCorrectedURLIsTriedAtOnce: a failure is that of its URL. Who corrects it needn't wait until it's forgotten.
func TestCorrectedURLIsTriedAtOnce(t *testing.T) {
	url := serving(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/right" {
			_, _ = io.WriteString(w, "kernel")
			return
		}
		http.NotFound(w, r)
	})
	c := newCache(t, nil)
	if err := c.Await(t.Context(), boot.Artifact{URL: url + "/wrong", Digest: sum("kernel")}); err == nil || !strings.Contains(err.Error(), "answered 404 (text/plain)") {
		t.Fatalf("a URL with a slip: %v", err)
	}
	if err := c.Await(t.Context(), boot.Artifact{URL: url + "/right", Digest: sum("kernel")}); err != nil {
		t.Errorf("the corrected one: %v", err)
	}
	if err := c.Await(t.Context(), boot.Artifact{URL: url + "/wrong", Digest: sum("kernel")}); err != nil {
		t.Errorf("what is there is there, wherever it came from: %v", err)
	}
}

// TestTooLargeIsntFetched: a file that says of itself that it's too large is left where it is.
func TestTooLargeIsntFetched(t *testing.T) {
	wrote := make(chan error, 1)
	url := serving(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "1000000")
		if f, ok := w.(http.Flusher); ok {
			f.Flush()
		}
		<-r.Context().Done() // Nobody waits for the rest.
		wrote <- r.Context().Err()
	})
	c := newCache(t, func(o *Options) { o.MaxBytes = 1000 })
	if err := c.Await(t.Context(), boot.Artifact{URL: url, Digest: sum("x")}); err == nil || !strings.Contains(err.Error(), "larger than 1000 bytes") {
		t.Errorf("%v", err)
	}
	if err := <-wrote; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestExactlyTheLargest(t *testing.T) {
	text := strings.Repeat("x", 1000)
	url := serving(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, text) })
	c := newCache(t, func(o *Options) { o.MaxBytes = 1000 })
	if err := c.Await(t.Context(), boot.Artifact{URL: url, Digest: sum(text)}); err != nil {
		t.Error(err)
	}
}

func TestRedirectsAreCounted(t *testing.T) {
	var asked atomic.Int32
	url := serving(t, func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		http.Redirect(w, r, "/again", http.StatusFound)
	})
	if err := newCache(t, nil).Await(t.Context(), boot.Artifact{URL: url, Digest: sum("x")}); err == nil {
		t.Error("there is no end to them")
	}
	if n := asked.Load(); n != maxRedirects+1 {
		t.Errorf("asked %d times, want %d", n, maxRedirects+1)
	}
}

// TestNothingOfAResolver: a tenant wrote the name, and learns nothing of what it stands for.
func TestNothingOfAResolver(t *testing.T) {
	err := newCache(t, nil).Await(t.Context(), boot.Artifact{URL: "http://127.0.0.1:1/x", Digest: sum("x")})
	var why *Error
	if !errors.As(err, &why) || why.Reason != ReasonFetch || strings.Contains(err.Error(), "127.0.0.1") || strings.Contains(err.Error(), "refused") {
		t.Errorf("%v", err)
	}
	if why.Unwrap() == nil || !strings.HasPrefix(err.Error(), "artifact "+sum("x")[:19]+"…: ") {
		t.Errorf("it says which file: %q", err)
	}
}

func TestStartFetches(t *testing.T) {
	url := serving(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "kernel") })
	c := newCache(t, nil)
	c.Start(boot.Artifact{URL: url, Digest: sum("kernel")})
	for end := time.Now().Add(10 * time.Second); !c.Has(sum("kernel")); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it isn't fetched before it's asked for")
		}
	}
	if c.Has("sha256:../x") || c.Has("") {
		t.Error("what is no digest isn't there")
	}
}

func TestCacheThatCantBeWritten(t *testing.T) {
	url := serving(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "kernel") })
	c := newCache(t, func(o *Options) { o.Free = func() (int64, error) { return 1 << 40, nil } })
	if err := os.RemoveAll(c.o.Dir); err != nil {
		t.Fatal(err)
	}
	err := c.Await(t.Context(), boot.Artifact{URL: url, Digest: sum("kernel")})
	if err == nil || !strings.Contains(err.Error(), "bootd can't write its cache") {
		t.Errorf("%v", err)
	}
	if r := c.Report(); r.Files != 0 || r.Bytes != 0 || r.Digests != nil {
		t.Errorf("it holds %+v", r)
	}
}

func TestWordsOfURLs(t *testing.T) {
	for in, want := range map[string]string{"http://h:1/x": "h:1", "%": "", "": ""} {
		if got := hostOf(in); got != want {
			t.Errorf("host of %q: %q, want %q", in, got, want)
		}
	}
	if got := redacted("%"); got != "(malformed)" {
		t.Error(got)
	}
}

// TestOneServerIsntAskedByAll: what one slow server holds up is its own files.
func TestOneServerIsntAskedByAll(t *testing.T) {
	var asked atomic.Int32
	release := make(chan struct{})
	url := serving(t, func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		<-release
		_, _ = io.WriteString(w, r.URL.Path) //nolint:gosec // Octets for a cache, not a page.
	})
	c := newCache(t, nil)
	for i := range perHost + 3 {
		path := "/" + strings.Repeat("x", i)
		c.Start(boot.Artifact{URL: url + path, Digest: sum(path)})
	}
	for end := time.Now().Add(10 * time.Second); asked.Load() < perHost && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(50 * time.Millisecond)
	if n := asked.Load(); n != perHost {
		t.Errorf("%d at once, want %d", n, perHost)
	}
	close(release)
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		if c.Report().Files == perHost+3 {
			return
		}
		if time.Now().After(end) {
			t.Fatal("the others never get their turn")
		}
	}
}

// TestTriedAgain: a source tells every few seconds what is wanted. What failed isn't fetched anew by that alone, or an image whose digest has a slip
// would be, for ever.
func TestTriedAgain(t *testing.T) {
	type step struct {
		after time.Duration
		asks  bool // A machine does; else a source tells again what is wanted.
	}
	cases := map[string]struct {
		reason string
		wrong  bool  // It comes whole, and is another file; else its server is away.
		broken bool  // Nobody says where it ends.
		ahead  Level // What it's told to be wanted for; 0: for a machine.
		steps  []step
		want   int32
	}{
		"Told": {
			reason: "within a minute nothing is fetched for nobody",
			steps:  []step{{after: 6 * time.Second}, {after: 6 * time.Second}, {after: 40 * time.Second}}, want: 1,
		},
		"ToldLater":   {reason: "each minute it is", steps: []step{{after: time.Minute}}, want: 2},
		"Asked":       {reason: "a machine that asks has it tried after five seconds", steps: []step{{after: 6 * time.Second, asks: true}}, want: 2},
		"AskedWrong":  {reason: "what came whole isn't fetched again as soon", wrong: true, steps: []step{{after: 6 * time.Second, asks: true}}, want: 1},
		"AskedAhead":  {reason: "nor when a machine asks for what a profile alone has asked for", wrong: true, ahead: ByProfile, steps: []step{{after: 6 * time.Second, asks: true}}, want: 1},
		"AskedBroken": {reason: "what may have broken off is", wrong: true, broken: true, steps: []step{{after: 6 * time.Second, asks: true}}, want: 2},
		"WrongLater":  {reason: "and is after a minute", wrong: true, steps: []step{{after: time.Minute, asks: true}}, want: 2},
		"AskedSoon":   {reason: "one that asks again and again hammers nobody's server", steps: []step{{after: time.Second, asks: true}}, want: 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var fetched atomic.Int32
			url := serving(t, func(w http.ResponseWriter, _ *http.Request) {
				fetched.Add(1)
				if !tc.wrong {
					w.WriteHeader(http.StatusServiceUnavailable)
				}
				if tc.broken {
					c, _, err := http.NewResponseController(w).Hijack()
					if err != nil {
						t.Error(err)
						return
					}
					_, _ = io.WriteString(c, "HTTP/1.0 200 OK\r\n\r\nanother file")
					_ = c.Close()
					return
				}
				_, _ = io.WriteString(w, "another file")
			})
			var ahead atomic.Int64
			c := newCache(t, func(o *Options) {
				o.Now = func() time.Time { return time.Unix(1, 0).Add(time.Duration(ahead.Load())) }
			})
			a := boot.Artifact{URL: url, Digest: sum("kernel")}
			failed := func() {
				t.Helper()
				awaitReport(t, c, func(r Report) bool { return len(r.Failed) == 1 && len(r.Fetching) == 0 })
			}
			level := cmp.Or(tc.ahead, Soon)
			c.Want(map[boot.Artifact]Level{a: level})
			failed()
			for _, s := range tc.steps {
				ahead.Add(int64(s.after))
				if s.asks {
					_ = c.Await(t.Context(), a)
				} else {
					c.Want(map[boot.Artifact]Level{a: level})
				}
				failed()
			}
			if got := fetched.Load(); got != tc.want {
				t.Errorf("%s: fetched %d times, want %d", tc.reason, got, tc.want)
			}
		})
	}
}
