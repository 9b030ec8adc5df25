package bmc_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/gate"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
)

// TestGateStreamNeverLogsIn holds that a stream has the session that others opened, and that without one nothing at all is sent: however often
// somebody wants to listen, no account is locked and no table of sessions is filled.
func TestGateStreamNeverLogsIn(t *testing.T) {
	cases := map[string]struct {
		reason string
		before func(t *testing.T, g *gate.Gates, emu *bmc.Server, at gate.Target)
		// change what is asked for.
		change func(*gate.Target)
		busy   bool
		// most requests that twenty tries take.
		most int
	}{
		"Open": {reason: "By a session that is open it's one request.", before: looked, most: 20},
		"Never": {reason: "Nobody was there yet.", before: func(*testing.T, *gate.Gates, *bmc.Server, gate.Target) {
		}, busy: true},
		"OtherPassword": {
			reason: "Another version of the Secret is another session.", before: looked,
			change: func(t *gate.Target) { t.Password, t.CredentialVersion = bmc.Secret+"-wrong", "v2" }, busy: true,
		},
		"Forgotten": {reason: "The host is gone.", before: func(t *testing.T, g *gate.Gates, emu *bmc.Server, at gate.Target) {
			t.Helper()
			looked(t, g, emu, at)
			if err := g.Forget(t.Context(), emu.Addr()); err != nil {
				t.Fatal(err)
			}
		}, busy: true},
		"Expired": {reason: "A session that ended isn't renewed for it.", before: func(t *testing.T, g *gate.Gates, emu *bmc.Server, at gate.Target) {
			t.Helper()
			looked(t, g, emu, at)
			emu.ExpireSessions()
		}, busy: true, most: 20},
		"Locked": {reason: "Nor is one of an account that is locked by now.", before: func(t *testing.T, g *gate.Gates, emu *bmc.Server, at gate.Target) {
			t.Helper()
			looked(t, g, emu, at)
			emu.SetPassword(bmc.Secret + "-other")
		}, busy: true, most: 20},
		"Refused": {reason: "A password that was refused isn't tried.", before: func(t *testing.T, g *gate.Gates, emu *bmc.Server, at gate.Target) {
			t.Helper()
			emu.SetPassword(bmc.Secret + "-other")
			if err := g.Do(t.Context(), at, read); !redfish.IsUnauthorized(err) {
				t.Fatal(err)
			}
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			emu, _ := emulator(t, bmc.ModelInline, nil)
			g, at := gates(t), target(emu, "v1")
			tc.before(t, g, emu, at)
			before := emu.Counters()
			if tc.change != nil {
				tc.change(&at)
			}
			for range 20 {
				_, err := g.Stream(t.Context(), at)
				if gate.IsBusy(err) != tc.busy || err == nil != (name == "Open") {
					t.Fatalf("%s\nStream(...): %v", tc.reason, err)
				}
			}
			after := emu.Counters()
			if after.Logins != before.Logins || after.FailedLogins != before.FailedLogins || after.Logouts != before.Logouts || after.Requests-before.Requests > tc.most {
				t.Errorf("%s\nbefore %+v, after %+v", tc.reason, before, after)
			}
		})
	}
}

// looked has a session opened.
func looked(t *testing.T, g *gate.Gates, _ *bmc.Server, at gate.Target) {
	t.Helper()
	if err := g.Do(t.Context(), at, read); err != nil {
		t.Fatal(err)
	}
}

// TestGateStreamEnds holds that a stream ends with the session that it's by.
func TestGateStreamEnds(t *testing.T) {
	cases := map[string]struct {
		reason string
		then   func(g *gate.Gates, at gate.Target) error
	}{
		"Forgotten": {reason: "The host is gone.", then: func(g *gate.Gates, at gate.Target) error { return g.Forget(t.Context(), at.Address) }},
		"Shutdown": {reason: "The process ends.", then: func(g *gate.Gates, _ gate.Target) error {
			g.Close(t.Context())

			return nil
		}},
		"Secret": {reason: "The Secret has changed, and the next look has another session.", then: func(g *gate.Gates, at gate.Target) error {
			at.CredentialVersion = "v2"

			return g.Do(t.Context(), at, read)
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			emu, _ := emulator(t, bmc.ModelInline, nil)
			g, at := gates(t), target(emu, "v1")
			looked(t, g, emu, at)
			s, err := g.Stream(t.Context(), at)
			if err != nil {
				t.Fatal(err)
			}
			err = s.Listen(t.Context(), func() {
				if err := tc.then(g, at); err != nil {
					t.Error(err)
				}
			}, func(int) {})
			if !gate.NeedsLook(err) {
				t.Errorf("%s\nListen(...): %v", tc.reason, err)
			}
			until(t, "nobody listens", func() bool { return emu.Listeners() == 0 })
		})
	}
}

// TestGateStreamDenied: a 401 of the event service alone is no word about the password, which others go on to look with. Some BMCs answer so where
// an account lacks a privilege.
func TestGateStreamDenied(t *testing.T) {
	for _, auth := range []redfish.Auth{redfish.AuthBasic, redfish.AuthSession} {
		t.Run(string(auth), func(t *testing.T) {
			emu, _ := emulator(t, bmc.ModelInline, nil)
			g, at := gates(t), target(emu, "v1")
			at.Auth = auth
			looked(t, g, emu, at)
			emu.Inject(bmc.Fault{PathContains: "/EventService", Status: http.StatusUnauthorized})
			for range 3 {
				if _, err := g.Stream(t.Context(), at); err == nil || redfish.IsUnauthorized(err) || auth == redfish.AuthBasic && redfish.KindOf(err) != redfish.Forbidden {
					t.Errorf("Stream(...): %v", err)
				}
				if err := g.Do(t.Context(), at, read); err != nil {
					t.Fatalf("a look behind it: %v", err)
				}
			}
		})
	}
}

// TestGateStreamByPassword: where the password goes with each request, one that isn't good any more is the gatekeeper's to remember: it's tried
// for the event service and for the machine, and then no more.
func TestGateStreamByPassword(t *testing.T) {
	emu, _ := emulator(t, bmc.ModelInline, nil)
	g, at := gates(t), target(emu, "v1")
	at.Auth = redfish.AuthBasic
	looked(t, g, emu, at)
	emu.SetPassword(bmc.Secret + "-other")
	for range 20 {
		if _, err := g.Stream(t.Context(), at); !redfish.IsUnauthorized(err) {
			t.Fatalf("Stream(...): %v", err)
		}
		if err := g.Do(t.Context(), at, read); !redfish.IsUnauthorized(err) {
			t.Fatalf("Do(...): %v", err)
		}
	}
	if n := emu.Counters().FailedLogins; n != 2 {
		t.Errorf("%d failed logins, want 2", n)
	}
}

// TestGateStreamWaitsForNobody: who asks for a stream of a BMC that doesn't answer isn't waited for, neither by looks nor by a shutdown.
func TestGateStreamWaitsForNobody(t *testing.T) {
	emu, _ := emulator(t, bmc.ModelInline, nil)
	g, at := gates(t), target(emu, "v1")
	looked(t, g, emu, at)
	emu.Inject(bmc.Fault{PathContains: "/EventService", Hang: true})
	ctx, stop := context.WithCancel(t.Context())
	asked := make(chan error)
	go func() {
		_, err := g.Stream(ctx, at)
		asked <- err
	}()
	until(t, "the BMC hangs", func() bool { return emu.Requests()[len(emu.Requests())-1].Path == "/redfish/v1/EventService" })
	if err := g.Do(t.Context(), at, read); err != nil {
		t.Errorf("a look meanwhile: %v", err)
	}
	if err := <-asked; !gate.IsBusy(err) {
		t.Errorf("Stream(...): %v", err)
	}
	go func() {
		_, err := g.Stream(ctx, at)
		asked <- err
	}()
	until(t, "it hangs again", func() bool { return emu.Requests()[len(emu.Requests())-1].Path == "/redfish/v1/EventService" })
	stop()
	if err := <-asked; err == nil {
		t.Error("Stream(...) with a context that has ended: want an error")
	}
}
