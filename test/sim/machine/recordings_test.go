package machine

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"
	"github.com/insomniacslk/dhcp/dhcpv4"
)

// recordings are packets of QEMU's firmware, outside the repository.
const recordings = "../../../../shared/testdata/dhcp-pcaps"

// discovers reads the DISCOVERs of a recording.
func discovers(t *testing.T, name string) []*dhcpv4.DHCPv4 {
	t.Helper()
	f, err := os.Open(filepath.Join(recordings, name))
	if errors.Is(err, os.ErrNotExist) {
		t.Skipf("skipped: no recordings in %s", recordings)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	r, err := pcapgo.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var out []*dhcpv4.DHCPv4
	for {
		data, _, err := r.ReadPacketData()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		udp, ok := gopacket.NewPacket(data, layers.LayerTypeEthernet, gopacket.Default).Layer(layers.LayerTypeUDP).(*layers.UDP)
		if !ok || udp.DstPort != 67 {
			continue
		}
		if p, err := dhcpv4.FromBytes(udp.Payload); err == nil && p.MessageType() == dhcpv4.MessageTypeDiscover {
			out = append(out, p)
		}
	}
}

// TestIdentityIsThatOfFirmware compares what servers tell programs apart by with what real firmware sends.
func TestIdentityIsThatOfFirmware(t *testing.T) {
	codes := []dhcpv4.OptionCode{
		dhcpv4.OptionClassIdentifier, dhcpv4.OptionUserClassInformation, dhcpv4.OptionClientSystemArchitectureType,
		dhcpv4.OptionClientNetworkInterfaceIdentifier, dhcpv4.OptionClientMachineIdentifier, dhcpv4.OptionMaximumDHCPMessageSize,
	}
	cases := map[string]struct {
		reason   string
		file     string
		index    int
		firmware Firmware
		speaker  speaker
		features bool
	}{
		"BIOSiPXE": {reason: "QEMU's BIOS ROMs are iPXE", file: "bios-disk-tiny.pcap", firmware: BIOS, speaker: speakerIPXE, features: true},
		"UEFI":     {reason: "OVMF's PXE client", file: "uefi-native-pxe-arch7.pcap", firmware: UEFI, speaker: speakerPXE},
		"UEFIiPXE": {reason: "Debian's snponly.efi", file: "uefi-native-pxe-arch7.pcap", index: -1, firmware: UEFI, speaker: speakerIPXE},
		"HTTPBoot": {reason: "OVMF's HTTP Boot", file: "uefi-native-httpboot-arch16.pcap", firmware: UEFI, speaker: speakerHTTP},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			all := discovers(t, tc.file)
			i := (tc.index + len(all)) % len(all)
			want := all[i]
			id, err := uuid.FromBytes(smbiosBytes(uuid.UUID(want.Options.Get(dhcpv4.OptionClientMachineIdentifier)[1:])))
			if err != nil {
				t.Fatal(err)
			}
			c := Config{MAC: want.ClientHWAddr, UUID: id, Firmware: tc.firmware}.withDefaults()
			got, err := c.discover(tc.speaker, want.TransactionID)
			if err != nil {
				t.Fatal(err)
			}
			for _, code := range codes {
				if diff := cmp.Diff(want.Options.Get(code), got.Options.Get(code)); diff != "" {
					t.Errorf("%s: %s -recorded +simulated:\n%s", tc.reason, code, diff)
				}
			}
			if want.IsBroadcast() != got.IsBroadcast() {
				t.Errorf("%s: broadcast flag %t", tc.reason, got.IsBroadcast())
			}
			if tc.features && !cmp.Equal(want.Options.Get(optionIPXE), got.Options.Get(optionIPXE)) {
				t.Errorf("%s: option 175 is %x, recorded %x", tc.reason, got.Options.Get(optionIPXE), want.Options.Get(optionIPXE))
			}
		})
	}
}
