package artifacts

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// breaking is a server of one file whose connections break off.
type breaking struct {
	mu sync.Mutex
	// text is served with headers; each answer but the last ones ends after as many octets as breaks says.
	text    []byte
	headers map[string]string
	breaks  []int
	// answer, where set, is asked instead for a request with a Range.
	answer http.HandlerFunc
	ranges []string
	ifs    []string
}

// ServeHTTP serves the file, or a part of it.
func (b *breaking) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ranges, b.ifs = append(b.ranges, r.Header.Get("Range")), append(b.ifs, r.Header.Get("If-Range"))
	if b.answer != nil && r.Header.Get("Range") != "" {
		b.answer(w, r)
		return
	}
	for k, v := range b.headers {
		w.Header().Set(k, v)
	}
	out := w
	if len(b.breaks) > 0 {
		out = &cutOff{ResponseWriter: w, left: b.breaks[0]}
		b.breaks = b.breaks[1:]
	}
	at, _ := http.ParseTime(b.headers["Last-Modified"])
	http.ServeContent(out, r, "", at, bytes.NewReader(b.text))
}

// cutOff is an answer that breaks off.
type cutOff struct {
	http.ResponseWriter

	left int
}

func (s *cutOff) Write(b []byte) (int, error) {
	n, err := s.ResponseWriter.Write(b[:min(len(b), s.left)])
	if s.left -= n; s.left == 0 || err != nil {
		if f, ok := s.ResponseWriter.(http.Flusher); ok {
			f.Flush()
		}
		panic(http.ErrAbortHandler)
	}
	return n, nil
}

func (b *breaking) serve(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(b)
	t.Cleanup(s.Close)
	return s.URL
}

// asked are the ranges that were asked for, "" for all.
func (b *breaking) asked() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.ranges)
}

// later is a cache's clock by which no failure stands any more.
func later() func() time.Time {
	now := time.Now()
	var mu sync.Mutex
	return func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		now = now.Add(aheadAgain)
		return now
	}
}

// TestResume: what an earlier life has of a file needn't be fetched again, as long as it's the same file. In doubt all of it is.
func TestResume(t *testing.T) {
	text := []byte("0123456789")
	partOf := func(headers map[string]string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			for k, v := range headers {
				w.Header().Set(k, v)
			}
			w.WriteHeader(http.StatusPartialContent)
			_, _ = w.Write(text[4:])
		}
	}
	etag := map[string]string{"ETag": `"one"`}
	cases := map[string]struct {
		reason  string
		headers map[string]string
		answer  http.HandlerFunc
		path    string
		change  func(b *breaking, dir string)
		want    []string
		ifs     string
	}{
		"ETag":         {reason: "it goes on", headers: etag, want: []string{"", "bytes=4-"}, ifs: `"one"`},
		"LastModified": {reason: "also by time", headers: map[string]string{"Last-Modified": "Mon, 05 Oct 2026 10:00:00 GMT"}, want: []string{"", "bytes=4-"}, ifs: "Mon, 05 Oct 2026 10:00:00 GMT"},
		"Neither":      {reason: "a server that says nothing of its file is asked for all of it", want: []string{"", ""}},
		"Weak":         {reason: "a weak ETag says nothing of bytes", headers: map[string]string{"ETag": `W/"one"`}, want: []string{"", ""}},
		"Changed":      {reason: "another file has no such part: all of it comes", headers: etag, change: func(b *breaking, _ string) { b.headers = map[string]string{"ETag": `"two"`} }, want: []string{"", "bytes=4-"}, ifs: `"one"`},
		"NoRanges": {reason: "a server that gives all of it whatever is asked", headers: etag, answer: func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(text) },
			want: []string{"", "bytes=4-"}, ifs: `"one"`},
		"OtherURL":   {reason: "what another URL serves is another file until its digest says otherwise", headers: etag, path: "/moved", want: []string{"", ""}},
		"WrongPart":  {reason: "another part than asked for", headers: etag, answer: partOf(map[string]string{"Content-Range": "bytes 3-9/10"}), want: []string{"", "bytes=4-", ""}, ifs: `"one"`},
		"MiddlePart": {reason: "not all that's missing", headers: etag, answer: partOf(map[string]string{"Content-Range": "bytes 4-9/20"}), want: []string{"", "bytes=4-", ""}, ifs: `"one"`},
		"NoPart":     {reason: "a part of which isn't said which", headers: etag, answer: partOf(nil), want: []string{"", "bytes=4-", ""}, ifs: `"one"`},
		"OtherPart":  {reason: "a part of another file", headers: etag, answer: partOf(map[string]string{"Content-Range": "bytes 4-9/10", "ETag": `"two"`}), want: []string{"", "bytes=4-", ""}, ifs: `"one"`},
		"AnySize":    {reason: "a part of a file whose size isn't said", headers: etag, answer: partOf(map[string]string{"Content-Range": "bytes 4-9/*"}), want: []string{"", "bytes=4-"}, ifs: `"one"`},
		"Shrunk": {reason: "a file that has become shorter", headers: etag, answer: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusRequestedRangeNotSatisfiable) },
			want: []string{"", "bytes=4-", ""}, ifs: `"one"`},
		"Rotten": {reason: "the part that was there isn't what was fetched", headers: etag, change: func(_ *breaking, dir string) {
			half, _ := filepath.Glob(filepath.Join(dir, "*"+partial))
			_ = os.WriteFile(half[0], []byte("XXXX"), 0o600)
		}, want: []string{"", "bytes=4-", ""}, ifs: `"one"`},
		"Whole": {reason: "bootd ended before it was put into its place", headers: etag, change: func(_ *breaking, dir string) {
			half, _ := filepath.Glob(filepath.Join(dir, "*"+partial))
			_ = os.WriteFile(half[0], text, 0o600)
		}, want: []string{""}},
		"Longer": {reason: "more is there than there is", headers: etag, change: func(_ *breaking, dir string) {
			half, _ := filepath.Glob(filepath.Join(dir, "*"+partial))
			_ = os.WriteFile(half[0], append(slices.Clone(text), 'x'), 0o600)
		}, want: []string{"", "bytes=11-", ""}, ifs: `"one"`},
		"NoNote": {reason: "whose part it is isn't known any more", headers: etag, change: func(_ *breaking, dir string) {
			note, _ := filepath.Glob(filepath.Join(dir, "*"+remnants))
			_ = os.WriteFile(note[0], []byte("{"), 0o600)
		}, want: []string{"", ""}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := &breaking{text: text, headers: tc.headers, breaks: []int{4}}
			url, dir := b.serve(t), t.TempDir()
			a := boot.Artifact{URL: url, Digest: sum(string(text))}
			first := newCache(t, func(o *Options) { o.Dir = dir })
			if err := first.Await(t.Context(), a); err == nil || !strings.Contains(err.Error(), "broke off after 4 bytes") {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			if _, _, err := first.Open(a); err == nil || first.Has(a.Digest) || first.Report().Files != 0 {
				t.Fatalf("%s: half a file is served: %v", tc.reason, err)
			}
			b.mu.Lock()
			b.answer = tc.answer
			if tc.change != nil {
				tc.change(b, dir)
			}
			b.mu.Unlock()
			a.URL += tc.path
			second := newCache(t, func(o *Options) { o.Dir = dir })
			if err := second.Await(t.Context(), a); err != nil {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			if got := read(t, second, a.Digest); got != string(text) {
				t.Errorf("%s: %q", tc.reason, got)
			}
			if got := b.asked(); !slices.Equal(got, tc.want) {
				t.Errorf("%s: asked for %q, want %q", tc.reason, got, tc.want)
			}
			if got := strings.Join(b.ifs, ""); got != tc.ifs {
				t.Errorf("%s: If-Range %q, want %q", tc.reason, got, tc.ifs)
			}
			if n, _ := os.ReadDir(dir); len(n) != 1 || second.Report().Bytes != int64(len(text)) {
				t.Errorf("%s: %v lie there, %+v", tc.reason, n, second.Report())
			}
		})
	}
}

// TestGoesOnByItself: nobody has to ask again while a download makes progress.
func TestGoesOnByItself(t *testing.T) {
	text := bytes.Repeat([]byte("0123456789abcdef"), 5<<16) // 5 MiB
	b := &breaking{text: text, headers: map[string]string{"ETag": `"one"`}, breaks: []int{2 << 20, 2 << 20}}
	c := newCache(t, nil)
	a := boot.Artifact{URL: b.serve(t), Digest: sum(string(text))}
	if err := c.Await(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	if got := b.asked(); len(got) != 3 || got[0] != "" || !strings.HasPrefix(got[1], "bytes=") || c.Counts().Resumed != 2 {
		t.Errorf("asked for %q, %+v", got, c.Counts())
	}
}

// TestPartialWaitsForItsServer: a server that is away for a while costs no byte that came before.
func TestPartialWaitsForItsServer(t *testing.T) {
	text := []byte("0123456789")
	b := &breaking{text: text, headers: map[string]string{"ETag": `"one"`}, breaks: []int{4}}
	b.answer = func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }
	c := newCache(t, func(o *Options) { o.Now = later() })
	a := boot.Artifact{URL: b.serve(t), Digest: sum(string(text))}
	for _, says := range []string{"broke off", "answered 503", "answered 503"} {
		if err := c.Await(t.Context(), a); err == nil || !strings.Contains(err.Error(), says) {
			t.Fatalf("%v, want %s", err, says)
		}
	}
	b.mu.Lock()
	b.answer = nil
	b.mu.Unlock()
	if err := c.Await(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	if got := b.asked(); !slices.Equal(got, []string{"", "bytes=4-", "bytes=4-", "bytes=4-"}) {
		t.Errorf("asked for %q", got)
	}
}

// TestKilledInTheMiddle: a bootd that had no time to say goodbye has what had come all the same.
func TestKilledInTheMiddle(t *testing.T) {
	hang := make(chan struct{})
	url := serving(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"one"`)
		if r.Header.Get("Range") == "bytes=4-" {
			w.Header().Set("Content-Range", "bytes 4-9/10")
			w.WriteHeader(http.StatusPartialContent)
			_, _ = w.Write([]byte("456789"))
			return
		}
		w.Header().Set("Content-Length", "10")
		_, _ = w.Write([]byte("0123"))
		if f, ok := w.(http.Flusher); ok {
			f.Flush()
		}
		select {
		case <-hang:
		case <-r.Context().Done():
		}
	})
	t.Cleanup(func() { close(hang) })
	killed := newCache(t, nil)
	a := boot.Artifact{URL: url, Digest: sum("0123456789")}
	killed.Start(a)
	half := filepath.Join(killed.o.Dir, halfName(a))
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		if i, err := os.Stat(half); err == nil && i.Size() == 4 {
			break
		}
		if time.Now().After(end) {
			t.Fatal("nothing comes")
		}
	}
	dir := t.TempDir() // What the next life finds; this one goes on in its own folder.
	if err := os.CopyFS(dir, os.DirFS(killed.o.Dir)); err != nil {
		t.Fatal(err)
	}
	next := newCache(t, func(o *Options) { o.Dir = dir })
	if next.Has(a.Digest) || next.Report().Files != 0 {
		t.Error("half a file is served")
	}
	if err := next.Await(t.Context(), a); err != nil || read(t, next, a.Digest) != "0123456789" {
		t.Error(err)
	}
}
