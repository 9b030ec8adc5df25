package dhcp

import (
	"net"
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/insomniacslk/dhcp/dhcpv4"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// TestRenewalThroughRouter: who has its address and asks for more time, by unicast through its router, gets that, at its own address, be it a system or firmware
// in a long download (RFC 2131 §4.3.2, §4.3.6). Whatever else firmware sends in that way isn't believed: it must come by the relay.
func TestRenewalThroughRouter(t *testing.T) {
	ip := net.IP(testAddress.AsSlice())
	renews := all(ofType(dhcpv4.MessageTypeRequest), dhcpv4.WithClientIP(ip))
	ack := told{Acknowledged, dhcpv4.MessageTypeAck, "10.99.0.83:68", "172.16.0.9", ""}
	ours := netip.MustParseAddr("172.16.0.9")
	routed := func(from string) Ingress {
		return Ingress{From: netip.MustParseAddrPort(from), To: ours, Interface: "eth0", Index: 2, Addresses: []netip.Addr{ours}}
	}
	own := testAddress.String() + ":68"
	cases := map[string]struct {
		reason  string
		req     dhcpv4.Modifier
		from    string
		segment func(*boot.Segment)
		want    told
	}{
		"System":       {reason: "a system", req: renews, want: ack},
		"PXE":          {reason: "UEFI in a download of long", req: all(asPXE(7), renews), want: ack},
		"IPXE":         {reason: "whatever firmware it is", req: all(asIPXE(7), renews), want: ack},
		"RelayOnly":    {reason: "where relays alone are heard otherwise", req: all(asPXE(7), renews), segment: ofMode(boot.SegmentRelayOnly), want: ack},
		"Interface":    {reason: "or an interface alone", req: all(asPXE(7), renews), segment: func(g *boot.Segment) { g.Interfaces = []string{"eth7"} }, want: ack},
		"NotItsOwn":    {reason: "from another address, in its name", req: all(asPXE(7), renews), from: "10.99.0.84:68", want: told{Reason: SilentUnicast}},
		"Far":          {reason: "from out of the segment", req: all(asPXE(7), renews), from: "192.0.2.66:68", want: told{Reason: SilentUnicast}},
		"AnotherHas":   {reason: "of an address that isn't the planned one", req: all(asPXE(7), ofType(dhcpv4.MessageTypeRequest), dhcpv4.WithClientIP(net.IPv4(10, 99, 0, 84))), from: "10.99.0.84:68", want: told{Reason: SilentUnicast}},
		"Selects":      {reason: "who chooses a server has no address yet", req: all(asPXE(7), renews, addressOpt(54, "172.16.0.9"), addressOpt(50, "10.99.0.83")), want: told{Reason: SilentElsewhere}},
		"Discovers":    {reason: "nor has who looks for one", req: all(asPXE(7), ofType(dhcpv4.MessageTypeDiscover), dhcpv4.WithClientIP(ip)), want: told{Reason: SilentElsewhere}},
		"OffIsSilent":  {reason: "where bootd gives no addresses it extends none", req: all(asPXE(7), renews), segment: ofMode(boot.SegmentOff), want: told{Reason: SilentOff}},
		"SystemSilent": {reason: "nor a system's", req: renews, segment: ofMode(boot.SegmentOff), want: told{Reason: SilentOff}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			from := own
			if tc.from != "" {
				from = tc.from
			}
			got, p := answered(t, testView(testState(tc.segment, testPlan())), request(t, tc.req), routed(from))
			if diff := cmp.Diff(tc.want, toldBy(t, got)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if p == nil {
				return
			}
			if !p.YourIPAddr.Equal(ip) || !p.ClientIPAddr.Equal(ip) || p.IPAddressLeaseTime(0) == 0 {
				t.Errorf("%s: its address isn't given for longer: %s", tc.reason, p.Summary())
			}
			if p.BootFileName != "" || len(p.Options.Get(dhcpv4.OptionBootfileName)) > 0 {
				t.Errorf("%s: what a router may have passed on is told what to boot: %s", tc.reason, p.Summary())
			}
		})
	}
}

// TestNothingToBootWithoutHTTP: whatever is loaded first goes on by HTTP. Where that isn't served machines have their addresses, and nothing that would only load itself.
func TestNothingToBootWithoutHTTP(t *testing.T) {
	cases := map[string]struct {
		reason string
		req    dhcpv4.Modifier
		plan   func(*boot.Plan)
	}{
		"BIOS": {reason: "undionly.kpxe would ask for a script that nobody serves", req: asPXE(0)},
		"UEFI": {reason: "and so would snponly.efi", req: asPXE(7)},
		"Shim": {reason: "an installer that grub starts has nowhere to report", req: asPXE(7), plan: func(p *boot.Plan) { p.FirstStage = boot.FirstStageShim }},
		"IPXE": {reason: "an iPXE in the ROM goes on to the next device", req: asIPXE(0)},
		"HTTP": {reason: "there is no URL of a port that isn't open", req: all(asPXE(16), text(60, "HTTPClient:Arch:00016:UNDI:003001"))},
		"Pi":   {reason: "a Raspberry Pi goes on to its disk", req: all(asPXE(0), text(97, piFour))},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			plan := testPlan()
			if tc.plan != nil {
				tc.plan(&plan)
			}
			v := testView(testState(nil, plan))
			v.HTTPPort = 0
			a, p := answered(t, v, request(t, tc.req), broadcastIn())
			if p == nil || a.Reason != Offered || !p.YourIPAddr.Equal(net.IP(testAddress.AsSlice())) {
				t.Fatalf("%s: it has no address: %s", tc.reason, a.Reason)
			}
			if p.BootFileName != "" || len(p.Options.Get(dhcpv4.OptionBootfileName)) > 0 || len(p.Options.Get(dhcpv4.OptionVendorSpecificInformation)) > 0 || a.Pi != "" {
				t.Errorf("%s: %s", tc.reason, p.Summary())
			}
		})
	}
}
