package specdir

import (
	"net/netip"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootspec"
)

// unserved are MACs and addresses of machines that had an entry in an earlier life, and weren't served.
type unserved struct {
	MACs      []boot.MAC
	Addresses []netip.Addr
}

// withhold tells a state that nobody has yet who isn't served: who has an entry is no stranger, and nobody is lent its address.
func (w *world) withhold(st *boot.State) {
	for _, e := range w.claims {
		macs, addresses := bootspec.KnownOf(e)
		st.Withhold(macs, addresses)
	}
	for _, p := range w.rivals {
		var addresses []netip.Addr
		for a := range p.Network.Addresses() {
			addresses = append(addresses, a.Addr())
		}
		st.Withhold(p.MACs, addresses)
	}
	st.Withhold(w.unserved.MACs, w.unserved.Addresses)
}
