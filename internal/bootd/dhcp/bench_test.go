package dhcp

import (
	"fmt"
	"testing"

	"github.com/insomniacslk/dhcp/dhcpv4"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp/wire"
)

// rack is a state of many machines, and a DISCOVER of one of them as a relay sends it on.
func rack(b *testing.B, n int) (state *boot.State, discover []byte) {
	b.Helper()
	plans := make([]boot.Plan, n)
	for i := range plans {
		plans[i] = testPlan(func(p *boot.Plan) {
			p.EntryUID = fmt.Sprint("entry-", i)
			p.MACs = []boot.MAC{boot.MAC(fmt.Sprintf("52:54:00:%02x:%02x:%02x", i>>16, i>>8&255, i&255))}
		})
	}
	plans[n/2].MACs = []boot.MAC{testMAC}
	req := request(b, asPXE(7), option(97, make([]byte, 17)...), option(55, 1, 3, 6, 12, 15, 26, 28, 42, 43, 60, 66, 67, 97),
		relayed("10.99.0.1", 1, 4, 'p', 'o', 'r', 't'))
	return testState(nil, plans...), req.ToBytes()
}

// BenchmarkAnswer is a packet on its way from bytes to bytes, without the socket.
func BenchmarkAnswer(b *testing.B) {
	for _, n := range []int{1000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			state, data := rack(b, n)
			v, in := testView(state), fromRelay(testServer)
			var m wire.Message
			var r wire.Reply
			var room boot.Room
			buf := make([]byte, 0, linkSize)
			b.ReportAllocs()
			for b.Loop() {
				if err := m.Read(data); err != nil {
					b.Fatal(err)
				}
				if a := respond(v, &m, Classify(&m), in, desk{nil, &r, buf, &room}); a.Reason != Offered {
					b.Fatal(a.Reason)
				}
			}
		})
	}
}

// BenchmarkLibrary is reading the same packet and writing a reply to it with the library alone: no facts, no plan.
func BenchmarkLibrary(b *testing.B) {
	_, data := rack(b, 1)
	b.ReportAllocs()
	for b.Loop() {
		req, err := dhcpv4.FromBytes(data)
		if err != nil {
			b.Fatal(err)
		}
		p, err := dhcpv4.NewReplyFromRequest(req, dhcpv4.WithMessageType(dhcpv4.MessageTypeOffer), dhcpv4.WithYourIP(testAddress.AsSlice()),
			dhcpv4.WithServerIP(testServer.AsSlice()), dhcpv4.WithOption(dhcpv4.OptServerIdentifier(testServer.AsSlice())),
			dhcpv4.WithLeaseTime(43200), dhcpv4.WithRouter(testServer.AsSlice()), dhcpv4.WithDNS(testServer.AsSlice()),
			dhcpv4.WithOption(dhcpv4.OptTFTPServerName("10.99.0.1")), dhcpv4.WithOption(dhcpv4.OptBootFileName("snponly.efi")))
		if err != nil || len(p.ToBytes()) == 0 {
			b.Fatal(err)
		}
	}
}

// BenchmarkWire is the same with this project's own reader and writer.
func BenchmarkWire(b *testing.B) {
	_, data := rack(b, 1)
	var m wire.Message
	var r wire.Reply
	buf := make([]byte, 0, linkSize)
	b.ReportAllocs()
	for b.Loop() {
		if err := m.Read(data); err != nil {
			b.Fatal(err)
		}
		r.Answer(&m, wire.Offer)
		r.Yours(testAddress)
		r.Server(testServer)
		r.Addresses(wire.OptionServer, wire.Needed, testServer)
		r.Uint32(wire.OptionLease, wire.Needed, 43200)
		r.Addresses(wire.OptionRouter, wire.Needed, testServer)
		r.Addresses(wire.OptionDNS, wire.Needed, testServer)
		r.Text(wire.OptionTFTPServer, wire.Needed, "10.99.0.1")
		r.Text(wire.OptionBootFile, wire.Needed, "snponly.efi")
		if len(r.Append(buf, 1472)) == 0 {
			b.Fatal("nothing")
		}
	}
}
