package dhcp

import (
	"bytes"
	"net/netip"
	"testing"

	"github.com/insomniacslk/dhcp/dhcpv4"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// TestBothFamilies: a machine that has an address of IPv6 as well is answered as it was without, octet by octet.
func TestBothFamilies(t *testing.T) {
	one := testPlan()
	both := testPlan()
	both.Network.Six = &boot.Place{Address: netip.MustParsePrefix("fd00:77::11/64"), DNS: []netip.Addr{netip.MustParseAddr("fd00:77::53")}}
	address := testPlan().Network.Address.Addr().String()
	for name, req := range map[string]dhcpv4.Modifier{
		"Discover": all(), "PXE": asPXE(7), "IPXE": asIPXE(7),
		"Request": all(ofType(dhcpv4.MessageTypeRequest), addressOpt(50, address), addressOpt(54, testServer.String())),
		"Wrong":   all(ofType(dhcpv4.MessageTypeRequest), addressOpt(50, "10.77.0.250")),
	} {
		t.Run(name, func(t *testing.T) {
			want, _ := answered(t, testView(testState(nil, one)), request(t, req), broadcastIn())
			got, _ := answered(t, testView(testState(nil, both)), request(t, req), broadcastIn())
			if got.Reason != want.Reason || got.To != want.To || got.Stage != want.Stage || !bytes.Equal(got.Packet, want.Packet) {
				t.Errorf("%s: %x, want %s: %x", got.Reason, got.Packet, want.Reason, want.Packet)
			}
		})
	}
}
