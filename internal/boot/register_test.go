package boot

import (
	"testing"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot/numbered"
)

// TestKeysAlike: of two entries whose keys begin alike, which are found by that, the second isn't served: no token ever finds the first one's plan by the
// second one's key.
func TestKeysAlike(t *testing.T) {
	x := register{byMAC: &numbered.Map[uint32]{}, byEntry: &numbered.Map[entryAt]{}}
	first, alike, other := EntryKey{1, 2, 3, 4, 5, 6, 7, 8, 9}, EntryKey{1, 2, 3, 4, 5, 6, 7, 8, 10}, EntryKey{2}
	x.add(first, &Plan{}, 3)
	for name, tc := range map[string]struct {
		key          EntryKey
		found, taken bool
	}{"First": {first, true, true}, "Alike": {alike, false, true}, "Other": {other, false, false}} {
		i, found := x.ofEntry(tc.key)
		if found != tc.found || found && i != 3 {
			t.Errorf("%s: found %d, %t", name, i, found)
		}
		if i, taken := x.taken(tc.key, &Plan{}); taken != tc.taken || taken && i != 3 {
			t.Errorf("%s: taken by %d, %t", name, i, taken)
		}
	}
}
