package dhcp

import (
	"testing"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// TestMACs: a text that is kept is that of its own address, whoever had its place before.
func TestMACs(t *testing.T) {
	cases := map[string]struct {
		reason string
		hw     []byte
		want   boot.MAC
	}{
		"First":  {"it isn't known yet", []byte{0x52, 0x54, 0, 0, 0, 1}, "52:54:00:00:00:01"},
		"Other":  {"another vendor's has the same place", []byte{0x02, 0x54, 0, 0, 0, 1}, "02:54:00:00:00:01"},
		"Far":    {"so has one that's a multiple away", []byte{0x52, 0x54, 0, 1, 0, 5}, "52:54:00:01:00:05"},
		"Group":  {"a group is no NIC", []byte{0x53, 0x54, 0, 0, 0, 1}, ""},
		"Zeros":  {"nor is nobody", make([]byte, 6), ""},
		"Short":  {"another kind of link", []byte{0x52, 0x54}, ""},
		"Absent": {"none at all", nil, ""},
	}
	var known macs
	for range 2 { // The second time what is kept meets the others.
		for name, tc := range cases {
			for _, m := range []*macs{&known, nil} {
				for range 2 {
					if got := m.of(tc.hw); got != tc.want {
						t.Errorf("%s: %s: %q, want %q", name, tc.reason, got, tc.want)
					}
				}
			}
		}
	}
	hw := cases["First"].hw
	if n := testing.AllocsPerRun(100, func() { known.of(hw) }); n > 0 {
		t.Errorf("a text that is kept is made again: %v", n)
	}
}
