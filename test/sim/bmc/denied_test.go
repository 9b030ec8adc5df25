package bmc_test

import (
	"context"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
)

// walkAll reads a whole inventory in turns at a gate, as the controller does.
func walkAll(ctx context.Context, c *redfish.Client) error {
	s, err := c.System(ctx, redfish.Selector{})
	if err != nil {
		return err
	}
	w := redfish.NewWalk(s, nil)
	for done := false; !done; {
		if done, err = c.Walk(ctx, w, 8); err != nil {
			return err
		}
	}

	return nil
}

// TestResourceThatIsUnauthorized: one resource that answers 401, though the
// login is good, costs neither sessions nor logins, nor is the password given up for it.
func TestResourceThatIsUnauthorized(t *testing.T) {
	cases := map[string]struct {
		reason   string
		auth     redfish.Auth
		faults   []bmc.Fault
		logins   int
		sessions int
	}{
		"Session": {
			reason: "The session tells that it is still there.", auth: redfish.AuthSession,
			faults: []bmc.Fault{{PathContains: "/EthernetInterfaces", Status: http.StatusUnauthorized}}, logins: 1, sessions: 1,
		},
		"HiddenSession": {
			reason: "It doesn't tell: another one replaces it, twice a walk, for the lists of the System and its manager.", auth: redfish.AuthSession,
			faults: []bmc.Fault{
				{PathContains: "/EthernetInterfaces", Status: http.StatusUnauthorized},
				{Method: http.MethodGet, PathContains: "/Sessions/", Status: http.StatusForbidden},
			},
			logins: 21, sessions: 1,
		},
		"Basic": {
			reason: "The System tells that the password is right.", auth: redfish.AuthBasic,
			faults: []bmc.Fault{{PathContains: "/EthernetInterfaces", Status: http.StatusUnauthorized}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			emu, _ := emulator(t, bmc.ModelInline, nil)
			g := gates(t)
			to := target(emu, "v1")
			to.Auth = tc.auth
			for _, f := range tc.faults {
				emu.Inject(f)
			}
			for range 10 {
				if err := g.Do(t.Context(), to, walkAll); err != nil {
					t.Fatalf("\n%s\nDo(...): %v", tc.reason, err)
				}
			}
			if c := emu.Counters(); c.Logins > tc.logins || c.FailedLogins != 0 || emu.Sessions() > tc.sessions {
				t.Errorf("\n%s\n%d logins, %d failed, %d sessions open; want at most %d, 0, %d", tc.reason, c.Logins, c.FailedLogins, emu.Sessions(), tc.logins, tc.sessions)
			}
		})
	}
}

// TestBasicPasswordChanged: a password that isn't right any more is still found out, in a walk as well.
func TestBasicPasswordChanged(t *testing.T) {
	emu, _ := emulator(t, bmc.ModelInline, nil)
	g := gates(t)
	to := target(emu, "v1")
	to.Auth = redfish.AuthBasic
	var w *redfish.Walk
	err := g.Do(t.Context(), to, func(ctx context.Context, c *redfish.Client) error {
		w = redfish.NewWalk(system(t, c), nil)
		_, err := c.Walk(ctx, w, 2)

		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	emu.SetPassword(bmc.Secret + "-another")
	for range 5 {
		err := g.Do(t.Context(), to, func(ctx context.Context, c *redfish.Client) error {
			_, err := c.Walk(ctx, w, 8)

			return err
		})
		if !redfish.IsUnauthorized(err) {
			t.Errorf("Do(...): got %v, want unauthorized", err)
		}
	}
	if n := emu.Counters().FailedLogins; n > 2 {
		t.Errorf("%d failed logins, want two at most: the resource's, and the one that tells that it isn't the resource", n)
	}
}

// TestHostWithAResourceThatIsUnauthorized: its host stays, and what it can't show is said.
func TestHostWithAResourceThatIsUnauthorized(t *testing.T) {
	for _, auth := range []v1alpha1.RedfishAuth{v1alpha1.RedfishAuthBasic, v1alpha1.RedfishAuthSession} {
		t.Run(string(auth), func(t *testing.T) {
			l := newLab(t, bmc.ModelInline)
			l.tune = func(c *v1alpha1.RedfishConfig) { c.Auth = auth }
			l.emu.Inject(bmc.Fault{PathContains: "/EthernetInterfaces", Status: http.StatusUnauthorized})
			l.settle()
			l.later(2 * time.Minute)
			l.now = l.now.Add(2 * time.Hour)
			h := l.settle()
			if got := condition(h, v1alpha1.ConditionReachable); got[0] != "True" {
				t.Errorf("Reachable: %v", got)
			}
			if inv := h.Status.AtProvider.Inventory; inv == nil || !slices.Contains(inv.Partial, "macs") {
				t.Errorf("inventory %+v, want one that says that MACs are missing", inv)
			}
			if n := l.emu.Sessions(); n > 1 {
				t.Errorf("%d sessions open", n)
			}
		})
	}
}
