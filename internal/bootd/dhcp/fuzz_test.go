package dhcp

import (
	"encoding/binary"
	"net/netip"
	"testing"

	"github.com/insomniacslk/dhcp/dhcpv4"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp/wire"
)

// FuzzRespond: whatever comes in, nothing panics, a stranger hears nothing, and an answer keeps what every answer keeps.
func FuzzRespond(f *testing.F) {
	for _, r := range recordings(f) {
		f.Add(r.data, uint32(0), uint16(68))
	}
	f.Add(request(f, asIPXE(0), relayed("10.99.0.1", 5, 4, 10, 99, 0, 0, 19, 0)).ToBytes(), uint32(0x0a630001), uint16(40000))
	f.Add(request(f, ofType(dhcpv4.MessageTypeRequest), addressOpt(50, "10.99.0.83")).ToBytes(), uint32(0), uint16(68))
	state := testState(nil, testPlan())
	f.Fuzz(func(t *testing.T, data []byte, from uint32, port uint16) {
		in := broadcastIn()
		in.From = netip.AddrPortFrom(netip.AddrFrom4([4]byte(binary.BigEndian.AppendUint32(nil, from))), port)
		if port%2 == 0 {
			in.To = testServer
		}
		out, a := reply(testView(state), data, in)
		if out == nil {
			return
		}
		if mac, ok := raw(data).mac(); !ok || mac != testMAC {
			t.Fatalf("answered %s, who isn't ours: %s", mac, a.Reason)
		}
		for _, bad := range broken(data, out, a) {
			t.Error(bad)
		}
	})
}

// FuzzOptions goes past the framing: each option that facts are read from, with any content.
func FuzzOptions(f *testing.F) {
	f.Add([]byte{0, 7}, []byte("PXEClient:Arch:00007"), []byte("iPXE"), []byte{0x13, 1, 1}, []byte{19, 0})
	f.Add([]byte{7}, []byte(":::"), []byte{0}, []byte{0xb1, 255}, []byte{5, 4, 1})
	f.Fuzz(func(t *testing.T, arch, class, user, ipxe, relay []byte) {
		req := &wire.Message{}
		if req.Read(request(t, option(93, arch...), option(60, class...), option(77, user...), option(175, ipxe...),
			relayed("10.99.0.1", relay...)).ToBytes()) != nil {
			return // Longer than a packet.
		}
		facts := Classify(req)
		if facts.MAC != testMAC || facts.Client == ClientOS {
			t.Fatalf("an option 93 is firmware's: %+v", facts)
		}
		if a := Respond(testView(testState(nil, testPlan(func(p *boot.Plan) { p.MACs = []boot.MAC{otherMAC} }))), req, broadcastIn()); a.Packet != nil {
			t.Fatal("answered a stranger")
		}
	})
}
