package session

import (
	"errors"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// TestUnended asks as before a machine is given its data, on what the API has.
func TestUnended(t *testing.T) {
	t.Parallel()
	used := func(s *boot.Session) {
		s.Consumed = &boot.Consumption{GrantID: grantID, HostUID: "host", EntryUID: "entry", Generation: 1, Nonce: nonceA, At: start()}
	}
	ended := func(id string) func(*boot.Session) {
		return func(s *boot.Session) {
			s.Installed = &boot.Result{GrantID: id, Generation: 1, At: start().Add(time.Minute)}
		}
	}
	cases := map[string]struct {
		reason string
		change []func(*boot.Session)
		nonce  string
		want   error
	}{
		"Runs":    {"an install that goes on has its data", []func(*boot.Session){used}, nonceA, nil},
		"Ended":   {"one that was reported, to whichever bootd, has had it", []func(*boot.Session){used, ended(grantID)}, nonceA, boot.ErrConsumed},
		"Cleared": {"also once its grant was taken out", []func(*boot.Session){used, ended(grantID), func(s *boot.Session) { s.Grant = nil }}, nonceA, boot.ErrConsumed},
		"Earlier": {"that an earlier one was says nothing of this", []func(*boot.Session){used, ended("00000000000000e1")}, nonceA, nil},
		"Failed": {"one that failed may try again", []func(*boot.Session){used, func(s *boot.Session) {
			s.Failed = &boot.Result{GrantID: grantID, Generation: 1}
		}}, nonceA, nil},
		"Other":   {"another boot has none", []func(*boot.Session){used}, nonceB, boot.ErrConsumed},
		"Unused":  {"nor has one that used nothing", nil, nonceA, boot.ErrNoGrant},
		"Revoked": {"nor one of a closed session", []func(*boot.Session){used, func(s *boot.Session) { s.Revocation = "r" }}, nonceA, boot.ErrRevoked},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := granted()
			for _, c := range tc.change {
				c(&r.Session)
			}
			m := bootd(t, newAPI(r), "a", t.TempDir())
			if err := m.Unended(t.Context(), plan(), token(tc.nonce)); !errors.Is(err, tc.want) || (err == nil) != (tc.want == nil) {
				t.Errorf("%s: got %v, want %v", tc.reason, err, tc.want)
			}
		})
	}
}
