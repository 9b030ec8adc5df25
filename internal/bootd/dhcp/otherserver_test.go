package dhcp

import (
	"context"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
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

// TestStandIns: a relay that has machines told its own address in the place of ours is no other server to who hears of that by another way.
func TestStandIns(t *testing.T) {
	via := func(relay string) dhcpv4.Modifier {
		return relayed(relay, append([]byte{11, 4}, netip.MustParseAddr(relay).AsSlice()...)...)
	}
	untrusted := all(relayed("192.0.2.9", 11, 4, 192, 0, 2, 9))
	cfg := testConfig(testState(nil, testPlan()))
	path := filepath.Join(t.TempDir(), "relays.json")
	opened := func() *StandIns {
		t.Helper()
		s, err := OpenStandIns(path)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	cfg.StandIns = opened()
	ctx, end := context.WithCancel(t.Context())
	defer end()
	go func() { _ = cfg.StandIns.Run(ctx, slog.New(slog.DiscardHandler)) }()
	now := cfg.Now()
	cfg.Now = func() time.Time { return now }
	s := New(cfg)
	viaRelay := Ingress{From: netip.MustParseAddrPort("10.99.0.5:67"), To: testServer, Interface: "br0", Addresses: []netip.Addr{testServer}}
	ask := func(m dhcpv4.Modifier, in Ingress) Reason {
		t.Helper()
		return s.handle(message(t, request(t, m)), in, desk{reply: &wire.Reply{}}).Reason
	}
	a, b := netip.MustParseAddr("10.99.0.5"), netip.MustParseAddr("10.99.0.6")
	has := func() []bool {
		return []bool{cfg.StandIns.Has(a, now), cfg.StandIns.Has(b, now), cfg.StandIns.Has(netip.MustParseAddr("192.0.2.9"), now), cfg.StandIns.Has(testServer, now)}
	}
	if ask(untrusted, viaRelay) != SilentRelayUntrusted || slices.Contains(has(), true) {
		t.Errorf("of a relay that isn't trusted: %t", has())
	}
	ask(all(asPXE(7), via("10.99.0.5")), viaRelay)
	ask(all(asPXE(7), via("10.99.0.6")), viaRelay)
	ask(asPXE(7), broadcastIn())
	if diff := cmp.Diff([]bool{true, true, false, false}, has()); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
	for late := time.Now().Add(10 * time.Second); !opened().Has(a, now) || !opened().Has(b, now); time.Sleep(time.Millisecond) {
		if time.Now().After(late) {
			t.Fatal("they aren't written down")
		}
	}
	end()
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if damaged, err := OpenStandIns(path); err == nil || damaged.Has(a, now) {
		t.Errorf("of a damaged file: %v", err)
	}
	now = now.Add(40 * time.Minute)
	takes := func(more ...dhcpv4.Modifier) dhcpv4.Modifier {
		return all(append(more, ofType(dhcpv4.MessageTypeRequest), asPXE(7), addressOpt(54, a.String()), addressOpt(50, testAddress.String()))...)
	}
	if got := []Reason{ask(takes(via("10.99.0.5")), viaRelay), ask(takes(via("10.99.0.6")), viaRelay)}; !slices.Equal(got, []Reason{Acknowledged, SilentOtherServer}) {
		t.Errorf("%q", got)
	}
	now = now.Add(40 * time.Minute) // Since the last answer through a, and since the only one through b.
	if diff := cmp.Diff([]bool{true, false, false, false}, has()); diff != "" {
		t.Errorf("later: -want, +got:\n%s", diff)
	}
	x := a
	for range 2 * maxStandIns {
		x = x.Next()
		cfg.StandIns.answered(&Answer{Packet: []byte{1}, Facts: Facts{Relay: Relay{ServerID: x}}}, now)
	}
	if len(cfg.StandIns.last) > maxStandIns || !cfg.StandIns.Has(a, now) {
		t.Errorf("%d are noted", len(cfg.StandIns.last))
	}
}
