package dhcp

import (
	"encoding/hex"
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/insomniacslk/dhcp/dhcpv4"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

func withRoutes(g *boot.Segment) {
	g.Routes = []boot.Route{
		{To: netip.MustParsePrefix("10.20.0.0/16"), Via: netip.MustParseAddr("10.99.0.254")},
		{To: netip.MustParsePrefix("192.0.2.7/32"), Via: netip.MustParseAddr("10.99.0.253")},
		{To: netip.MustParsePrefix("10.30.0.0/15"), Via: netip.MustParseAddr("10.98.0.1")},
	}
}

// TestRoutes: who asks for classless static routes is told those of its subnet, and the way by the gateway with them (RFC 3442).
func TestRoutes(t *testing.T) {
	const first, second, gateway = "100a14" + "0a6300fe", "20c0000207" + "0a6300fd", "00" + "0a630001"
	asks := dhcpv4.WithRequestedOptions
	cases := map[string]struct {
		reason          string
		segment         func(*boot.Segment)
		plan            func(*boot.Plan)
		asks            dhcpv4.Modifier
		want, microsoft string
	}{
		"Asked":     {reason: "in the order that they're said in", segment: withRoutes, asks: asks(dhcpv4.OptionClasslessStaticRoute), want: first + second + gateway},
		"Microsoft": {reason: "by the code of old Windows", segment: withRoutes, asks: asks(dhcpv4.GenericOptionCode(249)), microsoft: first + second + gateway},
		"Both": {
			reason: "some ask for both", segment: withRoutes, asks: asks(dhcpv4.OptionClasslessStaticRoute, dhcpv4.GenericOptionCode(249)),
			want: first + second + gateway, microsoft: first + second + gateway,
		},
		"Room": {
			reason: "where there's room for one of the two, it's the standard's", segment: func(g *boot.Segment) {
				withRoutes(g)
				for i := range 24 {
					g.Routes = append(g.Routes, boot.Route{To: netip.PrefixFrom(netip.AddrFrom4([4]byte{172, 16, byte(i), 0}), 24), Via: netip.MustParseAddr("10.99.0.254")})
				}
			},
			asks: asks(dhcpv4.OptionClasslessStaticRoute, dhcpv4.GenericOptionCode(249)),
			want: first + second + many(24) + gateway,
		},
		"NoGateway": {
			reason: "no way to everywhere is made up", segment: withRoutes, plan: func(p *boot.Plan) { p.Network.Gateway = netip.Addr{} },
			asks: asks(dhcpv4.OptionClasslessStaticRoute), want: first + second,
		},
		"Unasked": {reason: "firmware doesn't ask", segment: withRoutes, asks: asks(dhcpv4.OptionRouter)},
		"None":    {reason: "without any the router option says it", asks: asks(dhcpv4.OptionClasslessStaticRoute, dhcpv4.GenericOptionCode(249))},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p := testPlan()
			if tc.plan != nil {
				tc.plan(&p)
			}
			got := offer(t, testView(testState(tc.segment, p)), tc.asks)
			said := [2]string{hex.EncodeToString(got.Options.Get(dhcpv4.OptionClasslessStaticRoute)), hex.EncodeToString(got.Options.Get(dhcpv4.GenericOptionCode(249)))}
			if diff := cmp.Diff([2]string{tc.want, tc.microsoft}, said); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// many are so many routes as option 121 has them.
func many(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "18ac10%02x0a6300fe", i)
	}
	return b.String()
}

// TestOptions: what an operator says is given to whom it's for, and never in the place of what a boot goes on with.
func TestOptions(t *testing.T) {
	own := func(o ...boot.DHCPOption) func(*boot.Segment) {
		return func(g *boot.Segment) { g.Options = o }
	}
	servers := boot.DHCPOption{Code: 150, Value: []byte{10, 99, 0, 5}}
	vendor := boot.DHCPOption{Code: 43, Value: []byte("10.99.0.9"), VendorClass: "ArubaAP", Always: true}
	asked, other := dhcpv4.WithRequestedOptions(dhcpv4.GenericOptionCode(150), dhcpv4.OptionVendorSpecificInformation), dhcpv4.WithRequestedOptions(dhcpv4.OptionRouter)
	always := servers
	always.Always = true
	cases := map[string]struct {
		reason  string
		segment func(*boot.Segment)
		req     dhcpv4.Modifier
		code    uint8
		want    string
	}{
		"Asked":       {"who asks is told", own(servers), asked, 150, "\x0a\x63\x00\x05"},
		"Unasked":     {"who doesn't isn't", own(servers), other, 150, ""},
		"Always":      {"unless it's said to", own(always), other, 150, "\x0a\x63\x00\x05"},
		"First":       {"the first that fits counts", own(servers, boot.DHCPOption{Code: 150, Value: []byte{1}}), asked, 150, "\x0a\x63\x00\x05"},
		"Class":       {"by the vendor's class", own(vendor), all(other, text(60, "ArubaAP.315")), 43, "10.99.0.9"},
		"OtherClass":  {"a BMC isn't reconfigured by another vendor's", own(vendor), all(asked, text(60, "iDRAC")), 43, ""},
		"NoClass":     {"nor is who says none", own(vendor), asked, 43, ""},
		"PXE":         {"a boot has its own, whatever class it says", own(boot.DHCPOption{Code: 43, Value: []byte("x"), VendorClass: "PXEClient", Always: true}), asPXE(7), 43, loadByItself},
		"IPXE":        {"nor is iPXE's loader given what PXE would do, where bootd has none", own(boot.DHCPOption{Code: 43, Value: []byte("x"), VendorClass: "PXEClient", Always: true}), all(asPXE(7), dhcpv4.WithOption(dhcpv4.OptGeneric(dhcpv4.GenericOptionCode(77), []byte("iPXE")))), 43, ""},
		"ClassBefore": {"one for a class is passed by, and the next looked at", own(boot.DHCPOption{Code: 150, Value: []byte{1}, VendorClass: "y"}, servers), asked, 150, "\x0a\x63\x00\x05"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := string(offer(t, testView(testState(tc.segment, testPlan())), tc.req).Options.Get(dhcpv4.GenericOptionCode(tc.code)))
			if got != tc.want {
				t.Errorf("%s: got %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

// TestOptionsGoFirst: where a client takes little, what a boot goes on with stays.
func TestOptionsGoFirst(t *testing.T) {
	big := boot.DHCPOption{Code: 200, Value: make([]byte, 255), Always: true}
	got := offer(t, testView(testState(func(g *boot.Segment) { g.Options = []boot.DHCPOption{big} }, testPlan())), all(asPXE(7), option(57, 2, 64)))
	if got.Options.Has(dhcpv4.GenericOptionCode(200)) || got.BootFileName != "snponly.efi" || len(got.Router()) != 1 {
		t.Errorf("%s", got.Summary())
	}
}
