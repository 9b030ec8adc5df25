package logging

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// sink is a log that remembers, and how often it was written to.
type sink struct {
	mu     sync.Mutex
	text   bytes.Buffer
	writes int
}

func (s *sink) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writes++
	return s.text.Write(b)
}

func (s *sink) written() (text string, writes int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String(), s.writes
}

// TestLinesAreSlogs: whatever way a line takes, a reader finds what slog.JSONHandler writes.
func TestLinesAreSlogs(t *testing.T) {
	at := time.Date(2026, 8, 1, 10, 0, 0, 123456789, time.FixedZone("x", 3600))
	cases := map[string]struct {
		reason string
		level  slog.Level
		text   string
		attrs  []slog.Attr
	}{
		"Decision": {reason: "texts are written as they stand", text: "script", attrs: []slog.Attr{slog.String("entry", "a/b"), slog.String("reason", "Live")}},
		"Nothing":  {reason: "a line may have no more than its words", text: "ready"},
		"Quotes":   {reason: "what JSON doesn't take is escaped", text: `"a"`, attrs: []slog.Attr{slog.String("k", "\n\\")}},
		"Key":      {reason: "a key, too", text: "x", attrs: []slog.Attr{slog.String(`k"`, "v")}},
		"Foreign":  {reason: "beyond ASCII slog knows best", text: "grüße", attrs: []slog.Attr{slog.String("k", "\u2028\xff")}},
		"Number":   {reason: "what isn't text isn't written as one", text: "x", attrs: []slog.Attr{slog.Int("n", 1), slog.Duration("d", time.Second)}},
		"Group":    {reason: "groups are slog's", text: "x", attrs: []slog.Attr{slog.Group("g", slog.String("k", "v"))}},
		"Empty":    {reason: "an attribute without a name is slog's to judge", text: "x", attrs: []slog.Attr{slog.String("", "v")}},
		"HTML":     {reason: "what HTML would mean stays", text: "<a>&", attrs: []slog.Attr{slog.String("k", "<&>")}},
		"Warning":  {reason: "other levels have other words", level: slog.LevelWarn, text: "x", attrs: []slog.Attr{slog.String("k", "v")}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var want, got bytes.Buffer
			h := New(&got, slog.LevelInfo)
			for _, to := range []slog.Handler{slog.NewJSONHandler(&want, nil), h} {
				for _, with := range []slog.Handler{to, to.WithAttrs([]slog.Attr{slog.String("a", "b")}), to.WithGroup("g")} {
					r := slog.NewRecord(at, tc.level, tc.text, 0)
					r.AddAttrs(tc.attrs...)
					if err := with.Handle(t.Context(), r); err != nil {
						t.Fatal(err)
					}
				}
			}
			h.Flush()
			if diff := cmp.Diff(want.String(), got.String()); diff != "" {
				t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestLinesGoOutTogether(t *testing.T) {
	s := &sink{}
	h := New(s, slog.LevelInfo)
	log := slog.New(h)
	log.Debug("nobody asked for this")
	for range 10 {
		log.Info("script", "entry", "a/b")
	}
	if text, _ := s.written(); text != "" {
		t.Errorf("written at once: %q", text)
	}
	log.Warn("a disk is full")
	if text, n := s.written(); n != 1 || strings.Count(text, "\n") != 11 || !strings.Contains(text, "a disk is full") {
		t.Errorf("after a warning %d writes of %q: want one, of all, in order", n, text)
	}
	log.Info("last")
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if text, _ := s.written(); strings.Contains(text, "last") {
			break
		}
	}
	if text, n := s.written(); n != 2 || !strings.Contains(text, "last") {
		t.Errorf("%d writes, %q: a line that no other follows is written soon", n, text)
	}
	for range 2 * most / 64 {
		log.Info("x", "long", strings.Repeat("x", 64))
	}
	if _, n := s.written(); n < 3 {
		t.Error("much is written before its time")
	}
}
