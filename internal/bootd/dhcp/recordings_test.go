package dhcp

import (
	"bufio"
	"encoding/hex"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp/wire"
)

type recording struct {
	name string
	data []byte
}

// recordings reads lines of a name and a packet in hex.
func recordings(tb testing.TB) []recording {
	tb.Helper()
	f, err := os.Open(filepath.Join("testdata", "recordings.txt"))
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	var out []recording
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		name, digits, ok := strings.Cut(lines.Text(), " ")
		if !ok || name == "#" {
			continue
		}
		data, err := hex.DecodeString(digits)
		if err != nil {
			tb.Fatalf("%s: %v", name, err)
		}
		out = append(out, recording{name, data})
	}
	return out
}

// owner is a state in which a packet's machine is ours, with the address that it was given when it was recorded.
func owner(tb testing.TB, req *wire.Message) *boot.State {
	tb.Helper()
	f := Classify(req)
	if f.MAC == "" {
		tb.Fatalf("hardware address %x", req.Hardware())
	}
	return testState(nil, testPlan(func(p *boot.Plan) {
		p.MACs = []boot.MAC{f.MAC}
		if f.Requested.IsValid() {
			p.Network.Address = netip.PrefixFrom(f.Requested, 24)
		}
	}))
}

// TestRealFirmware reads packets of real machines, which aren't ours to give away.
func TestRealFirmware(t *testing.T) {
	dir := filepath.Join(shared, "dhcp-real", "text")
	if _, err := os.Stat(dir); err != nil {
		t.Skip("packets of real firmware: ../shared/testdata/dhcp-real isn't there")
	}
	cases := map[string]struct {
		reason string
		client Client
		file   string
	}{
		"cisco-ncs5001-ipxe-discover":      {"a vendor's iPXE, with more behind its class", ClientIPXE, "http://"},
		"dell-bios-discover":               {"a BIOS ROM of 548 bytes", ClientPXE, "undionly.kpxe"},
		"dell-ipxe-native-discover":        {"iPXE with a native driver", ClientIPXE, "http://"},
		"hyperv-gen1-bios-discover":        {"a BIOS ROM with the short list", ClientPXE, "undionly.kpxe"},
		"juniper-ex-relay-opt82-discover":  {"a laptop's system behind a relay", ClientOS, ""},
		"minipc-intel-iba-v1562-discover":  {"an unset option 97", ClientPXE, "undionly.kpxe"},
		"minipc-uefi-httpboot-discover-a":  {"UEFI HTTP Boot", ClientHTTP, "http://10.99.0.1:8080/v1/firmware/snponly.efi"},
		"minipc-uefi-httpboot-discover-b":  {"a maximum size of 65280", ClientHTTP, "http://10.99.0.1:8080/v1/firmware/snponly.efi"},
		"raspberrypi3-rom-discover":        {"it says that it is a BIOS, and asks for names of its own", ClientPi, ""},
		"raspberrypi3bplus-rom-discover":   {"and doesn't ask for mask and router", ClientPi, ""},
		"raspberrypi4-eeprom-discover":     {"the same", ClientPi, ""},
		"raspberrypi4-eeprom-request":      {"without an architecture", ClientPi, ""},
		"raspberrypi4-eeprom2019-discover": {"the same", ClientPi, ""},
		"raspberrypi4-uboot-request":       {"firmware that we have nothing for", ClientOther, ""},
		"starfive-riscv-uboot-discover":    {"and without option 93", ClientOther, ""},
		"supermicro-bios-discover":         {"option 97 holds the MAC", ClientPXE, "undionly.kpxe"},
		"virtualbox-efi-discover":          {"OVMF's kin", ClientPXE, "snponly.efi"},
		"virtualbox-efi-request":           {"a REQUEST four seconds later", ClientPXE, "snponly.efi"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			data := hexFile(t, filepath.Join(dir, name+".hex"))
			var req wire.Message
			if err := req.Read(raw(data).at(rawGiaddr, 0, 0, 0, 0)); err != nil { // As if it stood on our own segment.
				t.Fatal(err)
			}
			a := Respond(testView(owner(t, &req)), &req, broadcastIn())
			p := packetOf(t, a)
			if a.Facts.Client != tc.client {
				t.Errorf("%s: client %s, want %s", tc.reason, a.Facts.Client, tc.client)
			}
			if p == nil && a.Reason != SilentOtherServer {
				t.Fatalf("%s: silence, %s", tc.reason, a.Reason)
			}
			if p != nil && (!strings.HasPrefix(p.BootFileName, tc.file) || tc.file == "" && p.BootFileName != "") {
				t.Errorf("%s: file %q, want %q", tc.reason, p.BootFileName, tc.file)
			}
			if got := Respond(testView(testState(nil, testPlan())), &req, broadcastIn()); got.Packet != nil {
				t.Errorf("%s: answered though it's nobody's", tc.reason)
			}
		})
	}
}
