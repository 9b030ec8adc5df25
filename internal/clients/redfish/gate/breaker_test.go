package gate

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/quirk"
)

// middle is the random number by which a rest is as long as meant.
const middle = 0.5

func TestBreaker(t *testing.T) {
	dead := &redfish.Error{Kind: redfish.Unreachable}
	now := time.Unix(0, 0)
	seconds := []int{0, 0, 2, 4, 8, 16, 32, 64, 120, 120, 120}
	b := breaker{}
	for i, s := range seconds {
		want := time.Duration(s) * time.Second
		b.result(dead, now, middle)
		if got := max(b.until.Sub(now), 0); got != want {
			t.Errorf("after failure %d: left alone for %v, want %v", i+1, got, want)
		}
		if err := b.open(now); (want > 0) != errors.Is(err, dead) {
			t.Errorf("after failure %d: open is %v", i+1, err)
		}
		now = now.Add(want)
		if err := b.open(now); err != nil {
			t.Errorf("after failure %d and its rest: open is %v, want another try", i+1, err)
		}
	}
	for _, err := range []error{nil, &redfish.Error{Kind: redfish.Refused}} {
		b.result(dead, now, middle)
		b.result(err, now, middle)
		if b.open(now) != nil || b.failures != 0 || b.suspect {
			t.Errorf("after an answer (%v): %+v, want a closed breaker", err, b)
		}
	}
}

// TestBreakerJitter: those that went together aren't asked together, and never much sooner or later than meant.
func TestBreakerJitter(t *testing.T) {
	dead := &redfish.Error{Kind: redfish.Unreachable}
	now := time.Unix(0, 0)
	for random, want := range map[float64]time.Duration{0: 96 * time.Second, middle: 120 * time.Second, 0.75: 132 * time.Second} {
		b := breaker{failures: 20}
		b.result(dead, now, random)
		if got := b.until.Sub(now); got != want {
			t.Errorf("random %v: left alone for %v, want %v", random, got, want)
		}
	}
}

// TestSuspect: who is asked again only where a slot is free.
func TestSuspect(t *testing.T) {
	silent := &redfish.Error{Kind: redfish.Unreachable}
	busy := &redfish.Error{Kind: redfish.Unreachable, Status: 503}
	cases := map[string]struct {
		reason string
		got    []error
		want   bool
	}{
		"New":      {reason: "Nobody knows anything bad of it."},
		"Good":     {reason: "It answers.", got: []error{nil}},
		"Silent":   {reason: "It doesn't.", got: []error{nil, silent}, want: true},
		"Busy":     {reason: "It answers, and at once.", got: []error{busy, busy}},
		"BusyLong": {reason: "For too long.", got: []error{busy, busy, busy}, want: true},
		"Back":     {reason: "It answers again.", got: []error{silent, silent, nil}},
		"Refusing": {reason: "No is an answer.", got: []error{silent, &redfish.Error{Kind: redfish.Refused, Status: 400}}},
		"Strange":  {reason: "Half an answer isn't over when another one is refused.", got: []error{silent, busy}, want: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := breaker{}
			for _, err := range tc.got {
				b.result(err, time.Unix(0, 0), middle)
			}
			if b.suspect != tc.want {
				t.Errorf("%s\nsuspect is %t, want %t", tc.reason, b.suspect, tc.want)
			}
		})
	}
}

// TestUnasked: a BMC that may just be slow isn't told to be away at once, for want of a slot to ask it again.
func TestUnasked(t *testing.T) {
	dead, now := &redfish.Error{Kind: redfish.Unreachable}, time.Unix(0, 0)
	b := breaker{}
	b.hurried(dead, now)
	if err := b.unasked(now.Add(benefit - 1)); !b.suspect || !IsBusy(err) {
		t.Errorf("soon: %v", err)
	}
	if err := b.unasked(now.Add(benefit)); !errors.Is(err, dead) {
		t.Errorf("when nobody could ask it for long: %v", err)
	}
	b.result(dead, now, middle)
	if err := b.unasked(now); !errors.Is(err, dead) {
		t.Errorf("once it had all the time and didn't answer: %v", err)
	}
}

// TestBreakerAsked: a BMC that says how long it wants to be left alone is, from the first time on.
func TestBreakerAsked(t *testing.T) {
	busy := &redfish.Error{Kind: redfish.Unreachable, Status: 503, RetryAfter: 30 * time.Second}
	now := time.Unix(0, 0)
	b := breaker{}
	for range 5 {
		b.result(busy, now, middle)
		if !errors.Is(b.open(now.Add(29*time.Second)), busy) {
			t.Error("asked again too early")
		}
		now = now.Add(30 * time.Second)
		if err := b.open(now); err != nil {
			t.Errorf("open is %v, want another try", err)
		}
	}
}

func TestFingerprint(t *testing.T) {
	base := Target{Config: redfish.Config{Username: "u", Password: "p"}, CredentialVersion: "1"}
	for name, change := range map[string]func(*Target){
		"Password": func(t *Target) { t.Password = "q" },
		"User":     func(t *Target) { t.Username = "v" },
		"Version":  func(t *Target) { t.CredentialVersion = "2" },
		"Pins":     func(t *Target) { t.TLS.Pins = []string{"aa"} },
		"Oldest":   func(t *Target) { t.TLS.MinVersion = "TLS10" },
		"Name":     func(t *Target) { t.TLS.ServerName = "bmc.example" },
		"Auth":     func(t *Target) { t.Auth = redfish.AuthBasic },
		"Shifted":  func(t *Target) { t.Username, t.Password = `u" "p`, "" },
		"Quirks":   func(t *Target) { t.Quirks = []quirk.Row{{Name: "q"}} },
		"Loopback": func(t *Target) { t.Guard.AllowLoopback = true },
	} {
		other := base
		change(&other)
		if fingerprint(base) == fingerprint(other) {
			t.Errorf("%s: other settings get the same session", name)
		}
	}
	if same := base; fingerprint(base) != fingerprint(same) {
		t.Error("the same settings get another session")
	}
}

func TestUnusableAddress(t *testing.T) {
	g := New(nil)
	if err := g.Do(t.Context(), Target{Config: redfish.Config{Address: "ftp://x"}}, nil); redfish.KindOf(err) != redfish.Invalid {
		t.Errorf("Do(...): got %v, want an invalid address", err)
	}
	if err := g.Forget(t.Context(), "ftp://x"); err != nil {
		t.Errorf("Forget(...) of an address that was never talked to: %v", err)
	}
}

// TestRefuses: what a BMC refuses isn't sent again, and what it asks for can be looked at again.
func TestRefuses(t *testing.T) {
	cases := map[string]struct {
		reason string
		err    error
		asked  int
		later  int // asked after a while; 0: as often as before
	}{
		"Unauthorized": {reason: "Accounts get locked.", err: &redfish.Error{Kind: redfish.Unauthorized, Status: 401}, asked: 1},
		"Change":       {reason: "So they do by a 401 that says why.", err: &redfish.Error{Kind: redfish.PasswordChangeRequired, Status: 401}, asked: 1},
		"ChangeLater":  {reason: "A 403 doesn't count.", err: &redfish.Error{Kind: redfish.PasswordChangeRequired, Status: 403}, asked: 3},
		"OtherWords":   {reason: "It may be a session that is missing, but not for the next look.", err: &redfish.Error{Kind: redfish.Unauthorized, Status: 403}, asked: 1, later: 2},
		"Full":         {reason: "There may be a session by now.", err: &redfish.Error{Kind: redfish.SessionsFull, Status: 503}, asked: 3},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			asked := 0
			g := New(func(context.Context, redfish.Config) (*redfish.Client, error) {
				asked++

				return nil, tc.err
			})
			now := time.Unix(0, 0)
			g.now = func() time.Time { return now }
			do := func() {
				if err := g.Do(t.Context(), Target{Config: redfish.Config{Address: "10.0.0.1"}, CredentialVersion: "1"}, nil); !errors.Is(err, tc.err) {
					t.Errorf("Do(...): got %v, want %v", err, tc.err)
				}
			}
			for range 3 {
				do()
			}
			if asked != tc.asked {
				t.Errorf("%s\nasked %d times, want %d", tc.reason, asked, tc.asked)
			}
			if tc.asked > 1 {
				return
			}
			now = now.Add(Doubt(0))
			do()
			do()
			if want := max(tc.asked, tc.later); asked != want {
				t.Errorf("%s\nasked %d times after a while, want %d", tc.reason, asked, want)
			}
		})
	}
}

// TestDoubts: what may be something else than a wrong password is tried less and less often, and anew once it was something else.
func TestDoubts(t *testing.T) {
	var asked []int
	minute, refuses := 0, true
	g := New(func(context.Context, redfish.Config) (*redfish.Client, error) {
		asked = append(asked, minute)
		if refuses {
			return nil, &redfish.Error{Kind: redfish.Unauthorized, Status: 403}
		}

		return &redfish.Client{}, nil
	})
	g.now = func() time.Time { return time.Unix(int64(minute)*60, 0) }
	for ; minute < 300; minute++ {
		refuses = minute < 280
		err := g.Do(t.Context(), Target{Config: redfish.Config{Address: "10.0.0.1"}, CredentialVersion: "1"}, func(context.Context, *redfish.Client) error { return nil })
		if (err == nil) != (minute >= 280) {
			t.Fatalf("minute %d: %v", minute, err)
		}
	}
	if want := []int{0, 10, 40, 160, 280}; !slices.Equal(asked, want) {
		t.Errorf("asked in minutes %v, want %v", asked, want)
	}
	gk, err := g.gate(Target{Config: redfish.Config{Address: "10.0.0.1"}})
	if err != nil || len(gk.refused) != 0 {
		t.Errorf("%d doubts are kept (%v), want none", len(gk.refused), err)
	}
}
