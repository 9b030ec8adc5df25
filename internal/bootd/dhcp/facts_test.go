package dhcp

import (
	"bytes"
	"net"
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/insomniacslk/dhcp/dhcpv4"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp/wire"
)

func TestClassifyClient(t *testing.T) {
	features := []byte{0xb1, 5, 1, 0x1a, 0xf4, 0x10, 0, 0xeb, 3, 1, 0, 0, 0x13, 1, 1}
	cases := map[string]struct {
		reason string
		req    dhcpv4.Modifier
		want   Client
	}{
		"BIOS":           {"option 93 is 0", asPXE(0), ClientPXE},
		"UEFI":           {"option 93 is 7", asPXE(7), ClientPXE},
		"BlueField":      {"its class names neither PXE nor an architecture; option 93 does", all(option(93, 0, 11), text(60, "NVIDIA/BF/PXE")), ClientPXE},
		"HexClass":       {"0007 may be read either way, 0001b only one", text(60, "PXEClient:Arch:0001b:UNDI:003016"), ClientOther},
		"HTTPBoot":       {"option 93 is 16", all(option(93, 0, 16), text(60, "HTTPClient:Arch:00016")), ClientHTTP},
		"HTTPBootByName": {"the class decides what it can load", all(option(93, 0, 7), text(60, "HTTPClient:Arch:00007")), ClientHTTP},
		"BIOSHTTP":       {"20 is a BIOS that loads by HTTP, which we have nothing for", all(option(93, 0, 20), text(60, "HTTPClient")), ClientOther},
		"IPXERaw":        {"iPXE's own way of option 77", asIPXE(0), ClientIPXE},
		"IPXEListed":     {"as RFC 3004 wants it", all(asPXE(0), option(77, 4, 'i', 'P', 'X', 'E')), ClientIPXE},
		"IPXESecond":     {"one class of several", all(asPXE(0), option(77, 1, 'x', 4, 'i', 'P', 'X', 'E')), ClientIPXE},
		"IPXEFeatures":   {"with HTTP among its features", all(asIPXE(0), option(175, features...)), ClientIPXE},
		"GPXE":           {"it has HTTP, and lacks what our scripts say: it's chained as a ROM is", all(asPXE(0), option(77, []byte("gPXE")...), option(175, features...)), ClientPXE},
		"FlexBoot":       {"iPXE without the user class", all(asPXE(0), option(175, features...)), ClientIPXE},
		"FlexBootNoHTTP": {"it can't fetch a script", all(asPXE(0), option(175, features[:12]...)), ClientPXE},
		"Foreign175":     {"another's use of a site-specific option", all(asPXE(0), option(175, 1, 2, 3, 4)), ClientPXE},
		"Cut175":         {"nothing to rely on; the user class still counts", all(asIPXE(0), option(175, 0xb1, 200)), ClientIPXE},
		"UBoot":          {"firmware that we have nothing for", all(option(93, 0, 22), text(60, "U-Boot.armv8")), ClientOther},
		"URoot":          {"LinuxBoot says it by its class alone (dhcp-real/INDEX.md)", text(60, "PXE UROOT"), ClientOther},
		"Etherboot":      {"of before gPXE", text(60, "Etherboot-5.4.4"), ClientOther},
		"AppleBSDP":      {"a Mac's firmware", text(60, "AAPLBSDPC/i386/Macmini5,1"), ClientOther},
		"UBootLower":     {"as older boards write it", text(60, "U-boot.armv7"), ClientOther},
		"UBootBare":      {"and without option 93", text(60, "U-Boot"), ClientOther},
		"OtherArch":      {"a class of somebody's own, that says Arch", all(text(60, "ACMEClient:Arch:00007"), option(97, 0)), ClientOther},
		"ClassWithNUL":   {"some end their class with a NUL", text(60, "PXEClient:Arch:00007\x00"), ClientPXE},
		"CiscoZTP":       {"PXEClient and nothing else", text(60, "PXEClient"), ClientOther},
		"RISCV":          {"a number that we don't boot", asPXE(27), ClientOther},
		"Undi":           {"option 94 alone is firmware's too", option(94, 1, 0, 0), ClientOther},
		"MachineID":      {"and option 97", option(97, 0), ClientOther},
		"Linux":          {"systemd-networkd says nothing of itself", option(61, 0xff), ClientOS},
		"Windows":        {"a class that isn't firmware's", text(60, "MSFT 5.0"), ClientOS},
		"BMC":            {"a hint of what to probe, never more", text(60, "iDRAC"), ClientOS},
		"UserClass":      {"a user class of somebody's own", text(77, "exr-config"), ClientOS},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := Classify(message(t, request(t, tc.req))).Client; got != tc.want {
				t.Errorf("got %s, want %s: %s", got, tc.want, tc.reason)
			}
		})
	}
}

func TestClassifyFields(t *testing.T) {
	id := bytes.Repeat([]byte{7}, 16)
	got := Classify(message(t, request(t, asPXE(7), ofType(dhcpv4.MessageTypeRequest), addressOpt(54, "10.99.0.1"), addressOpt(50, "10.99.0.83"),
		option(97, append([]byte{0}, id...)...), dhcpv4.WithClientIP(net.IPv4(10, 99, 0, 84)),
		relayed("10.99.0.2", 5, 4, 10, 99, 0, 0, 11, 4, 10, 99, 0, 254, 19, 0))))
	want := Facts{
		Type: wire.Request, MAC: testMAC, Client: ClientPXE, Arch: 7,
		Firmware: boot.Firmware{Kind: boot.FirmwareUEFI, Arch: boot.AMD64}, MachineID: id,
		Relay: Relay{
			Address: netip.MustParseAddr("10.99.0.2"), Link: netip.MustParseAddr("10.99.0.0"),
			ServerID: netip.MustParseAddr("10.99.0.254"), SourcePort: true,
		},
		Server: testServer, Requested: testAddress, Address: netip.MustParseAddr("10.99.0.84"),
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateComparable(netip.Addr{})); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}
}

func TestClassifyOddFields(t *testing.T) {
	cases := map[string]struct {
		reason string
		req    dhcpv4.Modifier
		bad    func(Facts) bool
	}{
		"ShortAddress":   {"option 50 of three octets", option(50, 1, 2, 3), func(f Facts) bool { return f.Requested.IsValid() }},
		"ZeroAddress":    {"0.0.0.0 is none", addressOpt(54, "0.0.0.0"), func(f Facts) bool { return f.Server.IsValid() }},
		"ShortArch":      {"option 93 of one octet", option(93, 7), func(f Facts) bool { return f.Arch != 0 }},
		"OddArch":        {"option 93 of three octets: the whole ones count", option(93, 0, 7, 0), func(f Facts) bool { return f.Arch != 7 }},
		"ZeroID":         {"an unset option 97", option(97, make([]byte, 17)...), func(f Facts) bool { return f.MachineID != nil }},
		"FullID":         {"another unset one", option(97, append([]byte{0}, bytes.Repeat([]byte{255}, 16)...)...), func(f Facts) bool { return f.MachineID != nil }},
		"DuplicateID":    {"sent twice, which the decoder joins", option(97, make([]byte, 34)...), func(f Facts) bool { return f.MachineID != nil }},
		"BrokenOption82": {"sub-options that don't fit", relayed("10.99.0.1", 5, 9, 1), func(f Facts) bool { return f.Relay.Link.IsValid() || !f.Relay.Address.IsValid() }},
		"LongClass":      {"a number too large for option 93", text(60, "PXEClient:Arch:99999999"), func(f Facts) bool { return f.Arch != 0 }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if f := Classify(message(t, request(t, tc.req))); tc.bad(f) {
				t.Errorf("%s: got %+v", tc.reason, f)
			}
		})
	}
}

func TestFilesFor(t *testing.T) {
	f := Files{BIOS: "b", UEFIAMD64: "u", UEFIARM64: "a"}
	cases := map[uint16]string{0: "b", 7: "u", 9: "u", 11: "a", 16: "u", 19: "a", 6: "", 27: "", 22: ""}
	for arch, want := range cases {
		if got := f.For(boot.FirmwareOf(arch)); got != want {
			t.Errorf("option 93 of %d: got %q, want %q", arch, got, want)
		}
	}
	mips := boot.Firmware{Kind: boot.FirmwareUEFI, Arch: "mips"}
	if got := f.For(mips) + f.Unsigned(boot.FirstStageNativeIPXE, mips); got != "" {
		t.Errorf("an architecture that nobody has got %q", got)
	}
}
