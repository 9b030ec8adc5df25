package dhcp

import (
	"context"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/insomniacslk/dhcp/dhcpv4"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp/wire"
)

// TestOtherServerIsTold: a machine of ours that takes another's offer is news; what is said to us, or by a machine that isn't ours, isn't.
func TestOtherServerIsTold(t *testing.T) {
	to := func(server string, kind dhcpv4.MessageType) dhcpv4.Modifier {
		return all(ofType(kind), addressOpt(54, server), addressOpt(50, testAddress.String()))
	}
	var told []string
	cfg := testConfig(testState(nil, testPlan()))
	cfg.OtherServer = func(_ *boot.Plan, a netip.Addr) { told = append(told, a.String()) }
	s := New(cfg)
	for _, m := range []dhcpv4.Modifier{
		to("10.99.0.1", dhcpv4.MessageTypeRequest), to("10.99.0.2", dhcpv4.MessageTypeRequest), to("10.99.0.3", dhcpv4.MessageTypeDecline), asPXE(0),
		all(to("10.99.0.4", dhcpv4.MessageTypeRequest), func(p *dhcpv4.DHCPv4) { p.ClientHWAddr = []byte{2, 0, 0, 9, 9, 9} }),
	} {
		s.handle(message(t, request(t, m)), broadcastIn(), desk{reply: &wire.Reply{}})
	}
	if diff := cmp.Diff([]string{"10.99.0.2"}, told); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

// TestStandIns: a relay that has machines told its own address in the place of ours is no other server where the machine takes the planned address, and one
// everywhere else.
func TestStandIns(t *testing.T) {
	via := func(relay, name string) dhcpv4.Modifier {
		return relayed(relay, append([]byte{11, 4}, netip.MustParseAddr(name).AsSlice()...)...)
	}
	says := func(kind dhcpv4.MessageType, server, address string, more ...dhcpv4.Modifier) dhcpv4.Modifier {
		return all(append(more, ofType(kind), asPXE(7), addressOpt(54, server), addressOpt(50, address))...)
	}
	const a, b, planned = "10.99.0.5", "10.99.0.6", "10.99.0.83"
	discover, takes, declines := dhcpv4.MessageTypeDiscover, dhcpv4.MessageTypeRequest, dhcpv4.MessageTypeDecline
	viaRelay := Ingress{From: netip.MustParseAddrPort("10.99.0.5:67"), To: testServer, Interface: "br0", Addresses: []netip.Addr{testServer}}
	both := []dhcpv4.Modifier{all(asPXE(7), via(a, a)), all(asPXE(7), via(b, b))}
	for name, tc := range map[string]struct {
		reason string
		mode   boot.SegmentMode
		before []dhcpv4.Modifier
		later  time.Duration
		says   []dhcpv4.Modifier
		direct bool // They come without a relay.
		told   []string
	}{
		"Other":         {"the copy through the other relay", "", both, 0, []dhcpv4.Modifier{says(takes, a, planned, via(b, b))}, false, nil},
		"Direct":        {"the copy on our own link", "", both, 0, []dhcpv4.Modifier{says(takes, a, planned)}, true, nil},
		"Late":          {"an hour later nobody knows that name", "", both, 2 * standsFor, []dhcpv4.Modifier{says(takes, a, planned, via(b, b))}, false, []string{"other " + a}},
		"Address":       {"another server behind the same relays gave another address", "", both, 0, []dhcpv4.Modifier{says(takes, a, "10.99.0.222", via(b, b))}, false, []string{"other " + a}},
		"AddressDirect": {"or on our link", "", both, 0, []dhcpv4.Modifier{says(takes, a, "10.99.0.222")}, true, []string{"other " + a, "named " + a}},
		"Proxy":         {"another server gives the addresses", boot.SegmentProxy, both, 0, []dhcpv4.Modifier{says(takes, a, planned, via(b, b))}, false, []string{"other " + a}},
		"Untrusted":     {"who isn't trusted names nothing", "", []dhcpv4.Modifier{all(asPXE(7), via("192.0.2.9", a))}, 0, []dhcpv4.Modifier{says(takes, a, planned, via(b, b))}, false, []string{"other " + a}},
		"Elsewhere":     {"a name that's neither the relay's nor of its network", "", []dhcpv4.Modifier{all(asPXE(7), via(b, "192.168.1.1"))}, 0, []dhcpv4.Modifier{says(takes, "192.168.1.1", planned)}, true, []string{"other 192.168.1.1", "named 192.168.1.1"}},
		"Third":         {"a server whose name no relay has", "", both, 0, []dhcpv4.Modifier{says(takes, "10.99.0.7", planned, via(b, b))}, false, []string{"other 10.99.0.7"}},
		"Declines": {"a DECLINE counts once, whichever copy comes first", "", both, 0, []dhcpv4.Modifier{
			says(takes, a, planned, via(b, b)), says(takes, a, planned, via(a, a)), says(declines, a, planned, via(b, b)), says(declines, a, planned, via(a, a)),
		}, false, []string{"declined"}},
		"DeclinesFirst": {"the other one first", "", both, 0, []dhcpv4.Modifier{
			says(takes, a, planned, via(a, a)), says(takes, a, planned, via(b, b)), says(declines, a, planned, via(a, a)), says(declines, a, planned, via(b, b)),
		}, false, []string{"declined"}},
	} {
		t.Run(name, func(t *testing.T) {
			var told []string
			cfg := testConfig(testState(func(g *boot.Segment) {
				if tc.mode != "" {
					g.Mode = tc.mode
				}
			}, testPlan()))
			now := cfg.Now()
			cfg.Now = func() time.Time { return now }
			cfg.Proxy = func() bool { return true }
			cfg.OtherServer = func(_ *boot.Plan, a netip.Addr) { told = append(told, "other "+a.String()) }
			cfg.Named = func(a netip.Addr, _ Ingress) { told = append(told, "named "+a.String()) }
			cfg.Declined = func(*boot.Plan, boot.MAC, netip.Addr, time.Time) { told = append(told, "declined") }
			cfg.StandIns, _ = OpenStandIns(filepath.Join(t.TempDir(), "relays.json"))
			s := New(cfg)
			for _, m := range tc.before {
				s.handle(message(t, request(t, all(m, ofType(discover)))), viaRelay, desk{reply: &wire.Reply{}})
			}
			now = now.Add(tc.later)
			in := viaRelay
			if tc.direct {
				in = broadcastIn()
			}
			for _, m := range tc.says {
				s.handle(message(t, request(t, m)), in, desk{reply: &wire.Reply{}})
			}
			if diff := cmp.Diff(tc.told, told); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestStandInsKept: they outlive a restart, are bounded, and a damaged file is none.
func TestStandInsKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "relays.json")
	now := time.Now()
	s, err := OpenStandIns(path)
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(t.Context())
	defer end()
	go func() { _ = s.Run(ctx, slog.New(slog.DiscardHandler)) }()
	p := testPlan()
	name := netip.MustParseAddr("10.98.0.1")
	for range 2 * maxStandIns {
		s.answered(&Answer{Packet: []byte{1}, Reason: Offered, Plan: &p, Facts: Facts{Relay: Relay{Address: name, ServerID: name}}}, now)
		name = name.Next()
	}
	first := netip.MustParseAddr("10.98.0.1")
	if len(s.last) != maxStandIns || !s.has(p.Network.Name, first, now) {
		t.Errorf("%d are noted", len(s.last))
	}
	for late := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		again, err := OpenStandIns(path)
		if err == nil && len(again.last) == maxStandIns && again.has(p.Network.Name, first, now) && !again.has(boot.Name{Name: "other"}, first, now) {
			break
		}
		if time.Now().After(late) {
			t.Fatalf("they aren't written down: %v", err)
		}
	}
	end()
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if damaged, err := OpenStandIns(path); err == nil || damaged.has(p.Network.Name, first, now) {
		t.Errorf("of a damaged file: %v", err)
	}
}
