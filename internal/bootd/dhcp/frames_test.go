package dhcp

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv4"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp/wire"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/ownnet"
)

// TestFramed is who is answered at its hardware address.
func TestFramed(t *testing.T) {
	direct := broadcastIn()
	cases := map[string]struct {
		reason string
		req    dhcpv4.Modifier
		in     Ingress
		change func(*View)
		want   string // "" for a broadcast
	}{
		"Offer":     {"RFC 2131 §4.1: no flag, no address", all(), direct, nil, "10.99.0.83:68"},
		"Flag":      {"who can't hear unicast says so", dhcpv4.WithBroadcast(true), direct, nil, ""},
		"NoRight":   {"a broadcast reaches it too", all(), direct, func(v *View) { v.Frames = false }, ""},
		"NAK":       {"a wrong address is refused to everybody", all(ofType(dhcpv4.MessageTypeRequest), addressOpt(50, "10.99.0.9")), direct, nil, ""},
		"Relayed":   {"a relay knows how to reach it", relayed("10.99.0.1"), fromRelay(netip.Addr{}), nil, "10.99.0.1:67"},
		"Rebinding": {"it has its address", all(ofType(dhcpv4.MessageTypeRequest), dhcpv4.WithClientIP(net.IP(testAddress.AsSlice()))), direct, nil, "10.99.0.83:68"},
		"Advertised": {"an address that isn't ours sends no frame", all(), direct, func(v *View) {
			v.Advertise = netip.MustParseAddr("192.0.2.1")
		}, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			v := testView(testState(nil, testPlan()))
			v.Frames = true
			if tc.change != nil {
				tc.change(&v)
			}
			a, _ := answered(t, v, request(t, tc.req), tc.in)
			want := tc.want
			if want == "" {
				want = everybody
			}
			framed := a.Hardware != [6]byte{}
			if a.To.String() != want || framed != (name == "Offer") || framed && string(macOf(a.Hardware[:])) != string(testMAC) {
				t.Errorf("%s: to %s, frame to %x", tc.reason, a.To, a.Hardware)
			}
		})
	}
}

// TestDatagram: the kernel of whoever gets it would drop it for a wrong checksum.
func TestDatagram(t *testing.T) {
	from, to := netip.MustParseAddrPort("10.99.0.1:67"), netip.MustParseAddrPort("10.99.0.83:68")
	for _, data := range []string{"", "x", "xy", strings.Repeat("\xff", 1001)} {
		b := datagram(nil, from, to, []byte(data))
		if folded(sum(0, b[:ipHeader])) != 0xffff {
			t.Errorf("%d bytes: the header's checksum is wrong", len(data))
		}
		pseudo := sum(uint32(unix.IPPROTO_UDP)+uint32(len(b)-ipHeader), b[12:ipHeader]) //nolint:gosec // Some bytes.
		if folded(sum(pseudo, b[ipHeader:])) != 0xffff {
			t.Errorf("%d bytes: the checksum of UDP is wrong", len(data))
		}
		if int(binary.BigEndian.Uint16(b[2:])) != len(b) || string(b[ipHeader+udpHeader:]) != data {
			t.Errorf("%d bytes: %x", len(data), b)
		}
	}
}

// TestDeafToBroadcast: a client that hears nothing but what is sent to its own hardware address is served, and where frames can't be sent,
// one that hears broadcasts.
func TestDeafToBroadcast(t *testing.T) {
	if !ownnet.Inside(t) {
		return
	}
	mac := cableOf(t)
	frames, err := OpenFrames()
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		frames *Frames
		view   bool
		to     net.HardwareAddr
		dst    string
	}{
		"Frames":  {frames, true, mac, testAddress.String()},
		"Without": {nil, false, net.HardwareAddr{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, "255.255.255.255"},
		"Lost":    {nil, true, net.HardwareAddr{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, "255.255.255.255"},
	} {
		t.Run(name, func(t *testing.T) {
			state := testState(nil, testPlan(func(p *boot.Plan) { p.MACs = []boot.MAC{boot.MAC(mac.String())} }))
			cfg := testConfig(state)
			cfg.Frames = tc.view
			sock, err := net.ListenUDP("udp4", &net.UDPAddr{Port: portServer})
			if err != nil {
				t.Fatal(err)
			}
			conn, err := NewConn(sock, tc.frames)
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error, 1)
			go func() { done <- New(cfg).Serve(ctx, conn) }()
			defer func() {
				cancel()
				if err := <-done; err != nil {
					t.Error(err)
				}
			}()
			p := request(t, dhcpv4.WithHwAddr(mac))
			if got := hears(t, mac, p.ToBytes(), tc.to); got != tc.dst {
				t.Errorf("the answer to %s goes to %q, want %s", tc.to, got, tc.dst)
			}
		})
	}
	if err := frames.Close(); err != nil {
		t.Error(err)
	}
	if err := frames.send(&Outgoing{To: netip.AddrPortFrom(testAddress, portClient)}, netip.AddrPortFrom(testServer, portServer)); err == nil {
		t.Error("after its end nothing is sent")
	}
}

// cableOf makes a cable whose one end, with our address, is the server's; it gives the hardware address of the other end.
func cableOf(t *testing.T) net.HardwareAddr {
	t.Helper()
	v := &netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: "ours"}, PeerName: "theirs"}
	address, err := netlink.ParseAddr(testServer.String() + "/24")
	err = errors.Join(err, netlink.LinkAdd(v))
	theirs, also := netlink.LinkByName("theirs")
	if err = errors.Join(err, also); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(netlink.AddrAdd(v, address), netlink.LinkSetUp(v), netlink.LinkSetUp(theirs)); err != nil {
		t.Fatal(err)
	}
	return theirs.Attrs().HardwareAddr
}

// hears asks as a client without an address, and gives where the first answer goes that is sent to a hardware address; "": there's none.
func hears(t *testing.T, mac net.HardwareAddr, data []byte, at net.HardwareAddr) string {
	t.Helper()
	theirs, err := net.InterfaceByName("theirs")
	if err != nil {
		t.Fatal(err)
	}
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, int(networkOrder(unix.ETH_P_IP)))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Close(fd) }()
	to := &unix.SockaddrLinklayer{Protocol: networkOrder(unix.ETH_P_IP), Ifindex: theirs.Index}
	patience := unix.NsecToTimeval(int64(200 * time.Millisecond))
	if err := errors.Join(unix.Bind(fd, to), unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &patience)); err != nil {
		t.Fatal(err)
	}
	ask := append(bytes.Repeat([]byte{0xff}, 6), mac...)
	ask = datagram(append(ask, 8, 0), netip.MustParseAddrPort("0.0.0.0:68"), netip.AddrPortFrom(everyone(), portServer), data)
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); {
		if err := unix.Sendto(fd, ask, 0, to); err != nil && !errors.Is(err, unix.ENETDOWN) {
			t.Fatal(err)
		}
		for b := make([]byte, 2000); ; {
			n, _, err := unix.Recvfrom(fd, b, 0)
			if err != nil {
				break
			}
			const ethernet, headers = 14, 14 + ipHeader + udpHeader
			var m wire.Message
			if n < headers || !bytes.Equal(b[:6], at) || m.Read(b[headers:n]) != nil || m.Type() != wire.Offer {
				continue
			}
			return netip.AddrFrom4([4]byte(b[ethernet+16 : ethernet+20])).String()
		}
	}
	return ""
}
