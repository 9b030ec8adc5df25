package machine

import (
	"bytes"
	"encoding/hex"
	"net"
	"net/netip"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/insomniacslk/dhcp/dhcpv6"
)

// recorded6 is a request that firmware sent by DHCPv6.
func recorded6(t *testing.T, name string) *dhcpv6.Message {
	t.Helper()
	b, err := os.ReadFile("../../../internal/bootd/dhcp6/testdata/recordings.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		text, ok := strings.CutPrefix(line, name+" ")
		if !ok {
			continue
		}
		data, err := hex.DecodeString(strings.TrimSpace(text))
		if err != nil {
			t.Fatal(err)
		}
		m, err := dhcpv6.MessageFromBytes(data)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	t.Fatalf("there's no recording of %s", name)
	return nil
}

// TestIdentityOverIPv6IsThatOfFirmware is TestIdentityIsThatOfFirmware of DHCPv6, with all that is asked for.
func TestIdentityOverIPv6IsThatOfFirmware(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		record string
		as     speaker
	}{
		"PXE":  {"OVMF's PXE client", "uefi-pxe/pxe-solicit", speakerPXE},
		"HTTP": {"OVMF's HTTP Boot", "uefi-httpboot/http-solicit", speakerHTTP},
		"iPXE": {"Debian's snponly.efi", "uefi-httpboot/ipxe-solicit", speakerIPXE},
	} {
		t.Run(name, func(t *testing.T) {
			want := recorded6(t, tc.record)
			duid, _ := want.Options.ClientID().(*dhcpv6.DUIDUUID)
			id := uuid.UUID(duid.UUID)
			if tc.as != speakerIPXE {
				id = uuid.UUID([16]byte(smbiosBytes(id)))
			}
			c := Config{MAC: net.HardwareAddr{0x52, 0x54, 0, 0, 0, 1}, UUID: id, Firmware: UEFI}.withDefaults()
			got, err := c.solicit(tc.as)
			if err != nil {
				t.Fatal(err)
			}
			for _, code := range []dhcpv6.OptionCode{
				dhcpv6.OptionClientID, dhcpv6.OptionVendorClass, dhcpv6.OptionUserClass, dhcpv6.OptionClientArchType, dhcpv6.OptionNII, dhcpv6.OptionORO,
			} {
				if diff := cmp.Diff(octets(want, code), octets(got, code)); diff != "" {
					t.Errorf("%s: %s -recorded +simulated:\n%s", tc.reason, code, diff)
				}
			}
		})
	}
}

// octets of an option, as they're sent.
func octets(m *dhcpv6.Message, code dhcpv6.OptionCode) []byte {
	var all [][]byte
	for _, o := range m.Options.Get(code) {
		all = append(all, o.ToBytes())
	}
	return bytes.Join(all, nil)
}

// TestNoIPv6: what can't boot over IPv6 isn't simulated.
func TestNoIPv6(t *testing.T) {
	six := Relay6{Servers: []netip.AddrPort{netip.MustParseAddrPort("[::1]:547")}, Link: netip.IPv6Loopback()}
	mac := net.HardwareAddr{0x52, 0x54, 0, 0, 0, 1}
	for name, c := range map[string]Config{
		"BIOS":   {MAC: mac, Firmware: BIOS, Six: six},
		"NoLink": {MAC: mac, Firmware: UEFI, Six: Relay6{Servers: six.Servers}},
	} {
		if _, err := New(c); err == nil || !strings.Contains(err.Error(), "over IPv6") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := New(Config{MAC: mac, Firmware: UEFI, Six: six}); err != nil {
		t.Error(err)
	}
}
