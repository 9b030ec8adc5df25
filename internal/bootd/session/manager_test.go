package session

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

var errBoom = errors.New("boom")

func TestOneOfManyBootsConsumes(t *testing.T) {
	// Three bootds open and consume one grant for many boots at once, as often as they like: exactly one
	// boot wins, and all bootds let that one go on.
	for round := range 20 {
		a := newAPI(granted())
		dir := t.TempDir()
		var managers []*Manager
		for i := range 3 {
			managers = append(managers, bootd(t, a, fmt.Sprintf("bootd-%d", i), dir))
		}
		var won sync.Map
		var wg sync.WaitGroup
		for i := range 5 {
			nonce := fmt.Sprintf("%015x1", i+1)
			for _, m := range managers {
				wg.Go(func() {
					_ = m.Open(t.Context(), plan(), token(nonce), fresh())
					for range 3 {
						if m.Consume(t.Context(), plan(), token(nonce)) == nil {
							won.Store(nonce, true)
						}
					}
				})
			}
		}
		wg.Wait()
		count, winner := 0, ""
		won.Range(func(k, _ any) bool { count++; winner, _ = k.(string); return true })
		c := a.record(machine()).Session.Consumed
		if count > 1 || count == 1 && (c == nil || c.Nonce != winner) {
			t.Fatalf("round %d: %d boots won (%s), the session says %+v", round, count, winner, c)
		}
		if c == nil {
			continue // Each was superseded by a later script: that's allowed, installing twice isn't.
		}
		for _, m := range managers {
			if err := m.Consume(t.Context(), plan(), token(c.Nonce)); err != nil {
				t.Errorf("round %d: the boot that won may go on at every bootd: %v", round, err)
			}
		}
	}
}

func TestRevokeAndConsumeDontBothWin(t *testing.T) {
	for round := range 50 {
		a := newAPI(granted())
		m := bootd(t, a, "bootd", t.TempDir())
		if err := m.Open(t.Context(), plan(), token(nonceA), fresh()); err != nil {
			t.Fatal(err)
		}
		var consumed error
		var before bool
		var wg sync.WaitGroup
		wg.Go(func() { consumed = m.Consume(t.Context(), plan(), token(nonceA)) })
		wg.Go(func() {
			a.edit(machine(), func(r *Record) { before = r.Session.Consumed != nil; r.Session.Revocation = "r" })
		})
		wg.Wait()
		if (consumed == nil) != before {
			t.Fatalf("round %d: consumed: %v, and the revocation saw it consumed: %t", round, consumed, before)
		}
	}
}

func TestConsume(t *testing.T) {
	cases := map[string]struct {
		reason string
		open   []string
		edit   func(*Record)
		token  boot.Claims
		want   error
	}{
		"Opened": {
			reason: "the boot whose script was served last uses the grant",
			open:   []string{nonceA}, token: token(nonceA),
		},
		"NeverOpened": {
			reason: "a token alone isn't enough: its script must have been recorded",
			token:  token(nonceA), want: boot.ErrNoGrant,
		},
		"Superseded": {
			reason: "an older script's token counts no more",
			open:   []string{nonceA, nonceB}, token: token(nonceA), want: boot.ErrSuperseded,
		},
		"Revoked": {
			reason: "a closed session gives nothing",
			open:   []string{nonceA}, edit: func(r *Record) { r.Session.Revocation = "r" }, token: token(nonceA), want: boot.ErrRevoked,
		},
		"OtherEntry": {
			reason: "a session that was made anew under the old name is of another entry",
			open:   []string{nonceA}, edit: func(r *Record) { r.Session.EntryUID = "later" }, token: token(nonceA), want: boot.ErrNoGrant,
		},
		"ForeignToken": {
			reason: "a token of another entry opens nothing here",
			open:   []string{nonceA}, token: boot.Claims{Entry: boot.KeyOf("x"), GrantID: grantID, Nonce: nonceA}, want: boot.ErrNoGrant,
		},
		"Expired": {
			reason: "a grant ends",
			open:   []string{nonceA},
			edit: func(r *Record) {
				g := *r.Session.Grant
				g.Expires = start()
				r.Session.Grant = &g
			},
			token: token(nonceA), want: boot.ErrExpired,
		},
		"GrantedAnew": {
			reason: "the same generation under another grant id, as a restored provider makes it, is another grant",
			open:   []string{nonceA},
			edit: func(r *Record) {
				g := *r.Session.Grant
				g.ID = "00000000000000bb"
				r.Session.Grant = &g
			},
			token: token(nonceA), want: boot.ErrNoGrant,
		},
		"PlanChanged": {
			reason: "the profile was edited after the script: what was granted isn't what would be given",
			open:   []string{nonceA},
			edit: func(r *Record) {
				g := *r.Session.Grant
				g.PlanDigest = "sha256:old"
				r.Session.Grant = &g
			},
			token: token(nonceA), want: boot.ErrNoGrant,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			a := newAPI(granted())
			m := bootd(t, a, "bootd", t.TempDir())
			for _, n := range tc.open {
				if err := m.Open(t.Context(), plan(), token(n), fresh()); err != nil {
					t.Fatal(err)
				}
			}
			if tc.edit != nil {
				a.edit(machine(), tc.edit)
			}
			err := m.Consume(t.Context(), plan(), tc.token)
			if diff := cmp.Diff(tc.want, err, cmpopts.EquateErrors()); diff != "" {
				t.Errorf("%s: -want +got:\n%s", tc.reason, diff)
			}
			if got := a.record(machine()).Session.Consumed != nil; got != (tc.want == nil) {
				t.Errorf("%s: consumed is %t", tc.reason, got)
			}
			if got := len(m.Logged("entry", "host")); (got == 1) != (tc.want == nil) {
				t.Errorf("%s: %d consumptions logged", tc.reason, got)
			}
		})
	}
}

func TestOpen(t *testing.T) {
	a := newAPI(granted())
	m := bootd(t, a, "bootd", t.TempDir())
	for i := range 10 {
		if err := m.Open(t.Context(), plan(), token(nonceA), fresh()); err != nil {
			t.Fatalf("a repeat of the same request (%d): %v", i, err)
		}
	}
	if got := a.record(machine()); len(got.Session.Opened) != 1 || a.writes != 1 {
		t.Errorf("repeats must not count: %d opened, %d writes", len(got.Session.Opened), a.writes)
	}
	for i := range boot.MaxOpens - 1 {
		if err := m.Open(t.Context(), plan(), token(fmt.Sprintf("%015x1", 100+i)), fresh()); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.Open(t.Context(), plan(), token(nonceB), fresh()); !errors.Is(err, boot.ErrBootLoop) {
		t.Errorf("after %d scripts: %v", boot.MaxOpens, err)
	}
	writes := a.writes
	for _, nonce := range []string{nonceB, nonceA} {
		if err := m.Open(t.Context(), plan(), token(nonce), fresh()); !errors.Is(err, boot.ErrBootLoop) && !errors.Is(err, boot.ErrSuperseded) || a.writes != writes {
			t.Errorf("once it's known: %v, %d writes", err, a.writes-writes)
		}
	}
	if err := m.Consume(t.Context(), plan(), token(fmt.Sprintf("%015x1", 100+boot.MaxOpens-2))); !errors.Is(err, boot.ErrBootLoop) || a.record(machine()).Session.Consumed != nil {
		t.Errorf("the fifth boot, after the sixth has begun: %v, %+v", err, a.record(machine()).Session)
	}
	if err := m.Open(t.Context(), plan(), boot.Claims{GrantID: "00000000000000bb", Nonce: nonceB}, fresh()); !errors.Is(err, boot.ErrNoGrant) {
		t.Errorf("a grant that isn't there: %v", err)
	}
}

// died is what a crashed process does at a failpoint: nothing more.
type died struct{ point string }

func crashAt(m *Manager, point string, f func()) (crashed bool) {
	m.o.Crash = func(p string) {
		if p == point {
			panic(died{p})
		}
	}
	defer func() {
		if p := recover(); p != nil {
			if _, ok := p.(died); !ok {
				panic(p)
			}
			crashed = true
		}
	}()
	f()
	return false
}

func TestCrash(t *testing.T) {
	for _, point := range []string{"bootd-before-consume", "bootd-after-log", "bootd-after-consume"} {
		t.Run(point, func(t *testing.T) {
			a, dir := newAPI(granted()), t.TempDir()
			m := bootd(t, a, "bootd", dir)
			if err := m.Open(t.Context(), plan(), token(nonceA), fresh()); err != nil {
				t.Fatal(err)
			}
			if !crashAt(m, point, func() { _ = m.Consume(t.Context(), plan(), token(nonceA)) }) {
				t.Fatal("the failpoint wasn't reached")
			}
			again := bootd(t, a, "bootd", dir)
			if err := again.Consume(t.Context(), plan(), token(nonceA)); err != nil {
				t.Errorf("the same boot must go on: %v", err)
			}
			if err := again.Consume(t.Context(), plan(), token(nonceB)); !errors.Is(err, boot.ErrConsumed) {
				t.Errorf("any other boot must be refused: %v", err)
			}
			if err := again.Open(t.Context(), plan(), token(nonceB), fresh()); !errors.Is(err, boot.ErrConsumed) {
				t.Errorf("no other script may be served: %v", err)
			}
		})
	}
}

func TestCrashThenAnotherBoot(t *testing.T) {
	a, dir := newAPI(granted()), t.TempDir()
	m := bootd(t, a, "bootd", dir)
	_ = m.Open(t.Context(), plan(), token(nonceA), fresh())
	if !crashAt(m, "bootd-after-log", func() { _ = m.Consume(t.Context(), plan(), token(nonceA)) }) {
		t.Fatal("the failpoint wasn't reached")
	}
	again := bootd(t, a, "bootd", dir)
	if err := again.Open(t.Context(), plan(), token(nonceB), fresh()); !errors.Is(err, boot.ErrConsumed) {
		t.Errorf("the machine was reset; what the log says was used stays used: %v", err)
	}
	if c := a.record(machine()).Session.Consumed; c == nil || c.Nonce != nonceA {
		t.Errorf("the log must be written back, got %+v", c)
	}
}

func TestRestoredEtcd(t *testing.T) {
	a := newAPI(granted())
	m := bootd(t, a, "bootd", t.TempDir())
	_ = m.Open(t.Context(), plan(), token(nonceA), fresh())
	before := a.record(machine())
	if err := m.Consume(t.Context(), plan(), token(nonceA)); err != nil {
		t.Fatal(err)
	}
	a.edit(machine(), func(r *Record) { *r = before })
	r := a.record(machine())
	if err := m.Seen(r); err != nil {
		t.Fatal(err)
	}
	at := Revision(r.Session.Revision)
	if got := m.Synced(at + 5); got != at-1 {
		t.Errorf("what lacks a consumption must not be announced as compared: %d, want %d", got, at-1)
	}
	if err := m.Open(t.Context(), plan(), token(nonceB), fresh()); !errors.Is(err, boot.ErrConsumed) {
		t.Errorf("a second install: %v", err)
	}
	r = a.record(machine())
	if err := m.Seen(r); err != nil || m.Synced(1000) != 1000 {
		t.Errorf("after the write-back all is compared: %v, %d", err, m.Synced(1000))
	}
	// The provider that was restored too grants the generation anew.
	a.edit(machine(), func(r *Record) {
		g := *r.Session.Grant
		g.ID = "00000000000000bb"
		r.Session.Grant, r.Session.Consumed = &g, nil
	})
	if err := m.Open(t.Context(), plan(), boot.Claims{GrantID: "00000000000000bb", Nonce: nonceB}, fresh()); !errors.Is(err, boot.ErrConsumed) {
		t.Errorf("the same generation granted anew: %v", err)
	}
}

func TestLogBeforeAPI(t *testing.T) {
	a := newAPI(granted())
	m := bootd(t, a, "bootd", t.TempDir())
	_ = m.Open(t.Context(), plan(), token(nonceA), fresh())
	logged := false
	a.before = func(r Record) error {
		logged = r.Session.Consumed == nil || len(m.Logged("entry", "host")) == 1
		return nil
	}
	if err := m.Consume(t.Context(), plan(), token(nonceA)); err != nil || !logged {
		t.Errorf("the log must have it before the API hears of it: %v", err)
	}
}

func TestUncertainWrite(t *testing.T) {
	cases := map[string]struct {
		reason        string
		before, after func(Record) error
	}{
		"NotWritten": {reason: "the API didn't get it", before: func(Record) error { return errBoom }},
		"Written":    {reason: "the API got it, and its answer was lost", after: func(Record) error { return errBoom }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			a := newAPI(granted())
			m := bootd(t, a, "bootd", t.TempDir())
			_ = m.Open(t.Context(), plan(), token(nonceA), fresh())
			a.before, a.after = tc.before, tc.after
			told := 0
			m.o.Consumed = func() { told++ }
			if err := m.Consume(t.Context(), plan(), token(nonceA)); !errors.Is(err, errBoom) {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			a.before, a.after = nil, nil
			if err := m.Consume(t.Context(), plan(), token(nonceB)); !errors.Is(err, boot.ErrConsumed) {
				t.Errorf("%s: another boot: %v", tc.reason, err)
			}
			for range 2 {
				if err := m.Consume(t.Context(), plan(), token(nonceA)); err != nil {
					t.Errorf("%s: the same boot: %v", tc.reason, err)
				}
			}
			if told != 1 {
				t.Errorf("%s: its use is told %d times", tc.reason, told)
			}
		})
	}
}

func TestConflictTakesTheIntentBack(t *testing.T) {
	// Between read and write another bootd serves a newer script: the older boot is refused, and its
	// intent must not stand against the newer one.
	a := newAPI(granted())
	dir := t.TempDir()
	m, other := bootd(t, a, "a", dir), bootd(t, a, "b", dir)
	_ = m.Open(t.Context(), plan(), token(nonceA), fresh())
	var once atomic.Bool
	m.o.Crash = func(p string) {
		if p == "bootd-after-log" && !once.Swap(true) {
			if err := other.Open(context.Background(), plan(), token(nonceB), fresh()); err != nil {
				t.Error(err)
			}
		}
	}
	if err := m.Consume(t.Context(), plan(), token(nonceA)); !errors.Is(err, boot.ErrSuperseded) {
		t.Errorf("the older boot: %v", err)
	}
	if err := m.Consume(t.Context(), plan(), token(nonceB)); err != nil {
		t.Errorf("the newer boot: %v", err)
	}
}

func TestOpenAndConsume(t *testing.T) {
	a := newAPI(granted())
	m := bootd(t, a, "bootd", t.TempDir())
	for range 3 {
		if err := m.OpenAndConsume(t.Context(), plan(), token(nonceA), fresh()); err != nil {
			t.Fatal(err)
		}
	}
	if r := a.record(machine()); a.writes != 1 || r.Session.Consumed == nil || len(r.Session.Opened) != 1 {
		t.Errorf("one write does both: %d writes, %+v", a.writes, r.Session)
	}
	if err := m.OpenAndConsume(t.Context(), plan(), token(nonceB), fresh()); !errors.Is(err, boot.ErrConsumed) {
		t.Errorf("another boot: %v", err)
	}
}
