package dhcp

import (
	"encoding/hex"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/insomniacslk/dhcp/dhcpv4"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp/wire"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/ipxe"
)

var ethernet12 = boot.Port{Circuit: "Ethernet1/12", Remote: "leaf-1"}

// named has a segment believe one relay.
func named(g *boot.Segment) {
	g.Relays = []netip.Prefix{netip.MustParsePrefix("10.99.0.2/32")}
}

// alone is a plan of a machine that's known by its port, and netboots each time.
func alone(change ...func(*boot.Plan)) boot.Plan {
	return testPlan(append([]func(*boot.Plan){func(p *boot.Plan) {
		p.EntryUID, p.Entry.Name, p.MACs, p.Mode, p.InstallGeneration, p.Bound, p.Port = "port-1", "port-1", nil, boot.ModeLive, 0, false, &ethernet12
	}}, change...)...)
}

// plugged is what a relay adds of a port.
func plugged(circuit, remote string) []byte {
	return agent(netip.Addr{}, &boot.Port{Circuit: circuit, Remote: remote})
}

func from(mac boot.MAC) dhcpv4.Modifier {
	hw, err := net.ParseMAC(string(mac))
	if err != nil {
		panic(err)
	}
	return dhcpv4.WithHwAddr(hw)
}

func noHolders(t *testing.T) *Holders {
	t.Helper()
	h, err := OpenHolders(filepath.Join(t.TempDir(), "ports.json"))
	if err != nil {
		t.Fatal(err)
	}
	return h
}

var byRelay = Ingress{From: netip.MustParseAddrPort("10.99.0.2:67"), To: testServer, Interface: "br0", Addresses: []netip.Addr{testServer}}

// TestPlacedByPort: a machine that no entry names is found by its switch port, and by nothing that only looks like one.
func TestPlacedByPort(t *testing.T) {
	behind := relayed("10.99.0.2", plugged("Ethernet1/12", "leaf-1")...)
	renewal := Ingress{From: netip.AddrPortFrom(testAddress, 68), To: testServer, Interface: "br0", Addresses: []netip.Addr{testServer}}
	routed := renewal
	routed.From = netip.MustParseAddrPort("192.0.2.66:68")
	renews := all(ofType(dhcpv4.MessageTypeRequest), dhcpv4.WithClientIP(testAddress.AsSlice()))
	request50 := all(ofType(dhcpv4.MessageTypeRequest), addressOpt(50, testAddress.String()))
	cases := map[string]struct {
		reason  string
		req     dhcpv4.Modifier
		in      Ingress
		segment func(*boot.Segment)
		plan    func(*boot.Plan)
		holder  boot.MAC
		want    Reason
	}{
		"Firmware":      {reason: "the first that boots from the network there is the machine", req: all(behind, asPXE(0)), want: Offered},
		"System":        {reason: "a system that asks first may be a BMC that shares the NIC", req: behind, want: SilentUnknown},
		"SystemHas":     {reason: "one that has the planned address already is the machine: this bootd is new", req: all(behind, renews), want: Acknowledged},
		"SystemAsks":    {reason: "and so is one that comes back for it", req: all(behind, request50), want: Acknowledged},
		"Holder":        {reason: "the machine's own system", req: behind, holder: testMAC, want: Offered},
		"Another":       {reason: "a machine was swapped, or there are two: a person decides", req: all(behind, asPXE(0)), holder: otherMAC, want: SilentPortTaken},
		"AnothersBMC":   {reason: "what doesn't boot from the network is nobody that was swapped", req: behind, holder: otherMAC, want: SilentUnknown},
		"OtherPort":     {reason: "octet by octet", req: all(relayed("10.99.0.2", plugged("Ethernet1/1", "leaf-1")...), asPXE(0)), want: SilentUnknown},
		"OtherSwitch":   {reason: "a switch of another name has ports of the same names", req: all(relayed("10.99.0.2", plugged("Ethernet1/12", "leaf-2")...), asPXE(0)), want: SilentUnknown},
		"Capitals":      {reason: "capitals are other octets", req: all(relayed("10.99.0.2", plugged("ethernet1/12", "leaf-1")...), asPXE(0)), want: SilentUnknown},
		"NoRemote":      {reason: "an entry with a remote id wants it", req: all(relayed("10.99.0.2", 1, 2, 'E', '1'), asPXE(0)), want: SilentUnknown},
		"EmptyRemote":   {reason: "an empty sub-option is none", req: all(relayed("10.99.0.2", 1, 2, 'E', '1', 2, 0), asPXE(0)), plan: isE1, want: Offered},
		"AbsentRemote":  {reason: "and so is an absent one", req: all(relayed("10.99.0.2", 1, 2, 'E', '1'), asPXE(0)), plan: isE1, want: Offered},
		"UnaskedRemote": {reason: "an entry without a remote id is none of a switch that has one", req: all(relayed("10.99.0.2", plugged("E1", "leaf-1")...), asPXE(0)), plan: isE1, want: SilentUnknown},
		"Malformed":     {reason: "what isn't made of sub-options says nothing", req: all(relayed("10.99.0.2", 1, 9, 'E', '1'), asPXE(0)), plan: isE1, want: SilentUnknown},
		"Doubled":       {reason: "a client's own option 82 in front of the relay's makes another id of both", req: all(relayed("10.99.0.2", append(plugged("Ethernet1/12", "leaf-1"), plugged("Ethernet1/9", "leaf-1")...)...), asPXE(0)), want: SilentUnknown},
		"MadeUp":        {reason: "a client says an option 82 itself", req: all(option(82, plugged("Ethernet1/12", "leaf-1")...), asPXE(0)), in: broadcastIn(), want: SilentUnknown},
		"OtherRelay":    {reason: "a relay that isn't named", req: all(relayed("10.99.0.3", plugged("Ethernet1/12", "leaf-1")...), asPXE(0)), want: SilentUnknown},
		"NoneNamed":     {reason: "without a list of relays none is believed, though it may pass on", req: all(behind, asPXE(0)), segment: func(g *boot.Segment) { g.Relays = nil }, want: SilentUnknown},
		"OtherLink":     {reason: "the relay speaks for another link", req: all(relayed("10.99.0.2", append(plugged("Ethernet1/12", "leaf-1"), 5, 4, 10, 98, 0, 1)...), asPXE(0)), want: SilentUnknown},
		"Proxy":         {reason: "another server gives the addresses", req: all(behind, asPXE(0)), segment: func(g *boot.Segment) { named(g); g.Mode = boot.SegmentProxy }, want: SilentUnknown},
		"RelayOnly":     {reason: "relays are all that's heard", req: all(behind, asPXE(0)), segment: func(g *boot.Segment) { named(g); g.Mode = boot.SegmentRelayOnly }, want: Offered},
		"Renewal":       {reason: "a lease is renewed without the relay", req: renews, in: renewal, holder: testMAC, want: Acknowledged},
		"RenewalOther":  {reason: "by who holds the port alone", req: renews, in: renewal, holder: otherMAC, want: SilentUnknown},
		"RenewalRouted": {reason: "and from the planned address", req: renews, in: routed, holder: testMAC, want: SilentUnknown},
		"Broadcast":     {reason: "who holds a port isn't behind it on a link of ours", req: asPXE(0), in: broadcastIn(), holder: testMAC, want: SilentUnknown},
		"Named":         {reason: "an entry that names its MAC isn't found by its port", req: all(behind, asPXE(0), from(otherMAC)), plan: func(p *boot.Plan) { p.MACs = []boot.MAC{testMAC} }, want: SilentUnknown},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if tc.segment == nil {
				tc.segment = named
			}
			if !tc.in.From.IsValid() {
				tc.in = byRelay
			}
			p := alone()
			if tc.plan != nil {
				tc.plan(&p)
			}
			v := testView(testState(tc.segment, p))
			v.Proxy, v.Holders = true, noHolders(t)
			if tc.holder != "" {
				v.Holders.Name(p.PlaceKey(), tc.holder)
			}
			a, got := answered(t, v, request(t, tc.req), tc.in)
			if a.Reason != tc.want {
				t.Fatalf("%s: %s, want %s", tc.reason, a.Reason, tc.want)
			}
			if got != nil && !got.YourIPAddr.Equal(testAddress.AsSlice()) {
				t.Errorf("%s: it's given %s", tc.reason, got.YourIPAddr)
			}
		})
	}
}

func isE1(p *boot.Plan) { p.Port = &boot.Port{Circuit: "E1"} }

// TestPortBesideMACs: a machine is served wherever it is, and its script token says whether it's behind its port.
func TestPortBesideMACs(t *testing.T) {
	iPXE := func(mods ...dhcpv4.Modifier) dhcpv4.Modifier { return all(append(mods, asIPXE(0))...) }
	cases := map[string]struct {
		reason  string
		req     dhcpv4.Modifier
		in      Ingress
		segment func(*boot.Segment)
		port    *boot.Port
		behind  bool
		seen    string
	}{
		"Behind":    {"where its entry says", iPXE(relayed("10.99.0.2", plugged("Ethernet1/12", "leaf-1")...)), byRelay, named, &ethernet12, true, ""},
		"OtherPort": {"at another port", iPXE(relayed("10.99.0.2", plugged("Ethernet1/9", "leaf-1")...)), byRelay, named, &ethernet12, false, `behind port "Ethernet1/9" of "leaf-1"`},
		"NoPort":    {"its relay says nothing", iPXE(relayed("10.99.0.2")), byRelay, named, &ethernet12, false, "behind port none"},
		"Direct":    {"behind no relay", iPXE(), broadcastIn(), named, &ethernet12, false, directly},
		"MadeUp":    {"its own option 82", iPXE(option(82, plugged("Ethernet1/12", "leaf-1")...)), broadcastIn(), named, &ethernet12, false, directly},
		"NoneNamed": {"no relay is named: nothing is known of ports", iPXE(relayed("10.99.0.2", plugged("Ethernet1/12", "leaf-1")...)), byRelay, nil, &ethernet12, false, ""},
		"None":      {"an entry without a port", iPXE(relayed("10.99.0.2", plugged("Ethernet1/9", "leaf-1")...)), byRelay, named, nil, true, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			v := testView(testState(tc.segment, testPlan(func(p *boot.Plan) { p.Port = tc.port })))
			a, got := answered(t, v, request(t, tc.req), tc.in)
			if a.Reason != Offered || a.Sight.Elsewhere != tc.seen {
				t.Fatalf("%s: %s, seen %q, want %q", tc.reason, a.Reason, a.Sight.Elsewhere, tc.seen)
			}
			_, rest, _ := strings.Cut(got.BootFileName, ipxe.PathBoot)
			token, _, _ := strings.Cut(rest, "/")
			c, err := boot.Verify(v.Keys, token, testNow)
			if err != nil || tc.port.Marked(c.Nonce) != tc.behind {
				t.Errorf("%s: nonce %q, %v", tc.reason, c.Nonce, err)
			}
		})
	}
}

// heardBy is what a server of a state does with requests: of each the reason of its answer.
func heardBy(t *testing.T, cfg Config, st *boot.State) func(in Ingress, mods ...dhcpv4.Modifier) Reason {
	t.Helper()
	now := testNow
	cfg.State, cfg.Keys = func() *boot.State { return st }, func() [][]byte { return [][]byte{testKey} }
	cfg.HTTPPort, cfg.Files, cfg.Now = 8080, testFiles, func() time.Time { return now }
	cfg.Sightings = SightingsFn(func(*boot.Plan, boot.MAC, boot.Stage, boot.Firmware, time.Time) {})
	s := New(cfg)
	return func(in Ingress, mods ...dhcpv4.Modifier) Reason {
		now = now.Add(time.Second)
		return s.handle(message(t, request(t, mods...)), in, desk{reply: &wire.Reply{}}).Reason
	}
}

// TestPortIsHeld: the first machine behind a port holds it, over a restart too, and another one is told of and isn't served. Once the entry names
// that one it's served, and holds the port.
func TestPortIsHeld(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ports.json")
	open := func() *Holders {
		h, err := OpenHolders(path)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	var told []string
	tell := func(p *boot.Plan, says string, _ time.Time) { told = append(told, p.Entry.Name+": "+says) }
	behind, wants := relayed("10.99.0.2", plugged("Ethernet1/12", "leaf-1")...), all(ofType(dhcpv4.MessageTypeRequest), addressOpt(50, testAddress.String()))
	h := open()
	ask := heardBy(t, Config{Holders: h, Misplaced: tell}, testState(named, alone()))
	steps := func(ask func(Ingress, ...dhcpv4.Modifier) Reason, who boot.MAC, as dhcpv4.Modifier, want ...Reason) {
		t.Helper()
		got := []Reason{ask(byRelay, behind, as, from(who)), ask(byRelay, behind, as, from(who), wants)}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
	if r := ask(byRelay, behind, asPXE(0), from(otherMAC)); r != Offered {
		t.Fatal(r)
	}
	if r := ask(byRelay, behind, asPXE(0), from(testMAC)); r != SilentPortTaken {
		t.Errorf("what was offered to one isn't offered to another: %s", r)
	}
	for range offerHolds / time.Second { // The first one never asks for what it was offered.
		ask(byRelay, ofType(dhcpv4.MessageTypeRelease))
	}
	steps(ask, testMAC, asPXE(0), Offered, Acknowledged)
	steps(ask, testMAC, all(), Offered, Acknowledged)
	steps(ask, otherMAC, asPXE(0), SilentPortTaken, SilentPortTaken)
	if err := h.keep(); err != nil {
		t.Fatal(err)
	}
	h = open()
	ask = heardBy(t, Config{Holders: h, Misplaced: tell}, testState(named, alone()))
	steps(ask, otherMAC, asPXE(0), SilentPortTaken, SilentPortTaken)
	steps(ask, testMAC, asPXE(0), Offered, Acknowledged)

	ask = heardBy(t, Config{Holders: h, Misplaced: tell}, testState(named, alone(func(p *boot.Plan) { p.MACs = []boot.MAC{otherMAC} })))
	steps(ask, otherMAC, asPXE(0), Offered, Acknowledged)
	ask = heardBy(t, Config{Holders: h, Misplaced: tell}, testState(named, alone()))
	steps(ask, otherMAC, asPXE(0), Offered, Acknowledged)
	steps(ask, testMAC, asPXE(0), SilentPortTaken, SilentPortTaken)
	elsewhere := boot.Port{Circuit: "Ethernet1/13"}
	ask = heardBy(t, Config{Holders: h, Misplaced: tell}, testState(named, alone(func(p *boot.Plan) { p.Port = &elsewhere })))
	if r := ask(byRelay, relayed("10.99.0.2", plugged("Ethernet1/13", "")...), asPXE(0), from(testMAC)); r != Offered {
		t.Errorf("an entry that names another port is another place: %s", r)
	}
	for _, says := range told {
		if !strings.HasPrefix(says, "port-1: NeedsConfirmation: MAC ") {
			t.Error(says)
		}
	}
	if len(told) != 4 { // The first try, the other one, after the restart, and the one before in the end.
		t.Errorf("%d times: %q", len(told), told)
	}
}

// TestPortOfAnotherServer: what another bootd gives counts here, too.
func TestPortOfAnotherServer(t *testing.T) {
	h := noHolders(t)
	ask := heardBy(t, Config{Holders: h}, testState(named, alone()))
	behind := relayed("10.99.0.2", plugged("Ethernet1/12", "leaf-1")...)
	if r := ask(byRelay, behind, asPXE(0), ofType(dhcpv4.MessageTypeRequest), addressOpt(50, testAddress.String()), addressOpt(54, "10.99.0.9")); r != SilentOtherServer {
		t.Fatal(r)
	}
	if mac, held := h.Of(new(alone()).PlaceKey(), testNow.Add(1000*time.Hour)); !held || mac != testMAC {
		t.Errorf("%s holds the port", mac)
	}
}

// TestMisplaced: of a machine that isn't behind its port it's told once a boot, and it gets its address.
func TestMisplaced(t *testing.T) {
	var told []string
	ask := heardBy(t, Config{
		Holders: noHolders(t), Misplaced: func(_ *boot.Plan, says string, _ time.Time) { told = append(told, says) },
	}, testState(named, testPlan(func(p *boot.Plan) { p.Port = &ethernet12 })))
	elsewhere, wants := relayed("10.99.0.2", plugged("Ethernet1/9", "leaf-1")...), all(ofType(dhcpv4.MessageTypeRequest), addressOpt(50, testAddress.String()))
	for range 3 {
		if a, b := ask(byRelay, elsewhere, asPXE(0)), ask(byRelay, elsewhere, asPXE(0), wants); a != Offered || b != Acknowledged {
			t.Errorf("%s, %s", a, b)
		}
	}
	want := []string{`MAC 52:54:00:99:00:13 is behind port "Ethernet1/9" of "leaf-1", and not behind port "Ethernet1/12" of "leaf-1": nothing is installed on it there`}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Error(diff)
	}
}

func TestHolders(t *testing.T) {
	dir := t.TempDir()
	broken := filepath.Join(dir, "broken")
	if err := os.WriteFile(broken, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	h, err := OpenHolders(broken)
	if _, held := h.Of("a", testNow); err == nil || held {
		t.Error("what can't be read is said, and nothing is known")
	}
	if !h.Hold("a", testMAC, testNow, time.Time{}) || h.Hold("a", otherMAC, testNow, time.Time{}) || !h.Hold("b", testMAC, testNow, time.Time{}) {
		t.Error("a port is one machine's, until that goes to another port")
	}
	if _, held := h.Of("a", testNow); held {
		t.Error("it went to another port")
	}
	if !h.Hold("a", otherMAC, testNow, testNow.Add(time.Minute)) || h.Hold("a", testMAC, testNow.Add(time.Second), time.Time{}) {
		t.Error("an offer keeps a port for a moment")
	}
	if uid, ok := h.Place(testMAC); !ok || uid != "b" {
		t.Errorf("who was refused another port keeps its own: %q", uid)
	}
	if err := h.keep(); err != nil {
		t.Fatal(err)
	}
	h, err = OpenHolders(broken)
	if mac, held := h.Of("b", testNow); err != nil || !held || mac != testMAC {
		t.Errorf("it's written down: %v, %q", err, mac)
	}
	if _, held := h.Of("a", testNow); held {
		t.Error("an offer isn't")
	}
}

// TestPortsOfRealRelays: what relays of the field say of ports, as an entry writes it.
func TestPortsOfRealRelays(t *testing.T) {
	cases := map[string]struct {
		reason string
		info   string // option 82, in hex
		want   boot.Port
	}{
		"DLink":        {"VLAN, module and port in binary", "0106" + "0004000f0011" + "0208" + "0006001122334455", boot.Port{Circuit: "0x0004000f0011", Remote: "0x0006001122334455"}},
		"Arista":       {"text", "0111" + hex.EncodeToString([]byte("Ethernet3/17/1:20")), boot.Port{Circuit: "Ethernet3/17/1:20"}},
		"AristaTyped":  {"text behind a type and a length", "0110" + "000e" + hex.EncodeToString([]byte("Port-Channel10")), boot.Port{Circuit: "0x000e506f72742d4368616e6e656c3130"}},
		"EmptyRemote":  {"an empty remote id", "0102" + "4531" + "0200", boot.Port{Circuit: "E1"}},
		"RemoteAlone":  {"no circuit id", "0202" + "7331", boot.Port{Remote: "s1"}},
		"Enterprise":   {"a sub-option of a vendor's between", "0904" + "00000de9" + "0102" + "4531", boot.Port{Circuit: "E1"}},
		"Truncated":    {"cut off in the middle", "0106" + "0004", boot.Port{}},
		"Nothing":      {"an empty option", "", boot.Port{}},
		"LinkAlone":    {"nothing of a port", "0504" + "0a630001", boot.Port{}},
		"BlankInFront": {"a leading blank is of it", "0103" + hex.EncodeToString([]byte(" P1")), boot.Port{Circuit: " P1"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			info, err := hex.DecodeString(tc.info)
			if err != nil {
				t.Fatal(err)
			}
			if got := Classify(message(t, request(t, relayed("10.99.0.2", info...)))).Relay.Port(); got != tc.want {
				t.Errorf("%s: %v, want %v", tc.reason, got, tc.want)
			}
		})
	}
}

// TestPortOfJuniper reads a packet that a real relay passed on, which isn't ours to give away.
func TestPortOfJuniper(t *testing.T) {
	file := filepath.Join(shared, "dhcp-real", "text", "juniper-ex-relay-opt82-discover.hex")
	if _, err := os.Stat(file); err != nil {
		t.Skip("packets of real relays: ../shared/testdata/dhcp-real isn't there")
	}
	var req wire.Message
	if err := req.Read(hexFile(t, file)); err != nil {
		t.Fatal(err)
	}
	at := boot.Port{Circuit: "ge-1/0/1.0:43", Remote: "cc:e1:7f:87:b2:00:172.17.21.13"}
	f := Classify(&req)
	if f.Relay.Port() != at {
		t.Fatalf("%v", f.Relay.Port())
	}
	plan := alone(func(p *boot.Plan) { p.Port, p.Network.Address = &at, netip.MustParsePrefix("10.26.17.9/24") })
	v := testView(testState(func(g *boot.Segment) {
		g.Subnets, g.Relays = []netip.Prefix{netip.MustParsePrefix("10.26.17.0/24")}, []netip.Prefix{netip.PrefixFrom(f.Relay.Address, 32)}
	}, plan))
	v.Holders = noHolders(t)
	in := Ingress{From: netip.AddrPortFrom(f.Relay.Address, 67), To: testServer, Interface: "br0", Addresses: []netip.Addr{testServer}}
	if a := Respond(v, &req, in); a.Reason != SilentUnknown {
		t.Errorf("a laptop's system takes no port: %s", a.Reason)
	}
	v.Holders.Name(plan.PlaceKey(), f.MAC)
	a := Respond(v, &req, in)
	if p := packetOf(t, a); a.Reason != Offered || p.YourIPAddr.String() != "10.26.17.9" || p.RelayAgentInfo() == nil {
		t.Errorf("%s", a.Reason)
	}
}
