package gate

import (
	"errors"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/quirk"
)

func TestBreaker(t *testing.T) {
	dead := &redfish.Error{Kind: redfish.Unreachable}
	now := time.Unix(0, 0)
	rests := []time.Duration{0, 0, 2 * time.Second, 4 * time.Second, 8 * time.Second, 16 * time.Second, 16 * time.Second}
	b := breaker{}
	for i, want := range rests {
		b.result(dead, now)
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
		b.result(dead, now)
		b.result(err, now)
		if b.open(now) != nil || b.failures != 0 {
			t.Errorf("after an answer (%v): %+v, want a closed breaker", err, b)
		}
	}
}

// TestBreakerAsked: a BMC that says how long it wants to be left alone is, from the first time on.
func TestBreakerAsked(t *testing.T) {
	busy := &redfish.Error{Kind: redfish.Unreachable, Status: 503, RetryAfter: 30 * time.Second}
	now := time.Unix(0, 0)
	b := breaker{}
	for range 5 {
		b.result(busy, now)
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
	if err := g.Do(t.Context(), Target{Config: redfish.Config{Address: "http://x"}}, nil); redfish.KindOf(err) != redfish.Invalid {
		t.Errorf("Do(...): got %v, want an invalid address", err)
	}
	if err := g.Forget(t.Context(), "http://x"); err != nil {
		t.Errorf("Forget(...) of an address that was never talked to: %v", err)
	}
}
