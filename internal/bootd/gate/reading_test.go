package gate

import (
	"strconv"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// TestPieceFor: of the boot that used the grant each piece of an ISO is given, of any other and after its end none, and who can't be known is asked for.
func TestPieceFor(t *testing.T) {
	now := time.Date(2026, 8, 1, 10, 0, 0, 0, time.UTC)
	used := boot.Session{
		Grant: &boot.Grant{ID: "g"}, Consumed: &boot.Consumption{GrantID: "g", Nonce: "n", At: now},
	}
	with := func(change func(*boot.Session)) *boot.Session {
		s := used
		change(&s)
		return &s
	}
	result := &boot.Result{GrantID: "g"}
	cases := map[string]struct {
		reason                   string
		mode                     boot.Mode
		session                  *boot.Session
		begun, recent, restarted bool
		want                     piece
	}{
		"First":      {reason: "the first piece is asked for, though the watch knows the boot", session: &used, want: pieceAsked},
		"GoesOn":     {reason: "hundreds follow", session: &used, begun: true, want: pieceGiven},
		"Lags":       {reason: "the watch is behind what the session said a moment ago", session: with(func(s *boot.Session) { s.Consumed = nil }), begun: true, recent: true, want: pieceGiven},
		"LagsLong":   {reason: "what it said is old", session: with(func(s *boot.Session) { s.Consumed = nil }), begun: true, want: pieceAsked},
		"LagsBefore": {reason: "an earlier grant's use is all that the watch knows", session: with(func(s *boot.Session) { s.Consumed = &boot.Consumption{GrantID: "f", Nonce: "m"} }), want: pieceAsked},
		"Installed":  {reason: "a boot that has ended reads nothing", session: with(func(s *boot.Session) { s.Installed = result }), begun: true, recent: true, want: pieceRefused},
		"Failed":     {reason: "nor one that has failed", session: with(func(s *boot.Session) { s.Failed = result }), begun: true, recent: true, want: pieceRefused},
		"FailedThen": {reason: "what failed before says nothing", session: with(func(s *boot.Session) { s.Failed = &boot.Result{GrantID: "f"} }), begun: true, want: pieceGiven},
		"Revoked":    {reason: "a closed session gives nothing", session: with(func(s *boot.Session) { s.Revocation = "r" }), begun: true, recent: true, want: pieceRefused},
		"Generation": {reason: "another generation was granted", session: with(func(s *boot.Session) { s.Grant = &boot.Grant{ID: "h"} }), begun: true, recent: true, want: pieceRefused},
		"Withdrawn":  {reason: "a used grant that was taken out of the session is used all the same", session: with(func(s *boot.Session) { s.Grant = nil }), begun: true, want: pieceGiven},
		"Another":    {reason: "another boot used it", session: with(func(s *boot.Session) { s.Consumed = &boot.Consumption{GrantID: "g", Nonce: "m"} }), begun: true, recent: true, want: pieceRefused},
		"Restarted":  {reason: "the machine began again", session: &used, begun: true, recent: true, restarted: true, want: pieceRefused},
		"NoSession":  {reason: "a record that's missing means no", begun: true, recent: true, want: pieceRefused},
		"Live":       {reason: "a live boot has no grant", mode: boot.ModeLive, want: pieceGiven},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := Caller{Claims: boot.Claims{GrantID: "g", Nonce: "n"}, Plan: &boot.Plan{Mode: tc.mode}, Session: tc.session}
			if got := pieceFor(c, tc.begun, tc.recent, tc.restarted); got != tc.want {
				t.Errorf("%s: %d, want %d", tc.reason, got, tc.want)
			}
		})
	}
}

func TestReadingIsBounded(t *testing.T) {
	r := reading{of: map[boot.EntryKey]reader{}}
	now := time.Now()
	one := boot.Claims{Entry: boot.KeyOf("one"), GrantID: "g", Nonce: "n"}
	r.goesOn(one, now)
	other := one
	other.Nonce = "m"
	if begun, at := r.asked(one); !begun || !at.Equal(now) {
		t.Error("it's forgotten")
	}
	if begun, _ := r.asked(other); begun {
		t.Error("another boot of the machine isn't it")
	}
	r.ends(one.Entry)
	if begun, _ := r.asked(one); begun {
		t.Error("it has ended")
	}
	for i := range 2 * maxReading {
		r.goesOn(boot.Claims{Entry: boot.KeyOf(strconv.Itoa(i))}, now)
	}
	if len(r.of) > maxReading {
		t.Errorf("%d are remembered", len(r.of))
	}
}
