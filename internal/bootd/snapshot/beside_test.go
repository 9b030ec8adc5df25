package snapshot

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// flushed writes what was offered.
func flushed(t *testing.T, s *Snapshot) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Run(ctx, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
}

// TestBeside says when something lies beside a snapshot at the next start.
func TestBeside(t *testing.T) {
	file := func(dir string) string { return filepath.Join(dir, besideName) }
	bend := func(change func([]byte) []byte) func(t *testing.T, s *Snapshot, st *boot.State) {
		return func(t *testing.T, s *Snapshot, _ *boot.State) {
			t.Helper()
			b, err := os.ReadFile(file(s.dir))
			if err == nil {
				err = os.WriteFile(file(s.dir), change(b), 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	cases := map[string]struct {
		reason string
		then   func(t *testing.T, s *Snapshot, st *boot.State)
		want   string
		wrong  bool
	}{
		"There":    {reason: "it lies beside the state that it was offered for", want: "text"},
		"NewState": {reason: "bootd was killed before what belongs to a newer snapshot was written", then: func(t *testing.T, s *Snapshot, _ *boot.State) { t.Helper(); s.Offer(state(), nil); flushed(t, s) }},
		"SameState": {
			reason: "each write is one of its own: what is beside the one before isn't taken for its own",
			then:   func(t *testing.T, s *Snapshot, st *boot.State) { t.Helper(); s.Offer(st, nil); flushed(t, s) },
		},
		"OfBefore": {
			reason: "what's offered for a state that isn't the newest any more is dropped",
			then: func(t *testing.T, s *Snapshot, st *boot.State) {
				t.Helper()
				s.Offer(state(), nil)
				s.OfferBeside(st, []byte("other"))
				flushed(t, s)
			},
		},
		"Later": {
			reason: "it may come when the state was written", want: "more",
			then: func(t *testing.T, s *Snapshot, st *boot.State) {
				t.Helper()
				s.OfferBeside(st, []byte("more"))
				flushed(t, s)
			},
		},
		"Gone":      {reason: "somebody removed it", then: func(t *testing.T, s *Snapshot, _ *boot.State) { t.Helper(); _ = os.Remove(file(s.dir)) }},
		"Bent":      {reason: "its checksum doesn't match", then: bend(func(b []byte) []byte { b[len(b)-1] ^= 1; return b }), wrong: true},
		"BentID":    {reason: "nor does it where its snapshot is named", then: bend(func(b []byte) []byte { b[len(besideFormat)+40] ^= 1; return b }), wrong: true},
		"Cut":       {reason: "its end is missing", then: bend(func(b []byte) []byte { return b[:len(b)-1] }), wrong: true},
		"Short":     {reason: "even its checksum is", then: bend(func([]byte) []byte { return []byte(besideFormat + "x") }), wrong: true},
		"Empty":     {reason: "a crash of the machine may leave that", then: bend(func([]byte) []byte { return nil })},
		"Later2":    {reason: "another format", then: bend(func(b []byte) []byte { return bytes.Replace(b, []byte("source 1"), []byte("source 2"), 1) })},
		"OtherName": {reason: "a snapshot of an earlier program names none", then: func(t *testing.T, s *Snapshot, st *boot.State) { t.Helper(); unnamed(t, s, st) }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s, st := In(t.TempDir()), state()
			s.Offer(st, nil)
			s.OfferBeside(st, []byte("text"))
			flushed(t, s)
			if tc.then != nil {
				tc.then(t, s, st)
			}
			s = In(s.dir)
			if st, _, err := s.Load(); st == nil || err != nil {
				t.Fatal(err)
			}
			if got, err := s.Beside(); got != tc.want || (err != nil) != tc.wrong {
				t.Errorf("%s: %q, %v, want %q", tc.reason, got, err, tc.want)
			}
			if i, err := os.Stat(file(s.dir)); err == nil && i.Mode().Perm() != 0o600 {
				t.Errorf("others may read it: %s", i.Mode())
			}
		})
	}
}

// unnamed writes a snapshot as earlier programs did.
func unnamed(t *testing.T, s *Snapshot, st *boot.State) {
	t.Helper()
	b, err := encoded(st, nil)
	if err == nil {
		err = os.WriteFile(filepath.Join(s.dir, fileName), b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestBesideLoaded: what is known of a state that was loaded may be kept beside it, without writing it again.
func TestBesideLoaded(t *testing.T) {
	s := In(t.TempDir())
	if err := s.save(state(), nil); err != nil {
		t.Fatal(err)
	}
	s = In(s.dir)
	st, _, err := s.Load()
	if err != nil {
		t.Fatal(err)
	}
	s.OfferBeside(st, []byte("text"))
	flushed(t, s)
	s = In(s.dir)
	if _, _, err := s.Load(); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Beside(); got != "text" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}
