package bmc_test

import (
	"context"
	"net/http"
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
)

func TestObserve(t *testing.T) {
	for name, model := range models() {
		t.Run(name, func(t *testing.T) {
			emu, m := emulator(t, model, func(c *bmc.Config) { c.Baseboard = true })
			_ = m.On(bmc.BootNormal)
			c := connect(t, settings(emu))
			s := system(t, c)
			want := redfish.Identity{
				URI: "/redfish/v1/Systems/1", ID: "1", Serial: serial, UUID: uuid,
				Manufacturer: "Emulated Systems", Model: string(model),
			}
			if diff := cmp.Diff(want, s.Identity); diff != "" {
				t.Errorf("identity: -want, +got:\n%s", diff)
			}
			if s.Power != redfish.PowerOn || s.Health != "OK" || !s.CanReset || !s.Boot.Idle() {
				t.Errorf("System(...): got power %q, health %q, canReset %v, boot %v", s.Power, s.Health, s.CanReset, s.Boot)
			}
			inv, err := c.Inventory(t.Context(), s)
			if err != nil {
				t.Fatal(err)
			}
			got := []string{}
			for _, mac := range inv.MACs {
				got = append(got, mac.Address)
			}
			if diff := cmp.Diff([]string{"52:54:00:00:00:01", "52:54:00:00:00:02"}, got); diff != "" {
				t.Errorf("MACs: -want, +got (the BMC's own must not be there):\n%s", diff)
			}
			if w := emu.Counters().Writes; w != 0 {
				t.Errorf("looking wrote %d times", w)
			}
		})
	}
}

func TestReset(t *testing.T) {
	type want struct {
		resets map[string]int
		power  redfish.Power
		kind   redfish.Kind
	}
	cases := map[string]struct {
		reason string
		on     bool
		act    redfish.Act
		fault  *bmc.Fault
		want   want
	}{
		"On":               {reason: "A machine that is off is switched on.", act: redfish.ActOn, want: want{resets: map[string]int{"On": 1}, power: redfish.PowerOn}},
		"OnAlready":        {reason: "A state that is there needs no call.", on: true, act: redfish.ActOn, want: want{resets: map[string]int{}, power: redfish.PowerOn}},
		"ForceOff":         {reason: "Power is cut.", on: true, act: redfish.ActForceOff, want: want{resets: map[string]int{"ForceOff": 1}, power: redfish.PowerOff}},
		"Graceful":         {reason: "The OS is asked.", on: true, act: redfish.ActGracefulOff, want: want{resets: map[string]int{"GracefulShutdown": 1}, power: redfish.PowerOff}},
		"Restart":          {reason: "A running machine is reset.", on: true, act: redfish.ActRestart, want: want{resets: map[string]int{"ForceRestart": 1}, power: redfish.PowerOn}},
		"RestartWhileOff":  {reason: "A machine that is off can't be reset, and 409 isn't success.", act: redfish.ActRestart, want: want{resets: map[string]int{}, power: redfish.PowerOff, kind: redfish.Refused}},
		"ForgottenSession": {reason: "A session that the BMC forgot is opened again, once.", on: true, act: redfish.ActForceOff, want: want{resets: map[string]int{"ForceOff": 1}, power: redfish.PowerOff}},
		"Unavailable": {
			reason: "A BMC that is restarting is unreachable.", act: redfish.ActOn,
			fault: &bmc.Fault{Method: http.MethodPost, Status: http.StatusServiceUnavailable},
			want:  want{resets: map[string]int{}, power: redfish.PowerOff, kind: redfish.Unreachable},
		},
		"DoneThenConflict": {
			reason: "A BMC that acts and answers 409 has acted: the read-back tells.", act: redfish.ActOn,
			fault: &bmc.Fault{Method: http.MethodPost, AfterEffect: true, Status: http.StatusConflict},
			want:  want{resets: map[string]int{"On": 1}, power: redfish.PowerOn},
		},
	}
	for name, tc := range cases {
		for modelName, model := range models() {
			t.Run(name+"/"+modelName, func(t *testing.T) {
				emu, m := emulator(t, model, nil)
				if tc.on {
					_ = m.On(bmc.BootNormal)
				}
				c := connect(t, settings(emu))
				s := system(t, c)
				if name == "ForgottenSession" {
					emu.ExpireSessions()
				}
				if tc.fault != nil {
					emu.Inject(*tc.fault)
				}
				_, err := c.Reset(t.Context(), s, tc.act)
				emu.Heal()
				got := want{resets: emu.Counters().Resets, power: system(t, c).Power, kind: redfish.KindOf(err)}
				if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{})); diff != "" {
					t.Errorf("\n%s\nReset(...): -want, +got:\n%s\nerror: %v", tc.reason, diff, err)
				}
			})
		}
	}
}

func TestBootOnce(t *testing.T) {
	for name, model := range models() {
		t.Run(name, func(t *testing.T) {
			emu, m := emulator(t, model, nil)
			c := connect(t, settings(emu))
			for range 2 { // The second one finds it set, and writes nothing.
				if err := c.SetBootOnce(t.Context(), system(t, c), "Pxe"); err != nil {
					t.Fatalf("SetBootOnce(...): %v", err)
				}
			}
			if got := emu.Counters().Patches; got != 1 {
				t.Errorf("%d PATCHes for one override set twice, want 1", got)
			}
			if b := system(t, c).Boot; b.Target != "Pxe" || b.Enabled != redfish.EnabledOnce {
				t.Errorf("System(...).Boot: got %v, want Pxe Once", b)
			}
			if _, err := c.Reset(t.Context(), system(t, c), redfish.ActOn); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]bmc.BootTarget{bmc.BootPxe}, m.Boots()); diff != "" {
				t.Errorf("boots: -want, +got:\n%s", diff)
			}
			if b := system(t, c).Boot; !b.Idle() {
				t.Errorf("a used-up override is still there: %v", b)
			}
		})
	}
}

func TestClearBoot(t *testing.T) {
	for name, model := range models() {
		t.Run(name, func(t *testing.T) {
			emu, _ := emulator(t, model, nil)
			c := connect(t, settings(emu))
			if err := c.SetBootOnce(t.Context(), system(t, c), "Pxe"); err != nil {
				t.Fatal(err)
			}
			if err := c.ClearBoot(t.Context(), system(t, c), ""); err != nil {
				t.Fatal(err)
			}
			target, enabled := emu.Override("1")
			if target != "None" || enabled != "Disabled" {
				t.Errorf("override: got (%q, %q), want (None, Disabled): one of the two alone isn't enough", target, enabled)
			}
		})
	}
}

func TestBootOnceTroubles(t *testing.T) {
	cases := map[string]struct {
		reason string
		target string
		fault  bmc.Fault
		want   redfish.Kind
		field  string
	}{
		"NoEffect": {
			reason: "204 without effect is an error that names the field.", target: "Pxe",
			fault: bmc.Fault{Method: http.MethodPatch, WithoutEffect: true},
			want:  redfish.NoEffect, field: "Boot.BootSourceOverrideTarget",
		},
		"StaleETag": {
			reason: "412 once: the next rung of the ladder.", target: "Pxe",
			fault: bmc.Fault{Method: http.MethodPatch, Times: 1, Status: http.StatusPreconditionFailed},
		},
		"Refused": {
			reason: "400 isn't retried on the ladder.", target: "Pxe",
			fault: bmc.Fault{Method: http.MethodPatch, Status: http.StatusBadRequest},
			want:  redfish.Refused,
		},
		"NotOffered": {reason: "A target that the BMC doesn't list isn't sent.", target: "Usb", want: redfish.Unsupported, field: "BootSourceOverrideTarget Usb"},
	}
	for name, tc := range cases {
		for modelName, model := range models() {
			t.Run(name+"/"+modelName, func(t *testing.T) {
				emu, _ := emulator(t, model, nil)
				c := connect(t, settings(emu))
				s := system(t, c)
				if tc.fault.Method != "" {
					emu.Inject(tc.fault)
				}
				err := c.SetBootOnce(t.Context(), s, tc.target)
				if got := redfish.KindOf(err); got != tc.want {
					t.Fatalf("\n%s\nSetBootOnce(...): got %v, want kind %q", tc.reason, err, tc.want)
				}
				if e := new(redfish.Error); tc.field != "" && cmpAs(err, &e) && e.Field != tc.field {
					t.Errorf("\n%s\nfield: got %q, want %q", tc.reason, e.Field, tc.field)
				}
			})
		}
	}
}

func TestActionsGoWithoutIfMatch(t *testing.T) {
	emu, _ := emulator(t, bmc.ModelInline, nil)
	c := connect(t, settings(emu))
	if _, err := c.Reset(t.Context(), system(t, c), redfish.ActOn); err != nil {
		t.Fatal(err)
	}
	for _, r := range emu.Requests() {
		if r.Method == http.MethodPost && r.IfMatch != "" {
			t.Errorf("POST %s carries If-Match %q: some BMCs refuse that", r.Path, r.IfMatch)
		}
	}
}

func TestConnectTroubles(t *testing.T) {
	cases := map[string]struct {
		reason string
		emu    func(*bmc.Config)
		broken func(*bmc.Server)
		change func(*redfish.Config, *bmc.Server)
		want   redfish.Kind
		logins int // tries that reached the BMC
	}{
		"WrongPassword": {reason: "One try, and no second one in another way.", change: func(c *redfish.Config, _ *bmc.Server) { c.Password = bmc.Secret + "-wrong" }, want: redfish.Unauthorized, logins: 1},
		"NotAllowed":    {reason: "No credential leaves for an address that isn't allowed.", change: func(c *redfish.Config, _ *bmc.Server) { c.Guard.Allowed = nil }, want: redfish.NotAllowed},
		"Loopback":      {reason: "Loopback is never a target, allowed or not.", change: func(c *redfish.Config, _ *bmc.Server) { c.Guard.AllowLoopback = false }, want: redfish.NotAllowed},
		"WrongPin":      {reason: "Another certificate isn't trusted.", change: func(c *redfish.Config, _ *bmc.Server) { c.TLS.Pins = []string{"00"} }, want: redfish.UntrustedCertificate},
		"UnknownCA":     {reason: "A self-signed certificate isn't of the system's roots.", change: func(c *redfish.Config, _ *bmc.Server) { c.TLS = redfish.TLS{} }, want: redfish.UntrustedCertificate},
		"CABundle": {reason: "Its own certificate as CA is trusted.", change: func(c *redfish.Config, s *bmc.Server) {
			c.TLS = redfish.TLS{Verify: redfish.VerifyCABundle, CABundle: s.CertificatePEM()}
		}, logins: 1},
		"Dead":     {reason: "Refused connections.", broken: func(s *bmc.Server) { _ = s.SetDead(true) }, want: redfish.Unreachable},
		"Hang":     {reason: "A BMC that never answers.", broken: func(s *bmc.Server) { s.Inject(bmc.Fault{Hang: true}) }, change: func(c *redfish.Config, _ *bmc.Server) { c.RequestTimeout = 50 * time.Millisecond }, want: redfish.Unreachable},
		"HangUp":   {reason: "A BMC that hangs up.", broken: func(s *bmc.Server) { s.Inject(bmc.Fault{Disconnect: true}) }, want: redfish.Unreachable},
		"NotBMC":   {reason: "A web server that isn't a BMC.", broken: func(s *bmc.Server) { s.Inject(bmc.Fault{Status: 404}) }, want: redfish.NotFound},
		"Garbage":  {reason: "A page where JSON belongs.", broken: func(s *bmc.Server) { s.Inject(bmc.Fault{Status: 200, Body: "<html>"}) }, want: redfish.Protocol},
		"Redirect": {reason: "A redirect isn't followed.", broken: func(s *bmc.Server) { s.Inject(bmc.Fault{Status: 302, Body: "elsewhere"}) }, want: redfish.Protocol},
		"Full":     {reason: "All sessions are taken, as after a crash that left ours behind: basic authentication needs none.", emu: func(c *bmc.Config) { c.MaxSessions = -1 }},
		"NoSessions": {
			reason: "A BMC without sessions is talked to with basic authentication.", emu: func(c *bmc.Config) { c.NoSessions = true },
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			emu, _ := emulator(t, bmc.ModelInline, tc.emu)
			cfg := settings(emu)
			if tc.broken != nil {
				tc.broken(emu)
			}
			if tc.change != nil {
				tc.change(&cfg, emu)
			}
			c, err := redfish.Connect(t.Context(), cfg)
			if got := redfish.KindOf(err); got != tc.want || (err == nil) != (tc.want == "") {
				t.Fatalf("\n%s\nConnect(...): got %v, want kind %q", tc.reason, err, tc.want)
			}
			if err == nil {
				system(t, c)
			}
			counters := emu.Counters()
			if got := counters.Logins + counters.FailedLogins; got != tc.logins {
				t.Errorf("\n%s\n%d logins, want %d", tc.reason, got, tc.logins)
			}
		})
	}
}

func TestSelector(t *testing.T) {
	two := func(c *bmc.Config) {
		c.Systems = []bmc.SystemConfig{{ID: "Node0", Serial: "SAME"}, {ID: "Node1", Serial: "SAME", UUID: uuid}, {ID: "Node2", Serial: "OWN"}}
	}
	cases := map[string]struct {
		reason string
		want   redfish.Selector
		uri    string
		kind   redfish.Kind
	}{
		"None":   {reason: "It refuses to guess.", kind: redfish.Ambiguous},
		"ID":     {reason: "By id, in any case.", want: redfish.Selector{ID: "node1"}, uri: "/redfish/v1/Systems/Node1"},
		"UUID":   {reason: "By UUID, in any case.", want: redfish.Selector{UUID: "11111111-2222-3333-4444-555555555555"}, uri: "/redfish/v1/Systems/Node1"},
		"Serial": {reason: "Two Systems with their chassis' serial.", want: redfish.Selector{Serial: "SAME"}, kind: redfish.Ambiguous},
		"Own":    {reason: "The one that has this serial.", want: redfish.Selector{Serial: "own"}, uri: "/redfish/v1/Systems/Node2"},
		"Other":  {reason: "None fits.", want: redfish.Selector{Serial: "OTHER"}, kind: redfish.NoSystem},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			emu, _ := emulator(t, bmc.ModelInline, two)
			s, err := connect(t, settings(emu)).System(t.Context(), tc.want)
			if s.URI != tc.uri || redfish.KindOf(err) != tc.kind {
				t.Errorf("\n%s\nSystem(%v): got %q, %v; want %q, kind %q", tc.reason, tc.want, s.URI, err, tc.uri, tc.kind)
			}
		})
	}
}

func TestTrustOnFirstUse(t *testing.T) {
	emu, _ := emulator(t, bmc.ModelInline, nil)
	cfg := settings(emu)
	cfg.TLS = redfish.TLS{Verify: redfish.VerifyTrustOnFirstUse}
	c := connect(t, cfg)
	if c.Pin() != emu.CertificateSHA256() {
		t.Fatalf("Pin(): got %q, want %q", c.Pin(), emu.CertificateSHA256())
	}
	if err := emu.Renew(); err != nil {
		t.Fatal(err)
	}
	if _, err := c.System(t.Context(), redfish.Selector{}); !redfish.IsUntrustedCertificate(err) {
		t.Errorf("System(...) after another certificate: got %v, want an untrusted certificate: the first stays the only one, stored or not", err)
	}
	cfg.TLS.Pins = []string{c.Pin()}
	if _, err := redfish.Connect(t.Context(), cfg); !redfish.IsUntrustedCertificate(err) {
		t.Errorf("Connect(...) with the stored pin: got %v, want an untrusted certificate", err)
	}
}

func TestNames(t *testing.T) {
	resolve := func(addrs ...string) resolver {
		r := resolver{}
		for _, a := range addrs {
			r = append(r, netip.MustParseAddr(a))
		}

		return r
	}
	cases := map[string]struct {
		reason string
		r      resolver
		want   redfish.Kind
	}{
		"Allowed":   {reason: "A name for an allowed address.", r: resolve("127.0.0.1")},
		"OutOfList": {reason: "A name for another address: no connection at all.", r: resolve("192.0.2.1"), want: redfish.NotAllowed},
		"Both":      {reason: "A name that points out of bounds at all isn't used.", r: resolve("127.0.0.1", "169.254.169.254"), want: redfish.NotAllowed},
		"Mapped":    {reason: "An IPv4 address in IPv6 clothes is that IPv4 address.", r: resolve("::ffff:169.254.169.254"), want: redfish.NotAllowed},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			emu, _ := emulator(t, bmc.ModelInline, nil)
			cfg := settings(emu)
			_, port, _ := cutAddr(emu.Addr())
			cfg.Address, cfg.Resolver = "bmc.example:"+port, tc.r
			_, err := redfish.Connect(t.Context(), cfg)
			if got := redfish.KindOf(err); got != tc.want {
				t.Errorf("\n%s\nConnect(...): got %v, want kind %q", tc.reason, err, tc.want)
			}
			if reached := emu.Counters().Requests > 0; reached != (tc.want == "") {
				t.Errorf("\n%s\nreached the BMC: %v", tc.reason, reached)
			}
		})
	}
}

func TestLogout(t *testing.T) {
	emu, _ := emulator(t, bmc.ModelInline, nil)
	c := connect(t, settings(emu))
	if emu.Sessions() != 1 {
		t.Fatalf("%d sessions, want 1", emu.Sessions())
	}
	for range 2 {
		if err := c.Close(t.Context()); err != nil {
			t.Errorf("Close(...): %v", err)
		}
	}
	if diff := cmp.Diff(bmc.Counters{Logins: 1, Logouts: 1}, emu.Counters(), cmpopts.IgnoreFields(bmc.Counters{}, "Requests", "Resets")); diff != "" || emu.Sessions() != 0 {
		t.Errorf("%d sessions left; counters: -want, +got:\n%s", emu.Sessions(), diff)
	}
}

// resolver answers every name with the same addresses.
type resolver []netip.Addr

func (r resolver) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) { return r, nil }
