package bmc_test

import (
	"testing"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
)

// TestTreesManners: with every kind of BMC a full table of sessions isn't the
// end, a wrong password is tried once, a session that ran out is opened again,
// and none is left behind.
func TestTreesManners(t *testing.T) {
	for name, dir := range captured(t) {
		t.Run(name, func(t *testing.T) {
			r := serve(t, dir)
			wrong := settings(r.Server)
			wrong.Password = bmc.Secret + "-wrong"
			if _, err := redfish.Connect(t.Context(), wrong); !redfish.IsUnauthorized(err) || r.Counters().FailedLogins != 1 {
				t.Errorf("Connect with a wrong password: got %v with %d failed logins, want unauthorized with one", err, r.Counters().FailedLogins)
			}
			c := connect(t, settings(r.Server))
			ids := r.Systems()
			look := func() error {
				_, err := c.SystemAt(t.Context(), r.SystemURI(ids[0]))

				return err
			}
			r.ExpireSessions()
			if err := look(); err != nil || r.Counters().Logins != 2 {
				t.Errorf("a session that ran out: got %v after %d logins, want one login more", err, r.Counters().Logins)
			}
			if err := c.Close(t.Context()); err != nil || r.Sessions() != 0 {
				t.Errorf("Close(): %v, %d sessions left", err, r.Sessions())
			}
			r.FillSessions()
			full, err := redfish.Connect(t.Context(), settings(r.Server))
			if err != nil {
				t.Fatalf("Connect with a full table of sessions: %v", err)
			}
			if _, err := full.SystemAt(t.Context(), r.SystemURI(ids[0])); err != nil {
				t.Errorf("a look with a full table of sessions: %v", err)
			}
			if n := r.Counters().FailedLogins; n != 1 {
				t.Errorf("%d failed logins, want 1: no other password was wrong", n)
			}
			if w := r.FullWrites(); len(w) != 0 {
				t.Errorf("written: %v", w)
			}
			survived(t, "the table of sessions is full, in the way of each vendor")
		})
	}
}
