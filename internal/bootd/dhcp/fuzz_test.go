package dhcp

import (
	"encoding/binary"
	"net/netip"
	"testing"

	"github.com/insomniacslk/dhcp/dhcpv4"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// FuzzRespond: whatever comes in, nothing panics, a stranger hears nothing, and an answer is one that can be sent.
func FuzzRespond(f *testing.F) {
	for _, r := range recordings(f) {
		f.Add(r.data, uint32(0), uint16(68))
	}
	f.Add(request(f, asIPXE(0), relayed("10.99.0.1", 5, 4, 10, 99, 0, 0, 19, 0)).ToBytes(), uint32(0x0a630001), uint16(40000))
	f.Add(request(f, ofType(dhcpv4.MessageTypeRequest), addressOpt(50, "10.99.0.83")).ToBytes(), uint32(0), uint16(68))
	state := testState(nil, testPlan())
	f.Fuzz(func(t *testing.T, data []byte, from uint32, port uint16) {
		req, err := Decode(data)
		if err != nil {
			return
		}
		in := broadcastIn()
		in.From = netip.AddrPortFrom(netip.AddrFrom4([4]byte(binary.BigEndian.AppendUint32(nil, from))), port)
		if port%2 == 0 {
			in.To = testServer
		}
		a := Respond(testView(state), req, in)
		if a.Packet == nil {
			return
		}
		if Classify(req).MAC != testMAC || a.Plan == nil || a.Reason == "" {
			t.Fatalf("answered %s, who isn't ours: %s", req.ClientHWAddr, a.Reason)
		}
		if !a.To.IsValid() || a.To.Port() == 0 {
			t.Fatalf("an answer to %s", a.To)
		}
		got, err := dhcpv4.FromBytes(a.Packet.ToBytes())
		if err != nil {
			t.Fatalf("our own answer can't be read: %v", err)
		}
		if got.TransactionID != req.TransactionID || got.MessageType() == dhcpv4.MessageTypeNone {
			t.Fatalf("not an answer to this request: %s", got.Summary())
		}
		if ip := addressOf(got.YourIPAddr); ip.IsValid() && ip != testAddress {
			t.Fatalf("gave %s, planned is %s", ip, testAddress)
		}
	})
}

// FuzzOptions goes past the framing: each option that facts are read from, with any content.
func FuzzOptions(f *testing.F) {
	f.Add([]byte{0, 7}, []byte("PXEClient:Arch:00007"), []byte("iPXE"), []byte{0x13, 1, 1}, []byte{19, 0})
	f.Add([]byte{7}, []byte(":::"), []byte{0}, []byte{0xb1, 255}, []byte{5, 4, 1})
	f.Fuzz(func(t *testing.T, arch, class, user, ipxe, relay []byte) {
		req := request(t, option(93, arch...), option(60, class...), option(77, user...), option(175, ipxe...),
			relayed("10.99.0.1", relay...))
		facts := Classify(req)
		if facts.MAC != testMAC || facts.Client == ClientOS {
			t.Fatalf("an option 93 is firmware's: %+v", facts)
		}
		if a := Respond(testView(testState(nil, testPlan(func(p *boot.Plan) { p.MACs = []boot.MAC{otherMAC} }))), req, broadcastIn()); a.Packet != nil {
			t.Fatal("answered a stranger")
		}
	})
}
