package dhcp

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/insomniacslk/dhcp/dhcpv4"
)

// TestNameUntilNUL: ROMs of Intel's, and UEFI of some boards, take option 67 for a C string, whatever its length says (netboot.xyz#1198 names boards), and
// EDK2 writes a NUL behind it, over the next option's number.
func TestNameUntilNUL(t *testing.T) {
	id := option(97, append([]byte{0}, bytes.Repeat([]byte{0x44}, machineIDSize)...)...)
	cases := map[string]struct {
		reason string
		req    dhcpv4.Modifier
		want   string
	}{
		"BIOS":      {"option 97 comes next", all(asPXE(0), id), "undionly.kpxe"},
		"UEFI":      {"the same", all(asPXE(7), id), "snponly.efi"},
		"WithoutID": {"the end comes next", asPXE(7), "snponly.efi"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := offer(t, testView(testState(nil, testPlan())), tc.req).Options.Get(dhcpv4.OptionBootfileName)
			got, _, ended := bytes.Cut(b, []byte{0})
			if diff := cmp.Diff(tc.want, string(got)); diff != "" || !ended {
				t.Errorf("%s: it ends by a NUL: %t (-want +got):\n%s", tc.reason, ended, diff)
			}
		})
	}
}
