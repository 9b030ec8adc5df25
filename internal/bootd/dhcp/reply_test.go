package dhcp

import (
	"bytes"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/insomniacslk/dhcp/dhcpv4"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/ipxe"
)

func offer(t *testing.T, v View, mods ...dhcpv4.Modifier) *dhcpv4.DHCPv4 {
	t.Helper()
	a, got := answered(t, v, request(t, mods...), broadcastIn())
	if got == nil {
		t.Fatalf("no offer: %s", a.Reason)
	}
	return got
}

// booting is the part of a reply that a network boot goes on with.
type booting struct {
	File, Option66, Option67, Class string
	Option43                        []byte
	NextServer                      string
}

func bootOf(p *dhcpv4.DHCPv4) booting {
	return booting{
		File: p.BootFileName, Option66: string(p.Options.Get(dhcpv4.OptionTFTPServerName)), Option67: string(p.Options.Get(dhcpv4.OptionBootfileName)), Class: p.ClassIdentifier(),
		Option43: p.Options.Get(dhcpv4.OptionVendorSpecificInformation), NextServer: p.ServerIPAddr.String(),
	}
}

func TestBootByClient(t *testing.T) {
	pxe := func(file string) booting {
		// Options 66 and 67 end with a NUL: a ROM that looks for one would go on with the next option's number, and load "undionly.kpxea".
		return booting{file, "10.99.0.1\x00", file + "\x00", "PXEClient", []byte{6, 1, 8, 255}, "10.99.0.1"}
	}
	nothing := booting{NextServer: "10.99.0.1"}
	firmware := "http://10.99.0.1:8080/v1/firmware/snponly.efi"
	cases := map[string]struct {
		reason string
		req    dhcpv4.Modifier
		want   booting
	}{
		"BIOS":     {"iPXE for a BIOS", asPXE(0), pxe("undionly.kpxe")},
		"UEFI":     {"iPXE for UEFI", asPXE(7), pxe("snponly.efi")},
		"UEFI9":    {"some firmware says 9 for x64", asPXE(9), pxe("snponly.efi")},
		"List":     {"the first number that we boot counts", all(option(93, 0, 6, 0, 7), text(60, "PXEClient:Arch:00006")), pxe("snponly.efi")},
		"NoNumber": {"the class may say it", text(60, "PXEClient:Arch:00007:UNDI:003016"), pxe("snponly.efi")},
		"HTTPBoot": {
			"a URL, and the class echoed", all(option(93, 0, 16), text(60, "HTTPClient:Arch:00016:UNDI:003016")),
			booting{File: firmware, Option67: firmware, Class: "HTTPClient", NextServer: "10.99.0.1"},
		},
		"OldIPXE": {
			"a ROM without HTTP is chained to one that has it",
			all(asIPXE(0), option(175, 0xb1, 1, 1, 0x15, 1, 1)), pxe("undionly.kpxe"),
		},
		"ARM64": {"no build of iPXE is there for it: an address, and no promise", asPXE(11), nothing},
		"IA32":  {"nor for this", asPXE(6), nothing},
		"UBoot": {"nor for this", all(option(93, 0, 22), text(60, "U-Boot.armv8")), nothing},
		"OS":    {"a system boots nothing; an answered option 43 would reconfigure a BMC", text(60, "iDRAC"), nothing},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := bootOf(offer(t, testView(testState(nil, testPlan())), tc.req))
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestNetworkOptions(t *testing.T) {
	v := testView(testState(nil, testPlan()))
	all := dhcpv4.WithRequestedOptions(dhcpv4.OptionDomainNameServer, dhcpv4.OptionDomainName, dhcpv4.OptionHostName,
		dhcpv4.OptionNTPServers, dhcpv4.OptionInterfaceMTU)
	got := offer(t, v, all)
	checks := map[string]struct{ want, got any }{
		"yiaddr":    {"10.99.0.83", got.YourIPAddr.String()},
		"mask":      {"ffffff00", got.SubnetMask().String()},
		"router":    {"10.99.0.1", got.Router()[0].String()},
		"broadcast": {"10.99.0.255", got.BroadcastAddress().String()},
		"dns":       {"10.99.0.53", got.DNS()[0].String()},
		"ntp":       {"10.99.0.123", got.NTPServers()[0].String()},
		"domain":    {"rack.example", got.DomainName()},
		"hostname":  {"web-1", got.HostName()},
		"mtu":       {[]byte{5, 220}, got.Options.Get(dhcpv4.OptionInterfaceMTU)},
		"lease":     {time.Hour, got.IPAddressLeaseTime(0)},
		"t1":        {30 * time.Minute, got.IPAddressRenewalTime(0)},
		"t2":        {52*time.Minute + 30*time.Second, got.IPAddressRebindingTime(0)},
	}
	for name, c := range checks {
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	bare := offer(t, v, dhcpv4.WithRequestedOptions(dhcpv4.OptionBootfileName))
	if bare.SubnetMask() == nil || len(bare.Router()) == 0 {
		t.Error("mask and router are given unasked: a Raspberry Pi doesn't ask")
	}
	if len(bare.DNS()) > 0 || bare.HostName() != "" {
		t.Error("what nobody asked for isn't given")
	}
	_, inform := answered(t, v, request(t, all, ofType(dhcpv4.MessageTypeInform), dhcpv4.WithClientIP(net.IPv4(10, 99, 0, 83))), broadcastIn())
	if inform.Options.Has(dhcpv4.OptionIPAddressLeaseTime) || !inform.YourIPAddr.IsUnspecified() {
		t.Error("an INFORM gets neither address nor lease (RFC 2131 §4.3.5)")
	}
	if got := offer(t, testView(testState(nil, testPlan(func(p *boot.Plan) { p.Network.Lease = 0 })))).IPAddressLeaseTime(0); got != defaultLease {
		t.Errorf("lease %s without a planned one, want %s", got, defaultLease)
	}
}

// TestInformThroughARelay: the answer goes to the client itself, since a relay finds no address in it, and nothing in it is the relay's.
func TestInformThroughARelay(t *testing.T) {
	a, got := answered(t, testView(testState(nil, testPlan())), request(t, relayed("10.99.0.1", 1, 1, 'a'), ofType(dhcpv4.MessageTypeInform), dhcpv4.WithClientIP(net.IPv4(10, 99, 0, 83))), Ingress{To: testServer, From: netip.MustParseAddrPort("10.99.0.1:67")})
	if a.Reason != Informed || a.To.String() != "10.99.0.83:68" || a.Broadcast {
		t.Errorf("%s, to %s", a.Reason, a.To)
	}
	if got.Options.Has(dhcpv4.OptionRelayAgentInformation) {
		t.Errorf("the client is told what its relay says:\n%s", got.Summary())
	}
}

func TestHeaderIsKept(t *testing.T) {
	raw := []byte{1, 3, 'a', 0, 'b', 2, 0, 9, 1, 0xff, 1, 1, 'z'} // An empty sub-option, and one that comes twice.
	a, got := answered(t, testView(testState(nil, testPlan())), request(t, relayed("10.99.0.1", raw...), asPXE(0), func(d *dhcpv4.DHCPv4) {
		d.HopCount, d.Flags, d.NumSeconds = 3, 0x8000, 9
	}, option(61, 0xff, 1, 2), option(97, append([]byte{0}, bytes.Repeat([]byte{7}, 16)...)...)), Ingress{To: testServer})
	if !bytes.Equal(raw, got.Options.Get(dhcpv4.OptionRelayAgentInformation)) {
		t.Errorf("option 82 is %x, want it byte for byte", got.Options.Get(dhcpv4.OptionRelayAgentInformation))
	}
	if diff := cmp.Diff([]byte{0xff, 1, 2}, got.Options.Get(dhcpv4.OptionClientIdentifier)); diff != "" {
		t.Errorf("option 61, RFC 6842 (-want +got):\n%s", diff)
	}
	if len(got.Options.Get(dhcpv4.OptionClientMachineIdentifier)) != 17 {
		t.Error("PXE 2.1 wants option 97 echoed")
	}
	if got.HopCount != 3 || got.Flags != 0x8000 || got.TransactionID != (dhcpv4.TransactionID{1, 2, 3, 4}) ||
		!got.GatewayIPAddr.Equal(net.IPv4(10, 99, 0, 1)) || got.OpCode != dhcpv4.OpcodeBootReply {
		t.Errorf("xid, flags, hops and giaddr must be kept: %s", got.Summary())
	}
	b := a.Packet
	end := bytes.LastIndex(b, raw) + len(raw)
	if b[end] != 255 {
		t.Error("option 82 must be the last (RFC 3046 §2.1)")
	}
}

func TestSizes(t *testing.T) {
	long := testPlan(func(p *boot.Plan) {
		p.Hostname, p.Network.Domain = strings.Repeat("h", 63), strings.Repeat("d", 253)
		p.Network.DNS = slices.Repeat([]netip.Addr{testServer}, 8)
	})
	cases := map[string]struct {
		reason string
		plan   boot.Plan
		max    []byte
		least  int
		most   int
	}{
		"Short":    {"BOOTP's minimum: relays drop less", testPlan(func(p *boot.Plan) { p.Network.DNS = nil }), nil, 300, 548},
		"Default":  {"without option 57 a client takes 576", long, nil, 300, 548},
		"Tiny":     {"less than 576 isn't allowed (RFC 2132 §9.10)", long, []byte{0, 100}, 300, 548},
		"Ethernet": {"a client that takes more gets all", long, []byte{5, 0xc0}, 549, 1444},
		"Huge":     {"a senseless value does no harm", long, []byte{0xff, 0}, 549, 1472},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			mods := []dhcpv4.Modifier{asIPXE(0)}
			if tc.max != nil {
				mods = append(mods, option(57, tc.max...))
			}
			got := offer(t, testView(testState(nil, tc.plan)), mods...)
			if n := len(got.ToBytes()); n < tc.least || n > tc.most {
				t.Errorf("%s: %d bytes, want %d to %d", tc.reason, n, tc.least, tc.most)
			}
			if got.SubnetMask() == nil || got.BootFileNameOption() == "" {
				t.Errorf("%s: what the boot needs was dropped", tc.reason)
			}
		})
	}
}

// TestTinyIsntBelieved: who says less than everybody must take still gets what 576 bytes hold.
func TestTinyIsntBelieved(t *testing.T) {
	got := offer(t, testView(testState(nil, testPlan())), asPXE(0), option(57, 0, 100),
		dhcpv4.WithRequestedOptions(dhcpv4.OptionHostName, dhcpv4.OptionNTPServers))
	if got.HostName() != "web-1" || len(got.NTPServers()) != 1 || got.TFTPServerName() == "" {
		t.Errorf("something was dropped: %s", got.Summary())
	}
}

func TestScriptToken(t *testing.T) {
	v := testView(testState(nil, testPlan()))
	script := func(v View, xid byte) (string, boot.Claims) {
		t.Helper()
		p := offer(t, v, asIPXE(7), dhcpv4.WithTransactionID(dhcpv4.TransactionID{xid}))
		u, err := url.Parse(p.BootFileNameOption())
		if err != nil {
			t.Fatal(err)
		}
		if p.BootFileName != p.BootFileNameOption() {
			t.Errorf("file %q and option 67 %q differ", p.BootFileName, p.BootFileNameOption())
		}
		if ipxe.FirmwareOf(u.Query()) != (boot.Firmware{Kind: boot.FirmwareUEFI, Arch: boot.AMD64}) {
			t.Errorf("the script's URL %q doesn't say who asks", u)
		}
		token, _, _ := strings.Cut(strings.TrimPrefix(u.Path, ipxe.PathBoot), "/")
		c, err := boot.Verify(v.Keys, token, testNow)
		if err != nil {
			t.Fatal(err)
		}
		return token, c
	}
	first, c := script(v, 1)
	want := boot.Claims{
		Kind: boot.TokenScript, Entry: boot.KeyOf("entry-1"), GrantID: "00112233445566ff", Nonce: c.Nonce,
		Expires: testNow.Add(24 * time.Hour),
	}
	if diff := cmp.Diff(want, c, cmp.Comparer(time.Time.Equal)); diff != "" {
		t.Errorf("claims (-want +got):\n%s", diff)
	}
	later := v
	later.Now = testNow.Add(20 * time.Second)
	if again, _ := script(later, 1); again != first {
		t.Error("a retransmission, or another replica, must get the same bytes")
	}
	if other, _ := script(v, 2); other == first {
		t.Error("another exchange must get another token")
	}
	nextBoot := v
	nextBoot.Now = testNow.Add(time.Minute)
	if other, _ := script(nextBoot, 1); other == first {
		t.Error("a boot a minute later is another one, though OVMF's xid is the same")
	}
	rotated := v
	rotated.Keys = [][]byte{[]byte("new"), testKey}
	if other, _ := script(rotated, 1); other == first {
		t.Error("a new key makes new tokens")
	}
}

func TestExpiry(t *testing.T) {
	grant := func(in time.Duration) *boot.Grant { return &boot.Grant{Expires: testNow.Add(in)} }
	hour := time.Date(2026, 8, 2, 11, 0, 0, 0, time.UTC)
	cases := map[string]struct {
		reason string
		grant  *boot.Grant
		now    time.Time
		want   time.Time
	}{
		"Grant":     {"with the grant's end", grant(time.Hour), testNow, testNow.Add(time.Hour)},
		"Expired":   {"an ended grant is no bound: its machine must still be told to hold", grant(-time.Hour), testNow, hour},
		"None":      {"a day from the next hour", nil, testNow, hour},
		"None2":     {"the same within the hour, so that replicas agree", nil, testNow.Add(18 * time.Minute), hour},
		"NextHour":  {"and then another", nil, testNow.Add(19 * time.Minute), hour.Add(time.Hour)},
		"FullHour":  {"a full hour belongs to what it begins", nil, hour.Add(-25 * time.Hour), hour},
		"LocalTime": {"wherever the clock stands", nil, testNow.In(time.FixedZone("x", 3600)), hour},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := expiry(tc.grant, tc.now); !got.Equal(tc.want) {
				t.Errorf("got %s, want %s: %s", got, tc.want, tc.reason)
			}
		})
	}
}

func TestAdvertise(t *testing.T) {
	v := testView(testState(nil, testPlan()))
	v.Advertise = netip.MustParseAddr("192.0.2.1")
	a, got := answered(t, v, request(t, asIPXE(0)), broadcastIn())
	if !strings.HasPrefix(got.BootFileName, "http://192.0.2.1:8080/") || got.ServerIdentifier().String() != "192.0.2.1" {
		t.Errorf("the advertised address isn't used: %s", got.Summary())
	}
	if a.From.IsValid() {
		t.Errorf("sent from %s, which may be nobody's here", a.From)
	}
}
