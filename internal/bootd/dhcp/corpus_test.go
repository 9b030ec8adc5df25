package dhcp

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// shared is where captures lie that aren't the project's own; the folder isn't there in every checkout.
var shared = filepath.Join("..", "..", "..", "..", "shared", "testdata")

// captured gives the payloads of all packets to the ports of DHCP in a capture: a pcap file of Ethernet frames.
func captured(tb testing.TB, path string) [][]byte {
	tb.Helper()
	b, err := os.ReadFile(path) //nolint:gosec // Whoever runs the tests names the folder.
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
		n := min(int(order.Uint32(b[8:])), len(b)-packetHeader)
		frame := b[packetHeader : packetHeader+n]
		b = b[packetHeader+n:]
		if len(frame) < ethernet+20 || binary.BigEndian.Uint16(frame[12:]) != 0x0800 {
			continue
		}
		ip := frame[ethernet:]
		head := int(ip[0]&15) * 4
		if ip[9] != 17 || len(ip) <= head+ports {
			continue
		}
		if port := binary.BigEndian.Uint16(ip[head+2:]); port == 67 || port == 68 || port == 4011 {
			out = append(out, ip[head+ports:])
		}
	}
	return out
}

// hexFile reads a file that holds one packet as hexadecimal digits.
func hexFile(tb testing.TB, path string) []byte {
	tb.Helper()
	text, err := os.ReadFile(path) //nolint:gosec // Whoever runs the tests names the folder.
	if err != nil {
		tb.Fatal(err)
	}
	data, err := hex.DecodeString(strings.Join(strings.Fields(string(text)), ""))
	if err != nil {
		tb.Fatalf("%s: %v", path, err)
	}
	return data
}

// recorded reads every capture and every text of some folders. DHCPv6 isn't among what it gives.
func recorded(tb testing.TB, dirs ...string) []recording {
	tb.Helper()
	var out []recording
	for _, dir := range dirs {
		for _, pattern := range []string{"*.pcap", "*.hex", filepath.Join("text", "*.hex")} {
			files, err := filepath.Glob(filepath.Join(dir, pattern))
			if err != nil {
				tb.Fatal(err)
			}
			for _, f := range files {
				name := strings.TrimSuffix(filepath.Base(f), filepath.Ext(f))
				if filepath.Ext(f) == ".hex" {
					if !strings.Contains(name, "-v6-") {
						out = append(out, recording{name, hexFile(tb, f)})
					}
					continue
				}
				for i, data := range captured(tb, f) {
					out = append(out, recording{fmt.Sprintf("%s#%d", name, i+1), data})
				}
			}
		}
	}
	return out
}

// others are the packets of ../shared that aren't among our own.
func others(tb testing.TB) []recording {
	tb.Helper()
	if _, err := os.Stat(shared); err != nil {
		tb.Skip("captures: ../shared/testdata isn't there")
	}
	own := recordings(tb)
	all := recorded(tb, filepath.Join(shared, "dhcp-pcaps"), filepath.Join(shared, "dhcp-real"))
	const least = 60
	if len(all) < least {
		tb.Errorf("only %d packets were found: are the captures read?", len(all))
	}
	return slices.DeleteFunc(all, func(r recording) bool {
		return slices.ContainsFunc(own, func(o recording) bool { return string(o.data) == string(r.data) })
	})
}

// everything is all that can be had here: ours, ../shared's, and that of the folders that DHCP_RECORDINGS names, which
// nothing is committed of.
func everything(tb testing.TB) []recording {
	tb.Helper()
	all := recordings(tb)
	if _, err := os.Stat(shared); err == nil {
		all = append(all, others(tb)...)
	}
	return append(all, recorded(tb, filepath.SplitList(os.Getenv("DHCP_RECORDINGS"))...)...)
}
