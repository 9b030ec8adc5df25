package keyring

import (
	"bytes"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestNotWritten holds that a key that can't be written down isn't used, that it's said once, and that a later look does it.
func TestNotWritten(t *testing.T) {
	t.Parallel()
	for name, blocked := range map[string]string{"Previous": previous, "Current": current} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			put(t, dir, current, key('a'), life)
			block := filepath.Join(dir, blocked+".new") // No file is made where a folder is.
			if err := os.Mkdir(block, 0o700); err != nil {
				t.Fatal(err)
			}
			var log strings.Builder
			r, err := open(dir, noon, fresh(), slog.New(slog.NewTextHandler(&log, nil)))
			if err != nil {
				t.Fatalf("what it has is good for longer: %v", err)
			}
			r.turn()
			if got := names(r.Keys()...); got != "a" || strings.Count(log.String(), "no new token key") != 1 {
				t.Errorf("keys %s, and the log says:\n%s", got, log.String())
			}
			if err := os.Remove(block); err != nil {
				t.Fatal(err)
			}
			r.turn()
			if got := r.Keys(); len(got) != 2 || names(got[1]) != "a" {
				t.Errorf("once it can be written: %s", names(got...))
			}
			if diff := cmp.Diff(held{Current: names(r.Keys()[0]), Previous: "a"}, heldIn(t, dir, noon())); diff != "" {
				t.Errorf("-want, +got:\n%s", diff)
			}
		})
	}
}

func TestOpenFails(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		before func(dir string) error
		random []byte
		want   string
	}{
		"Unreadable":         {"not to know the key isn't to have none", func(dir string) error { return os.Mkdir(filepath.Join(dir, current), 0o700) }, key('n'), "cannot read the token key"},
		"PreviousUnreadable": {"nor is it of the one before", func(dir string) error { return os.Mkdir(filepath.Join(dir, previous), 0o700) }, key('n'), "cannot read the token key"},
		"NoRandomness":       {"a short key is none", func(string) error { return nil }, []byte("short"), "cannot make a token key"},
		"NotWritten":         {"a first key that isn't kept turns machines away", os.Remove, key('n'), "cannot keep the token key"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := tc.before(dir); err != nil {
				t.Fatal(err)
			}
			if _, err := open(dir, noon, bytes.NewReader(tc.random), slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s: got %v, want %q", tc.reason, err, tc.want)
			}
			if _, err := os.Stat(filepath.Join(dir, current)); tc.random[0] == 's' && !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s: a file was made all the same: %v", tc.reason, err)
			}
		})
	}
}

// TestRun turns the keys while others read them.
func TestRun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		r, err := Open(dir, time.Now, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		first := r.Keys()[0]
		var wg sync.WaitGroup
		wg.Go(func() { r.Run(t.Context()) })
		for range 3 {
			wg.Go(func() {
				for range int(life / time.Hour) {
					if n := len(r.Keys()); n < 1 || n > 2 {
						t.Errorf("%d keys", n)
					}
					time.Sleep(time.Hour)
				}
			})
		}
		time.Sleep(life + every)
		if got := r.Keys(); len(got) != 2 || bytes.Equal(got[0], first) || !bytes.Equal(got[1], first) {
			t.Errorf("after a week: %d keys", len(got))
		}
	})
}
