package dhcp

import (
	"encoding/hex"
	"strings"
	"testing"
)

func TestContradicts(t *testing.T) {
	const uuid = "4c4c4544-0044-4a10-8051-b4c04f4a3135"
	cases := map[string]struct {
		reason string
		sent   string // option 97 behind its type
		want   bool
	}{
		"Same":       {"as Redfish writes it", "4c4c454400444a108051b4c04f4a3135", false},
		"Swapped":    {"as SMBIOS stores it", "44454c4c4400104a8051b4c04f4a3135", false},
		"Other":      {"another machine: the NIC was moved", "4c4c454400444a108051b4c04f4a3136", true},
		"None":       {"nothing was sent", "", false},
		"Zero":       {"unset", strings.Repeat("00", 16), false},
		"AMI":        {"a board maker's default, the same on many", "00020003000400050006000700080009", false},
		"AMISwapped": {"and in the other order", "0300020004000500" + "0006000700080009", false},
		"MAC":        {"the MAC in place of a UUID", "00000000000000000000" + "525400990013", false},
		"Pi":         {"a serial number, four times", strings.Repeat("d4659bbd", 4), false},
		"WrongShape": {"no UUID at all", "01", false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			sent, err := hex.DecodeString(tc.sent)
			if err != nil {
				t.Fatal(err)
			}
			f := Facts{MAC: testMAC, MachineID: machineID(append([]byte{0}, sent...))}
			if got := f.contradicts(uuid); got != tc.want {
				t.Errorf("got %v, want %v: %s", got, tc.want, tc.reason)
			}
		})
	}
	if (Facts{MachineID: machineID(make([]byte, 17))}).contradicts("no uuid") {
		t.Error("a plan without a UUID is contradicted by nothing")
	}
}
