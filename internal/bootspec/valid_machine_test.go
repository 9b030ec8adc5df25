package bootspec

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// TestMACTwice: a MAC is the same one however it's written.
func TestMACTwice(t *testing.T) {
	cases := map[string]struct {
		reason string
		second string
		want   []string
	}{
		"Another": {"two NICs", "52:54:00:00:00:0b", nil},
		"Same":    {"one, twice", "52:54:00:00:00:0a", []string{"MAC 52:54:00:00:00:0a is there twice"}},
		"Dashes":  {"as Windows has it", "52-54-00-00-00-0a", []string{"MAC 52-54-00-00-00-0a is there twice"}},
		"Capital": {"as a label has it", "52:54:00:00:00:0A", []string{"MAC 52:54:00:00:00:0A is there twice"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			macs := []string{"52:54:00:00:00:0a", tc.second}
			for of, check := range map[string]func(f faults){
				"machine":   func(f faults) { validMachine(f, v1alpha1.MachineSelector{MACs: macs}) },
				"interface": func(f faults) { validInterface(f, &v1alpha1.EntryInterface{MACs: macs, Bond: &v1alpha1.EntryBond{}}) },
			} {
				var list []Fault
				check(faults{of, &list})
				var got []string
				for _, x := range list {
					if x.Field == of+".macs[1]" {
						got = append(got, x.Message)
					}
				}
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("%s: %s: -want +got:\n%s", tc.reason, of, diff)
				}
			}
		})
	}
}
