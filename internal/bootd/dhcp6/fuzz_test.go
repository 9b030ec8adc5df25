package dhcp6

import (
	"bytes"
	"net/netip"
	"testing"

	"github.com/insomniacslk/dhcp/dhcpv6"

	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp6/wire"
)

// FuzzRespond: whatever comes, nothing breaks; an answer goes to the sender's own address, is read by others as well, gives nobody's
// address but the machine's, and a request that names no MAC of ours gets none.
func FuzzRespond(f *testing.F) {
	seeds := []dhcpv6.DHCPv6{
		request(f), request(f, asPXE()), request(f, asHTTP()), request(f, asIPXE()), request(f, dhcpv6.WithRapidCommit),
		request(f, ofType(dhcpv6.MessageTypeRenew), toUs(testServer), having(testAddress)),
		relayed(f, request(f), "fd00:99::fe", testLink), relayed(f, relayed(f, request(f), "::", testLink), "fd00:99::fe", testLink),
	}
	for _, s := range seeds {
		f.Add(s.ToBytes(), false)
		f.Add(s.ToBytes(), true)
	}
	v := testView(testState(nil, testPlan()))
	f.Fuzz(func(t *testing.T, b []byte, relay bool) {
		in := onLink(private)
		if relay {
			in = viaRelay("fd00:99::fe")
		}
		before := bytes.Clone(b)
		m := &wire.Message{}
		if m.Read(b) != nil {
			return
		}
		a := Respond(v, m, in, nil)
		if !bytes.Equal(b, before) {
			t.Error("the request was written into")
		}
		if a.Packet == nil {
			return
		}
		if a.To.Addr() != in.From.Addr() {
			t.Errorf("the answer goes to %s", a.To)
		}
		if a.Plan == nil || a.MAC != testMAC {
			t.Errorf("%q got an answer", a.MAC)
		}
		reply := &wire.Message{}
		if err := reply.ReadReply(a.Packet); err != nil {
			t.Fatalf("our own answer can't be read: %v", err)
		}
		for ia := range reply.IAs() {
			for v := range ia.Options.All(wire.OptionAddress) {
				if valid := !bytes.Equal(v[20:24], make([]byte, 4)); valid && netip.AddrFrom16([16]byte(v)) != testAddress {
					t.Errorf("gives %x", v)
				}
			}
		}
		if _, err := dhcpv6.FromBytes(a.Packet); err != nil {
			if _, err := dhcpv6.FromBytes(b); err == nil { // What it doesn't read of the request is given back in the answer.
				t.Errorf("another library reads the request and not the answer: %v", err)
			}
		}
	})
}
