package bmc_test

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
)

// twoNodes are a lab around a BMC with two nodes of one serial, and a board.
func twoNodes(t *testing.T) *lab {
	t.Helper()
	node := func(id string, m bmc.Machine) bmc.SystemConfig {
		return bmc.SystemConfig{ID: id, Model: bmc.ModelNode, Serial: serial, MACs: macs(), Machine: m}
	}
	m := &bmc.Idle{}
	emu, err := bmc.NewServer(bmc.Config{Baseboard: true, Systems: []bmc.SystemConfig{node("Node0", m), node("Node1", &bmc.Idle{})}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = emu.Close() })

	return newLabOf(t, emu, m)
}

// TestSeveralSystems: nothing is guessed; what there is to choose from is listed until somebody has chosen, and the neighbour isn't the machine ever after.
func TestSeveralSystems(t *testing.T) {
	l := twoNodes(t)
	h := l.settle()
	if got := condition(h, v1alpha1.ConditionReachable); got != [2]string{"False", "Ambiguous"} {
		t.Fatalf("Reachable: got %v", got)
	}
	message := h.Status.GetCondition(v1alpha1.ConditionReachable).Message
	if want := `has 2 Systems that can be meant: "Node0" (serial EMU0001, PoweredOff), "Node1" (serial EMU0001, PoweredOff): choose one`; !strings.Contains(message, want) {
		t.Errorf("message %q, want one with %q", message, want)
	}
	facts := func(id string) v1alpha1.SystemFacts {
		return v1alpha1.SystemFacts{ID: id, URI: "/redfish/v1/Systems/" + id, Serial: serial, Model: string(bmc.ModelNode), Power: v1alpha1.PoweredOff, CanReset: "Yes"}
	}
	if diff := cmp.Diff([]v1alpha1.SystemFacts{facts("Node0"), facts("Node1")}, h.Status.AtProvider.Systems); diff != "" {
		t.Errorf("status.atProvider.systems: -want, +got:\n%s", diff)
	}
	l.edit(func(h *v1alpha1.RedfishHost) { h.Spec.ForProvider.System = &v1alpha1.SystemSelector{ID: "Baseboard"} })
	h = l.settle()
	if got := condition(h, v1alpha1.ConditionReachable); got != [2]string{"False", "NotFound"} || len(h.Status.AtProvider.Systems) != 3 {
		t.Errorf("a board is no machine: %v, %v", got, h.Status.AtProvider.Systems)
	}
	l.edit(func(h *v1alpha1.RedfishHost) {
		h.Spec.ForProvider.System, h.Spec.ForProvider.Address = nil, l.emu.URL()+"/redfish/v1/Systems/Node0"
	})
	h = l.settle()
	if got := h.Status.AtProvider; got.Identity.SystemURI != "/redfish/v1/Systems/Node0" || len(got.Systems) != 0 || h.Status.Phase != v1alpha1.HostAvailable {
		t.Errorf("by its own address: phase %q, %+v", h.Status.Phase, got)
	}
	l.edit(func(h *v1alpha1.RedfishHost) {
		h.Spec.ForProvider.Address, h.Spec.ForProvider.Power = l.emu.URL()+"/redfish/v1/Systems/Node1", v1alpha1.PoweredOn
	})
	h = l.settle()
	if got := condition(h, xpv2.TypeReady); got != [2]string{"False", "IdentityChanged"} {
		t.Errorf("the neighbour: %v", got)
	}
	if w := l.emu.FullWrites(); len(w) != 0 {
		t.Errorf("written %v", w)
	}
}

// TestHowItIsTalkedTo: status shows what a password travels by.
func TestHowItIsTalkedTo(t *testing.T) {
	l := newLab(t, bmc.ModelInline)
	facts := func() [3]string {
		b := l.settle().Status.AtProvider.BMC

		return [3]string{b.TLSVerify, b.TLSVersion, b.Auth}
	}
	if got := facts(); got != [3]string{"Pinned", "TLS13", "Session"} {
		t.Errorf("pinned: got %v", got)
	}
	l.tune = func(c *v1alpha1.RedfishConfig) {
		c.Auth, c.TLS = v1alpha1.RedfishAuthBasic, &v1alpha1.TLS{Verify: v1alpha1.TLSVerifyNone}
	}
	if got := facts(); got != [3]string{"None", "TLS13", "Basic"} {
		t.Errorf("not verified: got %v", got)
	}
}

// TestByIPv6: a BMC that has an IPv6 address is looked at by that.
func TestByIPv6(t *testing.T) {
	emu, err := bmc.NewServerAt("[::1]:0", bmc.Config{Systems: []bmc.SystemConfig{{ID: "1", Serial: serial}}})
	if err != nil {
		t.Logf("this machine has no IPv6: %v", err)

		return
	}
	t.Cleanup(func() { _ = emu.Close() })
	cfg := settings(emu)
	cfg.Guard.Allowed = append(cfg.Guard.Allowed, netip.MustParsePrefix("::1/128"))
	if !strings.HasPrefix(cfg.Address, "https://[::1]:") && !strings.HasPrefix(cfg.Address, "[::1]:") {
		t.Errorf("its address is %q", cfg.Address)
	}
	if s, err := connect(t, cfg).System(t.Context(), redfish.Selector{}); err != nil || s.Serial != serial {
		t.Errorf("System(...): %q, %v", s.Serial, err)
	}
}

// TestByHTTP: a BMC in a test lab is spoken to in the open where the provider config says that anybody may listen, and that is shown.
func TestByHTTP(t *testing.T) {
	l := newLab(t, bmc.ModelInline)
	open := httptest.NewServer(l.emu.BMC)
	t.Cleanup(open.Close)
	l.edit(func(h *v1alpha1.RedfishHost) { h.Spec.ForProvider.Address = open.URL })
	h := l.settle()
	if got := condition(h, v1alpha1.ConditionReachable); got != [2]string{"False", "Invalid"} || l.emu.Counters().Requests != 0 {
		t.Errorf("by http, pinned: %v, %d requests", got, l.emu.Counters().Requests)
	}
	l.verify, l.pins = v1alpha1.TLSVerifyNone, nil
	h = l.settle()
	if h.Status.Phase != v1alpha1.HostAvailable || h.Status.AtProvider.BMC.TLSVerify != "Plaintext" || h.Status.AtProvider.BMC.TLSSHA256 != "" {
		t.Errorf("by http: phase %q, %+v", h.Status.Phase, h.Status.AtProvider.BMC)
	}
}

// TestWhatABMCWants: a full session table, and a first password, are told by their own words, and no password is tried twice for them.
func TestWhatABMCWants(t *testing.T) {
	cases := map[string]struct {
		reason string
		tune   func(*v1alpha1.RedfishConfig)
		do     func(*lab)
		heal   func(*lab)
		want   string
	}{
		"SessionsFull": {
			reason: "Others hold all sessions, and nothing else is allowed.", want: "SessionsFull",
			tune: func(c *v1alpha1.RedfishConfig) { c.Auth = v1alpha1.RedfishAuthSession },
			do:   func(l *lab) { l.emu.FillSessions() },
			heal: func(l *lab) { l.emu.ExpireSessions() },
		},
		"FirstPassword": {
			reason: "A BMC as it comes out of its box.", want: "PasswordChangeRequired",
			do: func(l *lab) {
				l.emu.Inject(bmc.Fault{
					Method: http.MethodGet, PathContains: "/Systems", Status: http.StatusForbidden,
					Body: `{"error":{"code":"Base.1.8.GeneralError","@Message.ExtendedInfo":[{"MessageId":"Base.1.8.PasswordChangeRequired"}]}}`,
				})
			},
			heal: func(l *lab) { l.emu.Heal() },
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, bmc.ModelInline)
			l.tune = tc.tune
			tc.do(l)
			for range 3 {
				if got := condition(l.settle(), v1alpha1.ConditionReachable); got != [2]string{"False", tc.want} {
					t.Errorf("\n%s\nReachable: got %v, want %s", tc.reason, got, tc.want)
				}
			}
			if n := l.emu.Counters().FailedLogins; n != 0 {
				t.Errorf("\n%s\n%d failed logins", tc.reason, n)
			}
			tc.heal(l)
			if h := l.settle(); h.Status.Phase != v1alpha1.HostAvailable {
				t.Errorf("\n%s\nonce that's mended: phase %q, %v", tc.reason, h.Status.Phase, h.Status.Conditions)
			}
			survived(t, map[string]string{"SessionsFull": "the table of sessions is full", "FirstPassword": "the password must be changed first"}[name])
		})
	}
}

// TestStartsWithoutASerial: a BMC that was restarted while its machine is off doesn't know the serial until that is on. Its UUID says that it's the same.
func TestStartsWithoutASerial(t *testing.T) {
	for name, system := range map[string]*v1alpha1.SystemSelector{"Any": nil, "BySerial": {Serial: serial}} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, bmc.ModelInline)
			l.edit(func(h *v1alpha1.RedfishHost) { h.Spec.ForProvider.System = system })
			l.settle()
			l.emu.Change("/redfish/v1/Systems/1", func(body map[string]any) { body["SerialNumber"] = nil })
			l.edit(func(h *v1alpha1.RedfishHost) { h.Spec.ForProvider.Power = v1alpha1.PoweredOn })
			h := l.settle()
			if !l.m.Powered() || h.Status.AtProvider.Identity.Serial != serial {
				t.Errorf("powered %v, serial %q, %v", l.m.Powered(), h.Status.AtProvider.Identity.Serial, h.Status.Conditions)
			}
			l.emu.Replace("1", "OTHER")
			h = l.settle()
			if got := condition(h, xpv2.TypeReady); got != [2]string{"False", "IdentityChanged"} && got != [2]string{"False", "NotFound"} {
				t.Errorf("another machine: Ready %v", got)
			}
		})
	}
}
