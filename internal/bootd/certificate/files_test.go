package certificate

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestUnreadable: whoever is told anything waits for no file that can't be read: a pipe, what has no end, a mount that doesn't answer. The last good pair is served.
func TestUnreadable(t *testing.T) {
	cases := map[string]struct {
		reason string
		breaks func(f files) error
		says   string
	}{
		"Pipe":   {"nobody may ever write to it", func(f files) error { return errors.Join(os.Remove(f.key), syscall.Mkfifo(f.key, 0o600)) }, "it's no regular file"},
		"Device": {"it has no end", func(f files) error { return errors.Join(os.Remove(f.cert), os.Symlink("/dev/zero", f.cert)) }, "it's no regular file"},
		"Large":  {"nor is it read to its end", func(f files) error { return os.Truncate(f.cert, most+1) }, "it's larger than 1 MiB"},
	}
	for what, tc := range cases {
		t.Run(what, func(t *testing.T) {
			f, now := newFiles(t), t0()
			var log bytes.Buffer
			f.renew("one", 90*24*time.Hour)
			p, err := Read(f.cert, f.key, func() time.Time { return now }, slog.New(slog.NewTextHandler(&log, nil)))
			if err != nil {
				t.Fatal(err)
			}
			if err := tc.breaks(f); err != nil {
				t.Fatal(err)
			}
			for range 3 {
				now = now.Add(2 * often)
				if got := name(t, p); got != "one" {
					t.Errorf("%s: %q is served", tc.reason, got)
				}
			}
			if n := strings.Count(log.String(), tc.says); n != 1 {
				t.Errorf("%s: it's said %d times:\n%s", tc.reason, n, log.String())
			}
			f.renew("two", 90*24*time.Hour)
			now = now.Add(2 * often)
			if got := name(t, p); got != "two" {
				t.Errorf("%s: %q is served once it's right again", tc.reason, got)
			}
		})
	}
}

// TestStalled: a mount that doesn't answer is waited for once, and shortly.
func TestStalled(t *testing.T) {
	f, now := newFiles(t), t0()
	var log bytes.Buffer
	f.renew("one", 90*24*time.Hour)
	p, err := Read(f.cert, f.key, func() time.Time { return now }, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	answers, over := make(chan struct{}), make(chan struct{})
	p.reads = func(path string) ([]byte, error) {
		<-answers
		if path == f.key {
			defer close(over)
		}
		return os.ReadFile(path)
	}
	f.renew("two", 90*24*time.Hour)
	for range 100 { // Each second a handshake, and each look that's waited for would take a tenth of one.
		now = now.Add(2 * often)
		if got := name(t, p); got != "one" {
			t.Fatalf("%q is served before it could be read", got)
		}
	}
	if n := strings.Count(log.String(), "isn't read at once"); n != 1 {
		t.Errorf("it's said %d times:\n%s", n, log.String())
	}
	close(answers)
	<-over
	now = now.Add(30 * 24 * time.Hour) // Nobody booted for a month, in which it was renewed again.
	p.reads = os.ReadFile
	f.renew("three", 120*24*time.Hour)
	for len(p.looking) == 0 { // The look of before comes back.
		time.Sleep(time.Millisecond)
	}
	if got := name(t, p); got != "three" {
		t.Errorf("%q is served first after a month", got)
	}
}
