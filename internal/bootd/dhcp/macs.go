package dhcp

import "github.com/crossplane-contrib/provider-baremetal/internal/boot"

// macs are hardware addresses that were met lately, in the plans' words, each at a place by its last octets. A hall's machines come again and again, and
// a text made each time would be most of what has to be collected while they do. nil keeps none.
type macs [1 << 14]struct {
	hw   [6]byte
	text boot.MAC
}

// of is macOf.
func (m *macs) of(hw []byte) boot.MAC {
	if m == nil || len(hw) != len(m[0].hw) {
		return macOf(hw)
	}
	last := uint(hw[3])<<16 | uint(hw[4])<<8 | uint(hw[5])
	kept := &m[(last^last>>14)%uint(len(m))]
	if kept.text == "" || kept.hw != [6]byte(hw) {
		kept.hw, kept.text = [6]byte(hw), macOf(hw)
	}
	return kept.text
}
