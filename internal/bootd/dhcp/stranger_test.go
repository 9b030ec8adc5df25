package dhcp

import (
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/insomniacslk/dhcp/dhcpv4"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp/pool"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp/wire"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/limit"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/tiebreak"
)

// lending is a segment that lends addresses; the planned one of the tests is one of them, as are our own and the DNS server's.
func lending(start, end string) func(*boot.Segment) {
	return func(g *boot.Segment) {
		n := testPlan().Network
		n.Address, n.Lease = netip.MustParsePrefix("10.99.0.0/24"), boot.LentFor
		g.Pools = []boot.Pool{{Start: netip.MustParseAddr(start), End: netip.MustParseAddr(end), Network: n}}
	}
}

func lender(segment func(*boot.Segment), now *time.Time) *Server {
	cfg := testConfig(testState(segment, testPlan()))
	cfg.Now, cfg.Lending.Book = func() time.Time { return *now }, pool.NewBook(pool.Most)
	return New(cfg)
}

func asMAC(mac boot.MAC) dhcpv4.Modifier {
	hw, err := net.ParseMAC(string(mac))
	if err != nil {
		panic(err)
	}
	return dhcpv4.WithHwAddr(hw)
}

// TestStranger is what a machine that nobody knows hears, one request after another.
func TestStranger(t *testing.T) {
	const us, a9, foreigner = "10.99.0.1", "10.99.0.9", "10.99.0.2"
	ask := func(m dhcpv4.MessageType, mods ...dhcpv4.Modifier) dhcpv4.Modifier {
		return all(append([]dhcpv4.Modifier{asMAC(otherMAC), ofType(m)}, mods...)...)
	}
	discover := ask(dhcpv4.MessageTypeDiscover)
	selects := func(server, a string) dhcpv4.Modifier {
		return ask(dhcpv4.MessageTypeRequest, addressOpt(54, server), addressOpt(50, a))
	}
	has := func(m dhcpv4.MessageType) dhcpv4.Modifier {
		return ask(m, dhcpv4.WithClientIP(net.ParseIP(a9)))
	}
	third := func(r dhcpv4.Modifier) dhcpv4.Modifier { return all(r, asMAC("52:54:00:99:00:77")) }
	here, unicast := broadcastIn(), routed(netip.MustParseAddr(a9))
	type step struct {
		after time.Duration
		req   dhcpv4.Modifier
		in    Ingress
		want  Reason
		yours string
	}
	offered, taken := step{0, discover, here, OfferedTemporarily, a9}, step{0, selects(us, a9), here, AcknowledgedTemporarily, a9}
	cases := map[string]struct {
		reason  string
		segment func(*boot.Segment)
		change  func(*Config)
		steps   []step
	}{
		"Lent": {
			reason: "an address, and the same one again", segment: lending(a9, a9),
			steps: []step{offered, taken, offered, taken, {0, has(dhcpv4.MessageTypeRequest), unicast, AcknowledgedTemporarily, a9}, {0, has(dhcpv4.MessageTypeRequest), here, AcknowledgedTemporarily, a9}},
		},
		"Firmware": {
			reason: "a network ROM too, and nothing to boot", segment: lending(a9, a9),
			steps: []step{{0, all(discover, asPXE(7)), here, OfferedTemporarily, a9}, {0, all(discover, asIPXE(7)), here, OfferedTemporarily, a9}},
		},
		"Probe": {
			reason: "a bootd that looks for other servers is no machine, and takes none of the range", segment: lending(a9, a9),
			steps: []step{{0, all(discover, dhcpv4.WithUserClass(wire.ProbeClass, true)), here, SilentProbe, ""}},
		},
		"NoRange": {reason: "by default a stranger hears nothing", steps: []step{{0, discover, here, SilentUnknown, ""}}},
		"Off": {
			reason: "nor where another gives the addresses", segment: func(g *boot.Segment) { lending(a9, a9)(g); g.Mode = boot.SegmentProxy },
			steps: []step{{0, discover, here, SilentUnknown, ""}},
		},
		"RelayOnly": {
			reason: "only by a relay", segment: func(g *boot.Segment) { lending(a9, a9)(g); g.Mode = boot.SegmentRelayOnly },
			steps: []step{{0, discover, here, SilentUnknown, ""}, {0, all(discover, relayed("10.99.0.1")), fromRelay(netip.Addr{}), OfferedTemporarily, a9}},
		},
		"RelayElsewhere": {
			reason: "a relay of another link", segment: lending(a9, a9),
			steps: []step{{0, all(discover, relayed("10.98.0.1")), fromRelay(netip.Addr{}), SilentUnknown, ""}},
		},
		"OtherInterface": {
			reason: "on its own segment alone", segment: lending(a9, a9),
			steps: []step{{0, discover, Ingress{Interface: "eth1", Addresses: []netip.Addr{netip.MustParseAddr("10.98.0.1")}}, SilentUnknown, ""}},
		},
		"Routed": {reason: "who asks from afar gets none", segment: lending(a9, a9), steps: []step{{0, discover, unicast, SilentUnknown, ""}}},
		"Reserved": {
			reason: "never one that is planned for a machine", segment: lending("10.99.0.83", "10.99.0.83"), steps: []step{{0, discover, here, SilentNoneFree, ""}},
		},
		"Ours":  {reason: "nor ours, which is the gateway's too", segment: lending(us, us), steps: []step{{0, discover, here, SilentNoneFree, ""}}},
		"DNS":   {reason: "nor a server's", segment: lending("10.99.0.53", "10.99.0.53"), steps: []step{{0, discover, here, SilentNoneFree, ""}}},
		"Edges": {reason: "nor the network's, nor the broadcast's", segment: lending("10.99.0.255", "10.99.0.255"), steps: []step{{0, discover, here, SilentNoneFree, ""}}},
		"Bootd": {
			reason: "nor another bootd's", segment: lending(a9, a9), change: func(c *Config) { c.Lending.Server = func(netip.Addr) bool { return true } },
			steps: []step{{0, discover, here, SilentNoneFree, ""}},
		},
		"Full": {
			reason: "one address, one machine, until its term has ended", segment: lending(a9, a9),
			steps: []step{
				offered, taken, {0, third(discover), here, SilentNoneFree, ""}, {0, third(selects(us, a9)), here, Refused, ""},
				{pool.Term, third(discover), here, OfferedTemporarily, a9},
			},
		},
		"OfferWaits": {
			reason: "who is offered one and doesn't take it loses it soon", segment: lending(a9, a9),
			steps: []step{offered, {0, third(discover), here, SilentNoneFree, ""}, {pool.Offered, third(discover), here, OfferedTemporarily, a9}},
		},
		"Remembered": {
			reason: "a restart has forgotten, the machine hasn't", segment: lending("10.99.0.8", "10.99.0.60"),
			steps: []step{{0, ask(dhcpv4.MessageTypeRequest, addressOpt(50, a9)), here, AcknowledgedTemporarily, a9}, offered},
		},
		"Wish": {
			reason: "what it had elsewhere is no address here, and nobody's to refuse", segment: lending(a9, a9),
			steps: []step{{0, ask(dhcpv4.MessageTypeRequest, addressOpt(50, "192.0.2.7")), here, SilentUnknown, ""}, {0, all(discover, addressOpt(50, "10.99.0.83")), here, OfferedTemporarily, a9}},
		},
		"One": {
			reason: "a machine has one, however many it asks for", segment: lending("10.99.0.8", "10.99.0.60"),
			steps: []step{
				{0, all(discover, addressOpt(50, a9)), here, OfferedTemporarily, a9}, taken,
				{0, ask(dhcpv4.MessageTypeRequest, addressOpt(50, "10.99.0.10")), here, Refused, ""},
			},
		},
		"Declined": {
			reason: "somebody else uses it", segment: lending(a9, a9),
			steps: []step{
				offered, taken, {0, ask(dhcpv4.MessageTypeDecline, addressOpt(54, us), addressOpt(50, a9)), here, Declined, ""},
				{0, discover, here, SilentNoneFree, ""}, {quarantined + time.Second, discover, here, OfferedTemporarily, a9},
			},
		},
		"DeclinedUnasked": {
			reason: "nobody gave it: who says so makes no room", segment: lending(a9, a9),
			steps: []step{offered, {0, third(ask(dhcpv4.MessageTypeDecline, addressOpt(54, us), addressOpt(50, a9))), here, SilentUnasked, ""}, offered},
		},
		"Released": {
			reason: "given back", segment: lending(a9, a9),
			steps: []step{offered, taken, {0, all(has(dhcpv4.MessageTypeRelease), addressOpt(54, us)), unicast, Released, ""}, {0, third(discover), here, OfferedTemporarily, a9}},
		},
		"MadeUp": {
			reason: "a server that nobody knows lends nothing of ours", segment: lending(a9, a9),
			steps: []step{{0, selects(foreigner, a9), here, SilentOtherServer, ""}, {0, third(discover), here, OfferedTemporarily, a9}},
		},
		"OneElsewhere": {
			reason: "one MAC has one address, whoever lends it", segment: lending(a9, "10.99.0.10"), change: func(c *Config) {
				c.Lending.Server = func(a netip.Addr) bool { return a.String() == foreigner }
			},
			steps: []step{
				{0, selects(foreigner, a9), here, SilentOtherServer, ""}, {0, selects(foreigner, "10.99.0.10"), here, SilentOtherServer, ""},
				{0, third(all(discover, addressOpt(50, "10.99.0.10"))), here, OfferedTemporarily, "10.99.0.10"},
			},
		},
		"OtherBootd": {
			reason: "what another one lends is heard", segment: lending(a9, a9), change: func(c *Config) {
				c.Lending.Server = func(a netip.Addr) bool { return a.String() == foreigner }
			},
			steps: []step{{0, selects(foreigner, a9), here, SilentOtherServer, ""}, {0, third(discover), here, SilentNoneFree, ""}, {0, has(dhcpv4.MessageTypeRequest), here, AcknowledgedTemporarily, a9}},
		},
		"NotMine": {
			reason: "another one may lend it", segment: lending(a9, a9), change: func(c *Config) {
				c.Lending.Share = func(boot.Name) func(netip.Addr) bool { return nil }
			},
			steps: []step{
				{0, discover, here, SilentNoneFree, ""}, {0, ask(dhcpv4.MessageTypeRequest, addressOpt(50, a9)), here, SilentNotMine, ""},
				{0, selects(foreigner, a9), here, SilentOtherServer, ""}, {0, has(dhcpv4.MessageTypeRequest), here, SilentNotMine, ""},
				{0, discover, here, SilentNoneFree, ""}, {0, third(has(dhcpv4.MessageTypeRequest)), here, SilentNotMine, ""},
			},
		},
		"Withheld": {
			reason: "a machine with an entry and no plan yet is no stranger", segment: lending(a9, a9),
			change: func(c *Config) { c.State().Withhold([]boot.MAC{otherMAC}, nil) },
			steps:  []step{{0, discover, here, SilentUnknown, ""}, {0, selects(us, a9), here, SilentUnknown, ""}, {0, third(discover), here, OfferedTemporarily, a9}},
		},
		"NotNow": {
			reason: "while it isn't known who else is there nothing is extended either: another one may lend it by then", segment: lending(a9, a9),
			change: func(c *Config) {
				c.Lending.Share = func(boot.Name) func(netip.Addr) bool { return nil }
				c.Lending.Book.Take(testSegment, netip.MustParseAddr(a9), otherMAC, testNow)
			},
			steps: []step{{0, discover, here, SilentNoneFree, ""}, {0, has(dhcpv4.MessageTypeRequest), unicast, SilentNotMine, ""}},
		},
		"Foreign": {
			reason: "a segment that doesn't begin lends nothing", segment: func(g *boot.Segment) { lending(a9, a9)(g); g.RefuseForeign = true },
			change: func(c *Config) { c.Foreign = func(boot.Name) Reason { return SilentForeign } },
			steps:  []step{{0, discover, here, SilentForeign, ""}, {0, ask(dhcpv4.MessageTypeRequest, addressOpt(50, a9)), here, SilentForeign, ""}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			now := testNow
			s := lender(tc.segment, &now)
			if tc.change != nil {
				tc.change(&s.cfg)
			}
			for i, x := range tc.steps {
				now = now.Add(x.after)
				a := s.handle(message(t, request(t, x.req)), x.in, desk{reply: &wire.Reply{}})
				if diff := cmp.Diff(x.want, a.Reason); diff != "" {
					t.Errorf("%s: step %d (-want +got):\n%s", tc.reason, i+1, diff)
				}
				p := packetOf(t, a)
				if (x.yours != "") != (p != nil && a.Reason != Refused) {
					t.Errorf("%s: step %d is answered by %v", tc.reason, i+1, p)
				}
				if p == nil || a.Reason == Refused {
					continue
				}
				if got := p.YourIPAddr.String(); got != x.yours || p.IPAddressLeaseTime(0) != boot.LentFor {
					t.Errorf("%s: step %d lends %s for %s", tc.reason, i+1, got, p.IPAddressLeaseTime(0))
				}
				if p.BootFileName != "" || p.BootFileNameOption() != "" || p.TFTPServerName() != "" || !p.ServerIPAddr.IsUnspecified() || p.ClassIdentifier() != "" {
					t.Errorf("%s: step %d: there's something to boot in %s", tc.reason, i+1, p.Summary())
				}
			}
		})
	}
}

// TestNeverTwice lets two bootds of one segment hear what many machines say, each in an order of its own, and answers come late: no two
// machines ever have one address.
func TestNeverTwice(t *testing.T) {
	const machines, rounds = 40, 3000
	r := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // The same at each run.
	now := testNow
	var bootds []*Server
	for i := range 2 {
		s := lender(lending("10.99.0.100", "10.99.0.131"), &now)
		self, other := fmt.Sprint("bootd-", i), fmt.Sprint("bootd-", 1-i)
		s.cfg.Advertise = netip.AddrFrom4([4]byte{10, 99, 0, byte(1 + i)})
		s.cfg.Lending.Share = func(boot.Name) func(netip.Addr) bool {
			return func(a netip.Addr) bool { return tiebreak.Rank(boot.MAC(a.String()), self, []string{other}) == 0 }
		}
		bootds = append(bootds, s)
	}
	type heard struct {
		to  *Server
		req *dhcpv4.DHCPv4
	}
	has, until, way := map[boot.MAC]string{}, map[boot.MAC]time.Time{}, []heard{}
	broadcast := func(req *dhcpv4.DHCPv4) {
		for _, s := range bootds {
			way = append(way, heard{s, req})
		}
	}
	acked := 0
	for range rounds {
		now = now.Add(time.Duration(r.IntN(4000)) * time.Millisecond)
		for mac, end := range until {
			if !now.Before(end) {
				delete(has, mac)
				delete(until, mac)
			}
		}
		mac := boot.MAC(fmt.Sprintf("02:00:00:00:00:%02x", r.IntN(machines)))
		if a, ok := has[mac]; ok {
			broadcast(request(t, asMAC(mac), ofType(dhcpv4.MessageTypeRequest), dhcpv4.WithClientIP(net.ParseIP(a))))
		} else {
			broadcast(request(t, asMAC(mac)))
		}
		for len(way) > r.IntN(8) {
			i := r.IntN(len(way))
			x := way[i]
			way = append(way[:i], way[i+1:]...)
			a := x.to.handle(message(t, x.req), broadcastIn(), desk{reply: &wire.Reply{}})
			p, who := packetOf(t, a), a.Facts.MAC
			switch {
			case p == nil || a.Reason == Refused:
			case p.MessageType() == dhcpv4.MessageTypeOffer && has[who] == "":
				broadcast(request(t, asMAC(who), ofType(dhcpv4.MessageTypeRequest), addressOpt(50, p.YourIPAddr.String()), addressOpt(54, p.ServerIdentifier().String())))
			case p.MessageType() == dhcpv4.MessageTypeAck:
				acked++
				for m, a := range has {
					if m != who && a == p.YourIPAddr.String() {
						t.Fatalf("%s and %s have %s", m, who, a)
					}
				}
				has[who], until[who] = p.YourIPAddr.String(), now.Add(pool.Term)
			}
		}
	}
	t.Logf("%d answers", acked)
	if acked < machines {
		t.Errorf("%d answers: nothing was tried", acked)
	}
}

// TestShouting: ten thousand unknown machines take nothing from those that are known.
func TestShouting(t *testing.T) {
	now := testNow
	s := lender(lending("10.99.0.100", "10.99.0.131"), &now)
	for i := range 10_000 {
		mac := boot.MAC(fmt.Sprintf("02:00:00:00:%02x:%02x", i>>8, i&255))
		s.handle(message(t, request(t, asMAC(mac))), broadcastIn(), desk{reply: &wire.Reply{}})
	}
	if a := s.handle(message(t, request(t)), broadcastIn(), desk{reply: &wire.Reply{}}); a.Reason != Offered {
		t.Errorf("a machine of ours gets %s", a.Reason)
	}
	if n := s.cfg.Lending.Book.Count(now); n != 0 {
		t.Errorf("%d addresses are taken, and nobody asked for one", n)
	}
}

// TestStrangersAreBounded: who asks too often isn't looked at, and where nothing may be lent no address is.
func TestStrangersAreBounded(t *testing.T) {
	now, asked, shares := testNow, 0, 0
	s := lender(lending("10.99.0.100", "10.99.0.227"), &now)
	s.cfg.Limit = limit.New(limit.Rates{Stranger: limit.Rate{PerSecond: 1, Burst: 1}})
	s.cfg.Lending.Share = func(boot.Name) func(netip.Addr) bool {
		shares++
		return func(netip.Addr) bool { asked++; return false }
	}
	ask := func() Reason {
		return s.handle(message(t, request(t, asMAC(otherMAC))), broadcastIn(), desk{reply: &wire.Reply{}}).Reason
	}
	if got := ask(); got != SilentNoneFree || shares != 1 || asked == 0 || asked > 70 {
		t.Errorf("the first one: %s, %d shares, %d addresses were looked at", got, shares, asked)
	}
	if got := ask(); got != LimitedStranger || shares != 1 {
		t.Errorf("one too many: %s, %d shares", got, shares)
	}
}
