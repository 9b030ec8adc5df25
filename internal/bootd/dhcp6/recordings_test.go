package dhcp6

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// shared is where captures lie that aren't the project's own; the folder isn't there in every checkout.
var shared = filepath.Join("..", "..", "..", "..", "shared", "testdata")

// A recording is a packet that somebody's firmware, switch or server has sent, and from where.
type recording struct {
	name string
	data []byte
	from netip.Addr
}

// recordings are the project's own: lines of a name and a packet in hex, of the test's machine.
func recordings(tb testing.TB) (out []recording) {
	tb.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "recordings.txt"))
	if err != nil {
		tb.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		name, digits, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok || name == "#" {
			continue
		}
		data, err := hex.DecodeString(digits)
		if err != nil {
			tb.Fatalf("%s: %v", name, err)
		}
		out = append(out, recording{name, data, testLink})
	}
	return out
}

// others are all packets of DHCPv6 in ../shared, which aren't ours to give away: pcap files of Ethernet frames, and texts of one message.
func others(tb testing.TB) []recording {
	tb.Helper()
	if _, err := os.Stat(shared); err != nil {
		tb.Skip("captures: ../shared/testdata isn't there")
	}
	var out []recording
	for _, dir := range []string{"dhcp-pcaps", "dhcp-real"} {
		for _, pattern := range []string{"*.pcap", filepath.Join("text", "*-v6-*.hex")} {
			files, err := filepath.Glob(filepath.Join(shared, dir, pattern))
			if err != nil {
				tb.Fatal(err)
			}
			for _, f := range files {
				name := strings.TrimSuffix(filepath.Base(f), filepath.Ext(f))
				if filepath.Ext(f) == ".hex" {
					out = append(out, fromText(tb, f, name))
					continue
				}
				out = append(out, captured(tb, f, name)...)
			}
		}
	}
	const least = 16
	if len(out) < least {
		tb.Errorf("only %d packets were found: are the captures read?", len(out))
	}
	return out
}

// captured gives the packets to the ports of DHCPv6 in a capture.
func captured(tb testing.TB, path, name string) (out []recording) {
	tb.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	const fileHeader, packetHeader, ethernet, ip, udp = 24, 16, 14, 40, 8
	order := binary.ByteOrder(binary.LittleEndian)
	if len(b) >= fileHeader && binary.BigEndian.Uint16(b) == 0xa1b2 {
		order = binary.BigEndian
	}
	for b = b[min(fileHeader, len(b)):]; len(b) > packetHeader; {
		n := min(int(order.Uint32(b[8:])), len(b)-packetHeader)
		frame := b[packetHeader : packetHeader+n]
		b = b[packetHeader+n:]
		if len(frame) < ethernet+ip+udp || binary.BigEndian.Uint16(frame[12:]) != 0x86dd || frame[ethernet+6] != 17 {
			continue
		}
		head := frame[ethernet:]
		if port := binary.BigEndian.Uint16(head[ip+2:]); port == portClient || port == portServer {
			out = append(out, recording{fmt.Sprintf("%s#%d", name, len(out)+1), head[ip+udp:], netip.AddrFrom16([16]byte(head[8:24]))})
		}
	}
	return out
}

// fromText reads a file that holds one message as hexadecimal digits; the one beside it says who sent it.
func fromText(tb testing.TB, path, name string) recording {
	tb.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	data, err := hex.DecodeString(strings.Join(strings.Fields(string(text)), ""))
	if err != nil {
		tb.Fatalf("%s: %v", path, err)
	}
	about, err := os.ReadFile(strings.TrimSuffix(path, ".hex") + ".json")
	if err != nil {
		tb.Fatal(err)
	}
	var says struct {
		Transport struct {
			Source string `json:"src"`
		} `json:"transport"`
	}
	if err := json.Unmarshal(about, &says); err != nil {
		tb.Fatalf("%s: %v", path, err)
	}
	from, err := netip.ParseAddrPort(says.Transport.Source)
	if err != nil {
		tb.Fatalf("%s: %v", path, err)
	}
	return recording{name, data, from.Addr()}
}
