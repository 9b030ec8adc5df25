package dhcp6

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/insomniacslk/dhcp/dhcpv6"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp6/wire"
)

// A situation is what a recorded packet meets.
type situation struct {
	reason   string
	stranger bool
	segment  func(*boot.Segment)
	view     func(*View)
	in       func(Ingress) Ingress
	// edit changes what was sent, as its sender would have it here.
	edit func(data []byte, from netip.Addr) []byte
}

func situations() map[string]situation {
	const relay = "fd00:1::5"
	through := func(link string) func([]byte, netip.Addr) []byte {
		return func(data []byte, from netip.Addr) []byte { // Its library takes no message that it can't read itself.
			b := append([]byte{byte(dhcpv6.MessageTypeRelayForward), 0}, netip.MustParseAddr(link).AsSlice()...)
			b = binary.BigEndian.AppendUint16(append(b, from.AsSlice()...), uint16(dhcpv6.OptionRelayMsg))
			return append(binary.BigEndian.AppendUint16(b, uint16(len(data))), data...) //nolint:gosec // A packet.
		}
	}
	fromRelay := func(Ingress) Ingress { return viaRelay(relay) }
	trusted := func(g *boot.Segment) { g.Relays = []netip.Prefix{netip.MustParsePrefix(relay + "/128")} }
	return map[string]situation{
		"owner":             {reason: "from its own link, as recorded"},
		"selected":          {reason: "the same, where it names a server it's ours", edit: ofOurs},
		"stranger":          {reason: "the same of a machine that isn't ours", stranger: true},
		"relay-only":        {reason: "where relays alone are answered", segment: func(g *boot.Segment) { g.Mode = boot.SegmentRelayOnly }, edit: ofOurs},
		"off":               {reason: "its segment has no DHCP of ours", segment: func(g *boot.Segment) { g.Mode = boot.SegmentOff }, edit: ofOurs},
		"proxy":             {reason: "another server gives the addresses", segment: func(g *boot.Segment) { g.Mode = boot.SegmentProxy }, edit: ofOurs},
		"other-interface":   {reason: "its segment is served on another interface", segment: func(g *boot.Segment) { g.Interfaces = []string{"eth7"} }, edit: ofOurs},
		"unicast":           {reason: "from elsewhere, by a router", in: func(in Ingress) Ingress { in.To = testServer; return in }, edit: ofOurs},
		"relayed":           {reason: "by a relay that's trusted", segment: trusted, in: fromRelay, edit: through("fd00:99::7")},
		"relayed-elsewhere": {reason: "by the same, of another link", segment: trusted, in: fromRelay, edit: through("fd00:98::7")},
		"relayed-untrusted": {reason: "by a relay that isn't trusted", in: fromRelay, edit: through("fd00:99::7")},
		"declined":          {reason: "its address was declined: another has it", view: func(v *View) { v.Declined = func(boot.Name, netip.Addr, time.Time) bool { return true } }, edit: ofOurs},
		"no-keys":           {reason: "there are no token keys yet", view: func(v *View) { v.Keys = nil }, edit: ofOurs},
		"unsynced":          {reason: "bootd knows nothing yet", view: func(v *View) { v.State = nil }},
	}
}

// ofOurs has a message that names a server name us.
func ofOurs(data []byte, _ netip.Addr) []byte {
	d, err := dhcpv6.FromBytes(data)
	if m, ok := d.(*dhcpv6.Message); err == nil && ok && len(m.Options.Get(dhcpv6.OptionServerID)) > 0 {
		m.Options.Del(dhcpv6.OptionServerID)
		toUs(testServer)(m)
		return m.ToBytes()
	}
	return data
}

// owner is the MAC that a packet's sender has, by whatever says it; that of a test's machine where nothing does, which has the DUID then.
func owner(data []byte, from netip.Addr) boot.MAC {
	m := &wire.Message{}
	if m.Read(bytes.Clone(data)) == nil {
		if f := Classify(m, from); f.Link != "" {
			return f.Link
		} else if f.Named != "" {
			return f.Named
		}
	}
	return testMAC
}

// meets is what becomes of a recorded packet.
func (s situation) meets(tb testing.TB, r recording) (a Answer, text string) {
	tb.Helper()
	data, mac := bytes.Clone(r.data), owner(r.data, r.from)
	if s.edit != nil {
		data = s.edit(data, r.from)
	}
	v := testView(testState(s.segment, testPlan(func(p *boot.Plan) {
		if p.MACs[0] = mac; s.stranger {
			p.MACs[0] = otherMAC
		}
	})))
	v.Learnt = func([]byte) (boot.MAC, bool) { return testMAC, !s.stranger }
	if s.view != nil {
		s.view(&v)
	}
	in := onLink(r.from)
	if s.in != nil {
		in = s.in(in)
	}
	m := &wire.Message{}
	if err := m.Read(data); err != nil {
		return Answer{}, "  unreadable: " + err.Error() + "\n"
	}
	a = Respond(v, m, in, nil)
	return a, shownAnswer(tb, a, r.data)
}

// shownAnswer is an answer as golden files hold it: who asked, where it goes, and its options by number.
func shownAnswer(tb testing.TB, a Answer, asked []byte) string {
	tb.Helper()
	var b strings.Builder
	_, _ = fmt.Fprintf(&b, "  %s %s 61=%d: %s", a.Facts.Type, a.Facts.Client, a.Facts.Arch, a.Reason)
	if a.Packet == nil {
		return b.String() + "\n"
	}
	_, _ = fmt.Fprintf(&b, " to %s", a.To)
	if a.Stage != "" {
		_, _ = fmt.Fprintf(&b, ", stage %s", a.Stage)
	}
	d, err := dhcpv6.FromBytes(a.Packet)
	if err != nil {
		tb.Fatalf("our own answer can't be read: %v", err)
	}
	if r, ok := d.(*dhcpv6.RelayMessage); ok {
		_, _ = fmt.Fprintf(&b, "\n  RELAY-REPL link=%s peer=%s", r.LinkAddr, r.PeerAddr)
	}
	m, err := d.GetInnerMessage()
	if err != nil {
		tb.Fatalf("our own answer has no message in it: %v", err)
	}
	_, _ = fmt.Fprintf(&b, "\n  %s", m.MessageType)
	for _, o := range slices.SortedFunc(slices.Values(m.Options.Options), func(a, b dhcpv6.Option) int { return int(a.Code()) - int(b.Code()) }) {
		b.WriteString(shown(o.Code(), o.ToBytes(), asked))
	}
	return b.String() + "\n"
}

// shown is one option. What a client said of itself isn't in golden files.
func shown(code dhcpv6.OptionCode, v, asked []byte) string {
	if theirs := append(binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(nil, uint16(code)), uint16(len(v))), v...); code == dhcpv6.OptionClientID && bytes.Contains(asked, theirs) { //nolint:gosec // An option.
		return fmt.Sprintf(" %d=as-it-came", code)
	}
	if len(v) > 4 && !bytes.ContainsFunc(v, func(r rune) bool { return r < ' ' || r > '~' }) {
		return fmt.Sprintf(" %d=%q", code, v)
	}
	return fmt.Sprintf(" %d=%x", code, v)
}

// broken says which rule an answer breaks, whatever it answers (RFC 8415 §18.3).
func broken(asked []byte, a Answer) (bad []string) {
	if a.Packet == nil {
		if a.Reason == "" || a.Stage != "" {
			bad = append(bad, fmt.Sprintf("silence, and the reason is %q, the stage %q", a.Reason, a.Stage))
		}
		return bad
	}
	if a.Plan == nil || a.To.Addr().IsMulticast() || a.To.Port() == 0 {
		bad = append(bad, fmt.Sprintf("an answer to %s without a plan or somewhere to go", a.To))
	}
	d, err := dhcpv6.FromBytes(a.Packet)
	if err != nil {
		return append(bad, err.Error())
	}
	m, err := d.GetInnerMessage()
	if err != nil {
		return append(bad, err.Error())
	}
	if m.TransactionID != dhcpv6.TransactionID(asked[1:4]) || m.Options.ServerID() == nil {
		bad = append(bad, "the number isn't the client's, or no server is named")
	}
	for _, ia := range m.Options.IANA() {
		for _, x := range ia.Options.Addresses() {
			if x.ValidLifetime > 0 && !x.IPv6Addr.Equal(net.IP(testAddress.AsSlice())) {
				bad = append(bad, fmt.Sprintf("address %s isn't the machine's", x.IPv6Addr))
			}
		}
	}
	return bad
}

// TestCaptures: what is answered to what real firmware, switches and servers have sent, silence included.
func TestCaptures(t *testing.T) {
	list := recordings(t)
	for name, s := range situations() {
		path := filepath.Join("testdata", "captures", name+".txt")
		got := map[string]string{}
		for _, r := range list {
			a, text := s.meets(t, r)
			got[r.name] = text
			for _, bad := range broken(r.data, a) {
				t.Errorf("%s (%s), %s: %s", name, s.reason, r.name, bad)
			}
			if s.stranger && a.Packet != nil {
				t.Errorf("%s: a stranger is answered: %s", name, r.name)
			}
		}
		var b strings.Builder
		_, _ = fmt.Fprintf(&b, "# %s\n", s.reason)
		for _, n := range slices.Sorted(maps.Keys(got)) {
			_, _ = fmt.Fprintf(&b, "\n%s\n%s", n, got[n])
		}
		if *update {
			if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), b.String()); diff != "" {
			t.Errorf("%s (%s; -want +got, -update writes it):\n%s", name, s.reason, diff)
		}
	}
}
