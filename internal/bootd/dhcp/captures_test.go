package dhcp

import (
	"encoding/binary"
	"encoding/hex"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/insomniacslk/dhcp/dhcpv4"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// captured gives the payloads of all UDP packets over IPv4 in a capture: a pcap file of Ethernet frames.
func captured(tb testing.TB, path string) [][]byte {
	tb.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	const fileHeader, packetHeader, ethernet, ports = 24, 16, 14, 8
	order := binary.ByteOrder(binary.LittleEndian)
	if len(b) >= fileHeader && binary.BigEndian.Uint16(b) == 0xa1b2 {
		order = binary.BigEndian
	}
	var out [][]byte
	for b = b[min(fileHeader, len(b)):]; len(b) > packetHeader; {
		n := int(order.Uint32(b[8:]))
		frame := b[packetHeader : packetHeader+n]
		b = b[packetHeader+n:]
		if len(frame) < ethernet+20 || binary.BigEndian.Uint16(frame[12:]) != 0x0800 {
			continue
		}
		ip := frame[ethernet:]
		if head := int(ip[0]&15) * 4; ip[9] == 17 && len(ip) > head+ports {
			out = append(out, ip[head+ports:])
		}
	}
	return out
}

// packets are all DHCP packets of the captures and texts that aren't the project's own.
func packets(t *testing.T) map[string][][]byte {
	t.Helper()
	dir := filepath.Join("..", "..", "..", "..", "shared", "testdata")
	if _, err := os.Stat(dir); err != nil {
		t.Skip("captures: ../shared/testdata isn't there")
	}
	out := map[string][][]byte{}
	files, err := filepath.Glob(filepath.Join(dir, "dhcp-*", "*.pcap"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		out[filepath.Base(f)] = captured(t, f)
	}
	texts, err := filepath.Glob(filepath.Join(dir, "dhcp-real", "text", "*.hex"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range texts {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		data, err := hex.DecodeString(strings.Join(strings.Fields(string(text)), ""))
		if err != nil {
			t.Fatal(err)
		}
		out[filepath.Base(f)] = [][]byte{data}
	}
	return out
}

// TestCaptures feeds everything that was ever recorded, firmware's, systems', servers' and what is no DHCP at all: a stranger
// hears nothing, and the owner's answer is one of ours.
func TestCaptures(t *testing.T) {
	requests := 0
	for name, list := range packets(t) {
		for i, data := range list {
			req, err := Decode(data)
			if err != nil {
				continue // TFTP, HTTP, DNS, DHCPv6.
			}
			for _, in := range []Ingress{broadcastIn(), {From: netip.MustParseAddrPort("10.99.0.1:67"), To: testServer, Interface: "br0", Addresses: []netip.Addr{testServer}}} {
				if a := Respond(testView(testState(nil, testPlan(func(p *boot.Plan) { p.MACs = []boot.MAC{otherMAC} }))), req, in); a.Packet != nil {
					t.Errorf("%s, packet %d: a stranger is answered: %s", name, i, a.Packet.Summary())
				}
			}
			if req.OpCode == dhcpv4.OpcodeBootRequest {
				requests++
			}
			owned(t, name, req)
		}
	}
	if requests < 40 {
		t.Errorf("only %d requests were found: are the captures read?", requests)
	}
}

// owned answers a packet as if its machine were ours.
func owned(t *testing.T, name string, req *dhcpv4.DHCPv4) {
	t.Helper()
	f := Classify(req)
	if f.MAC == "" {
		return
	}
	a := Respond(testView(owner(t, req)), req, broadcastIn())
	if a.Packet == nil {
		return
	}
	if req.OpCode != dhcpv4.OpcodeBootRequest {
		t.Errorf("%s: a server's packet is answered: %s", name, req.Summary())
	}
	got, err := dhcpv4.FromBytes(a.Packet.ToBytes())
	if err != nil {
		t.Fatalf("%s: our own answer can't be read: %v", name, err)
	}
	if got.TransactionID != req.TransactionID || got.ClientHWAddr.String() != req.ClientHWAddr.String() || got.Flags != req.Flags {
		t.Errorf("%s: not an answer to this request: %s", name, got.Summary())
	}
	boots := got.BootFileName != "" || got.Options.Has(dhcpv4.OptionVendorSpecificInformation)
	if !f.Client.Netboots() && boots {
		t.Errorf("%s: what isn't firmware is told to boot: %s", name, got.Summary())
	}
	if size := len(a.Packet.ToBytes()); size < 300 || size > 1472 {
		t.Errorf("%s: an answer of %d bytes", name, size)
	}
}
