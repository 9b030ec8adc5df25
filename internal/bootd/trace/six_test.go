package trace

import (
	"bytes"
	"errors"
	"io"
	"net/netip"
	"testing"
	"time"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"
)

// TestIPv6: packets of IPv6 lie beside those of IPv4, come back as they were, and another library reads their headers.
func TestIPv6(t *testing.T) {
	at := time.Date(2026, 8, 1, 10, 41, 7, 0, time.UTC)
	machine, group := netip.MustParseAddrPort("[fe80::5054:ff:fe00:1]:546"), netip.MustParseAddrPort("[ff02::1:2]:547")
	r := New(perMachine)
	four := Packet{At: at, From: netip.MustParseAddrPort("0.0.0.0:68"), To: netip.MustParseAddrPort("255.255.255.255:67"), Data: []byte("four")}
	r.Add("52:54:00:00:00:01", true, four, Packet{})
	for range 200 { // More than there's room for.
		r.Add("52:54:00:00:00:01", true, Packet{At: at, From: machine, To: group, Index: 3, Data: []byte("asks")},
			Packet{At: at, From: netip.MustParseAddrPort("[fd00::1]:547"), To: machine, Index: 3, Sent: true, Data: []byte("is told")})
	}
	got := r.Of("52:54:00:00:00:01")
	if len(got) < 4 || len(got) > maxCount {
		t.Fatalf("%d packets are kept", len(got))
	}
	last := got[len(got)-1]
	if last.To != machine || last.From.Addr() != netip.MustParseAddr("fd00::1") || !last.Sent || last.Index != 3 || string(last.Data) != "is told" {
		t.Errorf("kept as %+v", last)
	}
	var b bytes.Buffer
	if err := WritePCAP(&b, "52:54:00:00:00:01", append(got, four)); err != nil {
		t.Fatal(err)
	}
	from, err := pcapgo.NewReader(&b)
	if err != nil {
		t.Fatal(err)
	}
	six, multicasts := 0, 0
	for {
		data, _, err := from.ReadPacketData()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		p := gopacket.NewPacket(data, layers.LayerTypeEthernet, gopacket.Default)
		ip, ok := p.Layer(layers.LayerTypeIPv6).(*layers.IPv6)
		if !ok {
			continue
		}
		udp, ok := p.Layer(layers.LayerTypeUDP).(*layers.UDP)
		if !ok || ip.NextHeader != layers.IPProtocolUDP || int(udp.Length) != 8+len(udp.Payload) {
			t.Errorf("%v", p)
		}
		if err := udp.SetNetworkLayerForChecksum(ip); err != nil {
			t.Fatal(err)
		}
		if err, sum := udp.VerifyChecksum(); err != nil || !sum.Valid || sum.Actual == 0 {
			t.Errorf("the checksum is %x, want %x (%v)", sum.Actual, sum.Correct, err)
		}
		six++
		if e, _ := p.Layer(layers.LayerTypeEthernet).(*layers.Ethernet); ip.DstIP.IsMulticast() && e.DstMAC.String() == "33:33:00:01:00:02" {
			multicasts++
		}
	}
	if six != len(got) || multicasts == 0 {
		t.Errorf("%d of %d packets are IPv6, %d of them to the group", six, len(got), multicasts)
	}
}
