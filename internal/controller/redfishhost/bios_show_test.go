package redfishhost

import (
	"fmt"
	"strings"
	"testing"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/bios"
)

// TestBIOSFits has the largest declared map there can be: status stays small,
// and so does the condition.
func TestBIOSFits(t *testing.T) {
	w := &wantBIOS{digest: "d", declared: map[string]bios.Value{}}
	s := &biosSeen{digest: "d", current: map[string]bios.Value{}, changes: map[string]bios.Value{}, writable: true}
	for i := range 512 {
		name, v := fmt.Sprintf("%s%d", strings.Repeat("n", 200), i), bios.Value{Kind: bios.Text, Text: strings.Repeat("v", 4096)}
		w.declared[name], s.current[name], s.changes[name] = v, v, v
		s.problems = append(s.problems, bios.Problem{Name: name, Reason: bios.Invalid, Wanted: v, Takes: strings.Repeat("t", 4096), Nearest: []string{name, name, name}})
	}
	o := biosObservation(w, s, &journal{})
	if n := size(o); n > maxBIOS || len(o.Failed) == 0 || len(o.Pending) == 0 || len(o.Attributes) == 0 {
		t.Errorf("%d bytes of JSON, want %d at most: %d attributes, %d pending, %d failed", n, maxBIOS, len(o.Attributes), len(o.Pending), len(o.Failed))
	}
	for _, c := range showBIOS(view{want: want{bios: w}, seen: seen{bios: s}, j: &journal{}}, inputs{}) {
		if len(c.Message) > 2048 {
			t.Errorf("a message of %d bytes", len(c.Message))
		}
	}
}
