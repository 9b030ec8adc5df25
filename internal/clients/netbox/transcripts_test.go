package netbox_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// token is looked for in every error.
const token = "0123456789abcdef0123456789abcdef01234567"

// versions are the recorded NetBoxes.
func versions() []string { return []string{"4.2.9", "4.4.10", "4.6.8", "4.7.0-beta1"} }

// A transcript is one recorded request with its answer.
type transcript struct {
	Name          string            `json:"name"`
	Method        string            `json:"method"`
	Path          string            `json:"path"`
	Body          json.RawMessage   `json:"body"`
	Status        int               `json:"status"`
	AnswerHeaders map[string]string `json:"answerHeaders"`
	Answer        json.RawMessage   `json:"answer"`
}

// transcripts are those that the emulator plays too, and those of sources.
func transcripts(tb testing.TB, version string) map[string]transcript {
	tb.Helper()
	out := map[string]transcript{}
	for _, folder := range []string{"testdata", "testdata/sources"} {
		b, err := os.ReadFile(filepath.Join(folder, version+".jsonl"))
		if err != nil {
			tb.Fatal(err)
		}
		for line := range bytes.Lines(b) {
			var tr transcript
			if err := json.Unmarshal(line, &tr); err != nil {
				tb.Fatal(err)
			}
			number, _, _ := strings.Cut(tr.Name, "-")
			out[number] = tr
		}
	}
	return out
}

// A seen is what the server saw of one request.
type seen struct {
	Method, Path, Query string
	Header              http.Header
	Body                map[string]any
}

// A script answers request after request from a list, and keeps what it saw.
type script struct {
	t       testing.TB
	answers []transcript
	// loose takes bodies that aren't an object.
	loose bool

	mu   sync.Mutex
	seen []seen
}

func (s *script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b, _ := io.ReadAll(r.Body)
	var body map[string]any
	if len(b) > 0 {
		if err := json.Unmarshal(b, &body); err != nil && !s.loose {
			s.t.Errorf("%s %s: the body isn't one object: %v", r.Method, r.URL, err)
		}
	}
	s.seen = append(s.seen, seen{r.Method, r.URL.Path, r.URL.RawQuery, r.Header.Clone(), body})
	if len(s.seen) > len(s.answers) {
		s.t.Errorf("unexpected request %d: %s %s", len(s.seen), r.Method, r.URL)
		w.WriteHeader(http.StatusTeapot)
		return
	}
	a := s.answers[len(s.seen)-1]
	for k, v := range a.AnswerHeaders {
		w.Header().Set(k, v)
	}
	w.WriteHeader(a.Status)
	if a.Status != http.StatusNoContent && !bytes.Equal(a.Answer, []byte("null")) {
		_, _ = w.Write(a.Answer)
	}
}

// requests returns "METHOD path" of what was seen.
func (s *script) requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for _, r := range s.seen {
		out = append(out, r.Method+" "+r.Path)
	}
	return out
}

func newClient(tb testing.TB, url string, opts ...netbox.Option) *netbox.Client {
	tb.Helper()
	c, err := netbox.New(netbox.Config{URL: url, Token: token, MarkerField: "claim_id", RequestsPerSecond: 1000}, opts...)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(c.Close)
	return c
}

// play serves the numbered transcripts in order and returns a client of them.
func play(tb testing.TB, version string, numbers ...string) (*netbox.Client, *script) {
	tb.Helper()
	all := transcripts(tb, version)
	s := &script{t: tb}
	for _, n := range numbers {
		tr, ok := all[n]
		if !ok {
			tb.Fatalf("no transcript %s of %s", n, version)
		}
		s.answers = append(s.answers, tr)
	}
	return serve(tb, s), s
}

func serve(tb testing.TB, h http.Handler) *netbox.Client {
	tb.Helper()
	srv := httptest.NewServer(h)
	tb.Cleanup(srv.Close)
	return newClient(tb, srv.URL)
}

// made is an answer written by hand, for what was never recorded.
func made(status int, body string) transcript {
	return transcript{Status: status, Answer: json.RawMessage(body), AnswerHeaders: map[string]string{"Content-Type": "application/json"}}
}

func serveAt(tb testing.TB, h http.Handler, now func() time.Time) *netbox.Client {
	tb.Helper()
	srv := httptest.NewServer(h)
	tb.Cleanup(srv.Close)
	return newClient(tb, srv.URL, netbox.WithClock(now))
}
