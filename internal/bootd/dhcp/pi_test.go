package dhcp

import (
	"net"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/insomniacslk/dhcp/dhcpv4"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp/wire"
)

const (
	piFour  = "\x00RPi4\x30\x31\xc0\x00\x32\xec\xfc\x3c\xda\x06\xff\xe0"
	piThree = "\x00\xd4\x65\x9b\xbd\xd4\x65\x9b\xbd\xd4\x65\x9b\xbd\xd4\x65\x9b\xbd"
)

func onMAC(mac string) dhcpv4.Modifier {
	return func(d *dhcpv4.DHCPv4) {
		hw, err := net.ParseMAC(mac)
		if err != nil {
			panic(err)
		}
		d.ClientHWAddr = hw
	}
}

// TestIsPi: which of those that speak is the firmware of a Raspberry Pi.
func TestIsPi(t *testing.T) {
	both := func(p *boot.Plan) {
		p.Artifacts = []boot.Artifacts{{Arch: boot.AMD64}, {Arch: boot.ARM64, RaspberryPi: &boot.RaspberryPi{}}}
	}
	only := func(p *boot.Plan) {
		p.Artifacts = []boot.Artifacts{{Arch: boot.ARM64, RaspberryPi: &boot.RaspberryPi{}}}
	}
	const theirs, other = "dc:a6:32:ec:fc:3c", "52:54:00:99:00:13"
	cases := map[string]struct {
		reason string
		mac    string
		plan   func(*boot.Plan)
		req    dhcpv4.Modifier
		want   Client
	}{
		"Pi3":          {"by its NIC", "b8:27:eb:9b:65:d4", nil, all(asPXE(0), text(97, piThree)), ClientPi},
		"Pi4":          {"by both", theirs, nil, all(asPXE(0), text(97, piFour)), ClientPi},
		"Pi5":          {"by what it says, on a NIC that's new", "88:a2:9e:00:00:01", nil, all(asPXE(0), text(97, strings.Replace(piFour, "4", "5", 1))), ClientPi},
		"NoClass":      {"old ones leave class and architecture out of a REQUEST", theirs, nil, text(97, piFour), ClientPi},
		"NoClassNIC":   {"and say their serial number", theirs, nil, text(97, piThree), ClientPi},
		"Changed":      {"a MAC of somebody's own: its plan is for nothing else", other, only, all(asPXE(0), text(97, piThree)), ClientPi},
		"ChangedAsks":  {"and its REQUEST", other, only, text(97, piThree), ClientPi},
		"ChangedBoth":  {"a plan for x86, too: it's a BIOS", other, both, all(asPXE(0), text(97, piThree)), ClientPXE},
		"BIOS":         {"is one", other, nil, asPXE(0), ClientPXE},
		"UEFI":         {"on a Pi", theirs, only, asPXE(11), ClientPXE},
		"UBoot":        {"on a Pi", theirs, only, all(text(60, "U-Boot.armv8"), option(93, 0, 22)), ClientOther},
		"UBootZero":    {"whatever it says of its architecture", theirs, only, all(text(60, "U-Boot.arm"), option(93, 0, 0), option(94, 1, 0, 0)), ClientPXE},
		"System":       {"on a Pi", theirs, only, text(60, "dhcpcd-9.4.1"), ClientOS},
		"SystemSilent": {"that says nothing", theirs, only, option(12, 'p', 'i'), ClientOS},
		"IPXE":         {"on a Pi", theirs, only, asIPXE(0), ClientIPXE},
		"HTTP":         {"on a Pi", theirs, only, all(option(93, 0, 19), text(60, "HTTPClient:Arch:00019:UNDI:003001")), ClientHTTP},
		"RISCV":        {"some other firmware without a class", other, only, option(93, 0, 27), ClientOther},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			v := testView(testState(nil, testPlan(func(p *boot.Plan) {
				p.MACs = []boot.MAC{boot.MAC(tc.mac)}
				if tc.plan != nil {
					tc.plan(p)
				}
			})))
			a, p := answered(t, v, request(t, onMAC(tc.mac), tc.req), broadcastIn())
			if a.Facts.Client != tc.want || p == nil {
				t.Fatalf("%s: %s, %s", tc.reason, a.Facts.Client, a.Reason)
			}
			if pi := strings.Contains(string(p.Options.Get(dhcpv4.OptionVendorSpecificInformation)), "Raspberry Pi Boot   "); pi != (tc.want == ClientPi) || pi != (a.Pi != "") {
				t.Errorf("%s: it's told so: %t, its token is %q", tc.reason, pi, a.Pi)
			}
			if want := (boot.Firmware{Kind: boot.FirmwareRaspberryPi, Arch: boot.ARM64}); (a.Facts.Firmware == want) != (tc.want == ClientPi) {
				t.Errorf("%s: %+v", tc.reason, a.Facts.Firmware)
			}
		})
	}
}

// TestPiAnswer is what its firmware takes: dnsmasq's answer as it's printed in Raspberry Pi's documentation, with the blanks that the first ROMs want.
func TestPiAnswer(t *testing.T) {
	const mac = "b8:27:eb:9b:65:d4"
	plan := testPlan(func(p *boot.Plan) { p.MACs = []boot.MAC{mac} })
	discover := request(t, onMAC(mac), asPXE(0), text(97, piThree), option(55, 43, 60, 67, 66))
	a, p := answered(t, testView(testState(nil, plan)), discover, broadcastIn())
	if p == nil {
		t.Fatal(a.Reason)
	}
	want := map[uint8]string{
		43: "\x06\x01\x03\x0a\x04\x00PXE\x09\x17\x00\x00\x14Raspberry Pi Boot   \xff", 60: "PXEClient", 66: "10.99.0.1", 97: piThree,
		1: "\xff\xff\xff\x00", 3: "\x0a\x63\x00\x01", 67: "",
	}
	got := map[uint8]string{}
	for code := range want {
		got[code] = string(p.Options.Get(dhcpv4.GenericOptionCode(code)))
	}
	if diff := cmp.Diff(want, got); diff != "" || p.BootFileName != "" || !p.ServerIPAddr.Equal(testServer.AsSlice()) {
		t.Errorf("siaddr %s, file %q: -want +got:\n%s", p.ServerIPAddr, p.BootFileName, diff)
	}
	c, err := boot.Verify([][]byte{testKey}, a.Pi, testNow)
	if err != nil || c.Kind != boot.TokenScript || c.Entry != boot.KeyOf("entry-1") {
		t.Errorf("its token is %+v, %v", c, err)
	}
	if strings.Contains(string(a.Packet), a.Pi) {
		t.Error("the token goes nowhere")
	}
	v := testView(testState(nil, plan))
	v.Keys = nil
	if a, p := answered(t, v, discover, broadcastIn()); p != nil || a.Reason != SilentNoKeys {
		t.Errorf("without keys: %s", a.Reason)
	}
	proxied := testView(testState(func(g *boot.Segment) { g.Mode = boot.SegmentProxy }, plan))
	proxied.Proxy = true
	if a, p := answered(t, proxied, discover, broadcastIn()); p != nil || a.Reason != SilentNoFile || a.Pi != "" {
		t.Errorf("its address is nobody's to know beside another server: %s", a.Reason)
	}
	if a, p := answered(t, testView(testState(nil, testPlan())), discover, broadcastIn()); p != nil || a.Pi != "" {
		t.Errorf("nobody's is answered: %s", a.Reason)
	}
}

// TestPiBegan: who serves its files is told of each exchange before it's answered, and of nothing else.
func TestPiBegan(t *testing.T) {
	const mac = "dc:a6:32:ec:fc:3c"
	plan := testPlan(func(p *boot.Plan) { p.MACs = []boot.MAC{mac} })
	state := testState(nil, plan)
	var told []Pi
	s := New(Config{
		State: func() *boot.State { return state }, Keys: func() [][]byte { return [][]byte{testKey} }, HTTPPort: 8080, Pi: func(x Pi) { told = append(told, x) },
	})
	handle := func(mods ...dhcpv4.Modifier) {
		t.Helper()
		s.handle(message(t, request(t, append([]dhcpv4.Modifier{onMAC(mac)}, mods...)...)), broadcastIn(), desk{reply: &wire.Reply{}})
	}
	handle(asPXE(0), text(97, piFour))
	handle(ofType(dhcpv4.MessageTypeRequest), text(97, piFour), addressOpt(50, testAddress.String()), addressOpt(54, testServer.String()))
	handle(ofType(dhcpv4.MessageTypeRequest), text(97, piFour), addressOpt(50, testAddress.String()), addressOpt(54, "10.99.0.2"))
	handle(ofType(dhcpv4.MessageTypeRequest), addressOpt(50, testAddress.String()))
	handle(asPXE(11))
	if len(told) != 2 || told[0].Confirmed || !told[1].Confirmed || told[0].Token == "" || string(told[1].MachineID) != piFour[1:] || told[1].MAC != mac {
		t.Errorf("%+v", told)
	}
	for _, x := range told {
		if x.Plan.Network.Address != netip.PrefixFrom(testAddress, 24) {
			t.Errorf("%+v", x.Plan.Network)
		}
	}
}
