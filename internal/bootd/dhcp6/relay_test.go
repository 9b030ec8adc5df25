package dhcp6

import (
	"bytes"
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/insomniacslk/dhcp/dhcpv6"
	"github.com/insomniacslk/dhcp/iana"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp6/wire"
)

// TestRelays: whose word counts for what. A relay's own address is where the answer goes, with the token that's in it.
func TestRelays(t *testing.T) {
	const relay, stranger = "fd00:2::1", "fd00:3::1"
	trust := func(cidrs ...string) func(*boot.Segment) {
		return func(g *boot.Segment) {
			for _, c := range cidrs {
				g.Relays = append(g.Relays, netip.MustParsePrefix(c))
			}
		}
	}
	lladdr := func(mac boot.MAC) dhcpv6.Modifier {
		return dhcpv6.WithClientLinkLayerAddress(iana.HWTypeEthernet, hardware(t, mac))
	}
	cases := map[string]struct {
		reason  string
		req     func() dhcpv6.DHCPv6
		from    string
		segment func(*boot.Segment)
		want    dhcp.Reason
	}{
		"Trusted": {
			reason: "its own address is listed, and it speaks for the machine's link", from: relay, segment: trust("fd00:2::1/128"),
			req:  func() dhcpv6.DHCPv6 { return relayed(t, request(t), "fd00:99::fe", testLink) },
			want: Advertised,
		},
		"InSegment": {
			reason: "without a list, one inside the segment is trusted", from: "fd00:99::fe",
			req:  func() dhcpv6.DHCPv6 { return relayed(t, request(t), "fd00:99::fe", testLink) },
			want: Advertised,
		},
		"FromElsewhere": {
			reason: "whoever says the segment's link from elsewhere would be sent the machine's token", from: stranger,
			req:  func() dhcpv6.DHCPv6 { return relayed(t, request(t), "fd00:99::fe", testLink) },
			want: dhcp.SilentRelayUntrusted,
		},
		"NotListed": {
			reason: "with a list, being inside isn't enough", from: "fd00:99::fe", segment: trust("fd00:2::1/128"),
			req:  func() dhcpv6.DHCPv6 { return relayed(t, request(t), "fd00:99::fe", testLink) },
			want: dhcp.SilentRelayUntrusted,
		},
		"OtherLink": {
			reason: "the machine was plugged in elsewhere", from: relay, segment: trust("fd00:2::1/128"),
			req:  func() dhcpv6.DHCPv6 { return relayed(t, request(t), "fd00:98::fe", testLink) },
			want: dhcp.SilentElsewhere,
		},
		"NoLink": {
			reason: "nobody says where the machine is", from: relay, segment: trust("fd00:2::1/128"),
			req:  func() dhcpv6.DHCPv6 { return relayed(t, request(t), "::", testLink) },
			want: dhcp.SilentElsewhere,
		},
		"Switch": {
			reason: "RFC 6221: a switch without an address adds its port, behind a relay that says the link", from: relay, segment: trust("fd00:2::1/128"),
			req: func() dhcpv6.DHCPv6 {
				return relayed(t, relayed(t, request(t), "::", testLink), "fd00:99::fe", testLink)
			},
			want: Advertised,
		},
		"MakesBelieve": {
			reason: "a client behind a relay that says it's one, of another segment", from: relay, segment: trust("fd00:2::1/128"),
			req: func() dhcpv6.DHCPv6 {
				return relayed(t, relayed(t, request(t), "fd00:99::fe", testLink), "fd00:98::fe", otherLink)
			},
			want: dhcp.SilentRelayUntrusted,
		},
		"TwoTrusted": {
			reason: "the nearest to the client says where it is", from: relay, segment: trust("fd00:2::1/128", "fd00:4::1/128"),
			req: func() dhcpv6.DHCPv6 {
				return relayed(t, relayed(t, request(t), "fd00:99::fe", testLink), "fd00:4::2", netip.MustParseAddr("fd00:4::1"))
			},
			want: Advertised,
		},
		"LinkLayer": {
			reason: "RFC 6939: the relay says the MAC of a client that hides it", from: relay, segment: trust("fd00:2::1/128"),
			req: func() dhcpv6.DHCPv6 {
				return relayed(t, request(t, dhcpv6.WithClientID(someUUID())), "fd00:99::fe", private, lladdr(testMAC))
			},
			want: Advertised,
		},
		"LinkLayerOther": {
			reason: "and what it says beats the client's word", from: relay, segment: trust("fd00:2::1/128"),
			req: func() dhcpv6.DHCPv6 {
				return relayed(t, request(t), "fd00:99::fe", testLink, lladdr(otherMAC))
			},
			want: dhcp.SilentUnknown,
		},
		"SwitchFirmware": {
			reason: "it sends from its client's own address", from: relay, segment: trust("fd00:2::1/128"),
			req: func() dhcpv6.DHCPv6 {
				return relayed(t, relayed(t, request(t, asIPXE()), "::", testLink, lladdr(testMAC)), "fd00:99::fe", testLink)
			},
			want: Advertised,
		},
		"StrangerSaysLinkLayer": {
			reason: "a client behind a trusted relay that says it's one, and of whom", from: relay, segment: trust("fd00:2::1/128"),
			req: func() dhcpv6.DHCPv6 {
				return relayed(t, relayed(t, request(t, asIPXE(), dhcpv6.WithClientID(someUUID())), "::", private, lladdr(testMAC)), "fd00:99::fe", otherLink)
			},
			want: SilentUnproven,
		},
		"StrangerSaysPeer": {
			reason: "or says it by an address", from: relay, segment: trust("fd00:2::1/128"),
			req: func() dhcpv6.DHCPv6 {
				return relayed(t, relayed(t, request(t, asIPXE()), "::", testLink), "fd00:99::fe", private)
			},
			want: SilentUnproven,
		},
		"StrangerSaysRelay": {
			reason: "or says that a trusted one has sent it, from the machine's segment", from: relay, segment: trust("fd00:2::1/128"),
			req: func() dhcpv6.DHCPv6 {
				return relayed(t, relayed(t, relayed(t, request(t, asIPXE()), "fd00:99::fe", testLink), "::", netip.MustParseAddr("fd00:2::1")), "fd00:98::fe", testLink)
			},
			want: dhcp.SilentRelayUntrusted,
		},
		"StrangerSystem": {
			reason: "option 79 of an untrusted relay is no word, for a system either", from: relay, segment: trust("fd00:2::1/128"),
			req: func() dhcpv6.DHCPv6 {
				return relayed(t, relayed(t, request(t, dhcpv6.WithClientID(someUUID())), "::", private, lladdr(testMAC)), "fd00:99::fe", otherLink)
			},
			want: SilentUnproven,
		},
		"SwitchOwnAddress": {
			reason: "a system behind a switch that has an address has its own word, which is worth an address", from: relay, segment: trust("fd00:2::1/128"),
			req: func() dhcpv6.DHCPv6 {
				return relayed(t, relayed(t, request(t), "::", testLink), "fd00:99::fe", otherLink)
			},
			want: Advertised,
		},
		"RelayOnly": {
			reason: "a relay is what such a segment is answered by", from: relay,
			segment: func(g *boot.Segment) { trust("fd00:2::1/128")(g); g.Mode = boot.SegmentRelayOnly },
			req:     func() dhcpv6.DHCPv6 { return relayed(t, request(t), "fd00:99::fe", testLink) },
			want:    Advertised,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			a, got := answered(t, testView(testState(tc.segment, testPlan())), tc.req(), viaRelay(tc.from))
			if a.Reason != tc.want {
				t.Fatalf("%s: %s, want %s", tc.reason, a.Reason, tc.want)
			}
			if got != nil && a.To != netip.AddrPortFrom(netip.MustParseAddr(tc.from), 547) {
				t.Errorf("%s: sent to %s", tc.reason, a.To)
			}
		})
	}
}

// TestRelayReply: what a relay wants around its answer (RFC 8415 section 19.3), and the port that it asks for (RFC 8357).
func TestRelayReply(t *testing.T) {
	id := raw(dhcpv6.OptionInterfaceID, []byte("swp7")...)
	inner := relayed(t, request(t), "::", testLink, id)
	outer := relayed(t, inner, "fd00:99::fe", testLink, raw(dhcpv6.OptionRelayPort, 0, 0))
	in := viaRelay("fd00:99::fe")
	in.From = netip.AddrPortFrom(in.From.Addr(), 40001)
	a, _ := answered(t, testView(testState(nil, testPlan())), outer, in)
	if a.Packet == nil {
		t.Fatal(a.Reason)
	}
	if a.To != in.From || a.From != in.To {
		t.Errorf("sent from %s to %s, not from %s to %s", a.From, a.To, in.To, in.From)
	}
	got, err := dhcpv6.FromBytes(a.Packet)
	if err != nil {
		t.Fatal(err)
	}
	r, ok := got.(*dhcpv6.RelayMessage)
	if !ok || r.MessageType != dhcpv6.MessageTypeRelayReply || r.LinkAddr.String() != "fd00:99::fe" || r.Options.InterfaceID() != nil || r.GetOneOption(dhcpv6.OptionRelayPort) == nil {
		t.Fatalf("answer %v", got)
	}
	next, err := dhcpv6.DecapsulateRelay(got)
	if err != nil {
		t.Fatal(err)
	}
	if r, ok = next.(*dhcpv6.RelayMessage); !ok || string(r.Options.InterfaceID()) != "swp7" || r.PeerAddr.String() != testLink.String() {
		t.Errorf("inside %v", next)
	}
}

// TestForesee: what is thought of gets what would be answered, on the link and through a relay.
func TestForesee(t *testing.T) {
	v := testView(testState(nil, testPlan()))
	want := map[string]string{
		"its system": "", "UEFI x64, PXE": "tftp://[fd00:99::1]/snponly.efi", "UEFI x64, HTTP Boot": "http://[fd00:99::1]:8080/v1/firmware/snponly.efi",
	}
	for _, as := range []dhcp.Guise{{Client: dhcp.ClientOS}, {Client: dhcp.ClientPXE, Arch: dhcp.ArchUEFIAMD64}, {Client: dhcp.ClientHTTP, Arch: dhcp.ArchUEFIHTTPAMD64}} {
		b, from, err := Solicit(testMAC, as, netip.Addr{})
		if err != nil {
			t.Fatal(err)
		}
		f, says, err := Foresee(v, b, onLink(from))
		if err != nil || f.Kind != wire.Advertise || f.Address != testAddress || f.File != want[as.String()] || says != as {
			t.Errorf("%s: %s %s %q as %v, %v", as, f.Kind, f.Address, f.File, says, err)
		}
		if b, _, err = Solicit(testMAC, as, netip.MustParseAddr("fd00:99::fe")); err != nil {
			t.Fatal(err)
		}
		if f, _, err = Foresee(v, b, viaRelay("fd00:99::fe")); err != nil || f.Address != testAddress {
			t.Errorf("%s through a relay: %s, %v", as, f.Reason, err)
		}
	}
	if _, _, err := Solicit("nonsense", dhcp.Guise{}, netip.Addr{}); err == nil {
		t.Error("a MAC that's none is taken")
	}
	if _, _, err := Foresee(v, []byte{1}, onLink(testLink)); err == nil {
		t.Error("half a header is a request")
	}
}

// TestClassify reads what real machines sent (the-tcpdump-group/tcpdump, seladb/PcapPlusPlus, raspberrypi/documentation).
func TestClassify(t *testing.T) {
	cases := map[string]struct {
		reason string
		packet dhcpv6.Modifier
		from   string
		want   Facts
	}{
		"Arista": {
			reason: "a DUID-LLT of hardware address 00:00:01:01:00:00, and another in its address", from: "fe80::200:1ff:fe01:0",
			packet: all(dhcpv6.WithClientID(&dhcpv6.DUIDLLT{HWType: 1, Time: 1, LinkLayerAddr: []byte{0, 0, 1, 1, 0, 0}})),
			want:   Facts{Link: "00:00:01:01:00:00", Named: "00:00:01:01:00:00", Client: dhcp.ClientOS},
		},
		"Cisco": {
			reason: "a raw user class, a class of PXE that's another firm's, and a DUID of a serial number", from: "fe80::82e0:1dff:fe00:fcea",
			packet: all(dhcpv6.WithClientID(&dhcpv6.DUIDEN{EnterpriseNumber: 9, EnterpriseIdentifier: []byte("FGE1947145S\x00")}),
				raw(dhcpv6.OptionUserClass, []byte("exr-config")...),
				raw(dhcpv6.OptionVendorClass, append([]byte{0, 0, 0, 9, 0, 45}, "PXEClient:Arch:00009:UNDI:003010:PID:NCS-5508"...)...)),
			want: Facts{Link: "80:e0:1d:00:fc:ea", Client: dhcp.ClientPXE, Arch: 9, Firmware: boot.FirmwareOf(9)},
		},
		"RaspberryPi": {
			reason: "it has no class, and an architecture that we don't boot", from: "fe80::e65f:1ff:fe20:240b",
			packet: all(dhcpv6.WithClientID(&dhcpv6.DUIDLL{HWType: 1, LinkLayerAddr: []byte{0xe4, 0x5f, 1, 0x20, 0x24, 0x0b}}), arch(41)),
			want:   Facts{Link: "e4:5f:01:20:24:0b", Named: "e4:5f:01:20:24:0b", Client: dhcp.ClientOther, Arch: 41},
		},
		"ArchList": {
			reason: "the first that we boot counts", from: "fe80::1", packet: raw(dhcpv6.OptionClientArchType, 0, 6, 0, 7),
			want: Facts{Named: testMAC, Client: dhcp.ClientPXE, Arch: 7, Firmware: boot.FirmwareOf(7)},
		},
		"Infiniband": {
			reason: "hardware that isn't Ethernet has no MAC", from: "fe80::1",
			packet: dhcpv6.WithClientID(&dhcpv6.DUIDLL{HWType: 32, LinkLayerAddr: []byte{1, 2, 3, 4, 5, 6}}), want: Facts{Client: dhcp.ClientOS},
		},
		"Group": {
			reason: "nor has a group's address a NIC", from: "fe80::1",
			packet: dhcpv6.WithClientID(&dhcpv6.DUIDLL{HWType: 1, LinkLayerAddr: []byte{1, 2, 3, 4, 5, 6}}), want: Facts{Client: dhcp.ClientOS},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			m := &wire.Message{}
			if err := m.Read(request(t, tc.packet).ToBytes()); err != nil {
				t.Fatal(err)
			}
			got := Classify(m, netip.MustParseAddr(tc.from))
			tc.want.Type, tc.want.ID = wire.Solicit, got.ID
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s: -want +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestServerID(t *testing.T) {
	a, b := ServerID(testServer), ServerID(netip.MustParseAddr("fd00:99::2"))
	if bytes.Equal(a, b) || !bytes.Equal(a, ServerID(testServer)) {
		t.Error("two addresses have one DUID, or one has two")
	}
	d, err := dhcpv6.DUIDFromBytes(a)
	if err != nil {
		t.Fatal(err)
	}
	u, ok := d.(*dhcpv6.DUIDUUID)
	if !ok || u.UUID[6]>>4 != 8 || u.UUID[8]>>6 != 2 {
		t.Errorf("%v is no UUID of RFC 9562", d)
	}
}
