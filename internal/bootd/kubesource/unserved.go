package kubesource

import (
	"maps"
	"net/netip"
	"slices"
	"sync"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootspec"
)

// unserved is what entries say of their machines beyond the plans that are served: who has an entry is no stranger, also before it has a
// plan, and after a restore.
type unserved struct {
	mu   sync.Mutex
	rows map[boot.Name]withheld
}

type withheld struct {
	macs      []boot.MAC
	addresses []netip.Addr
}

// note takes over what an entry says that its plan doesn't.
func (u *unserved) note(o Object, p boot.Plan, served bool) {
	e, ok := o.(*v1alpha1.BootEntry)
	if !ok {
		return
	}
	macs, addresses := bootspec.KnownOf(e)
	if served {
		macs = slices.DeleteFunc(macs, func(m boot.MAC) bool { return slices.Contains(p.MACs, m) })
		addresses = slices.DeleteFunc(addresses, func(a netip.Addr) bool { return p.Network.Has(a) })
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(macs)+len(addresses) == 0 {
		delete(u.rows, nameOf(o))
		return
	}
	u.rows[nameOf(o)] = withheld{macs, addresses}
}

func (u *unserved) forget(n boot.Name) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.rows, n)
}

// keep forgets all but those of a fresh list.
func (u *unserved) keep(names map[boot.Name]bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	maps.DeleteFunc(u.rows, func(n boot.Name, _ withheld) bool { return !names[n] })
}

// into tells a state that nobody has yet.
func (u *unserved) into(st *boot.State) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, x := range u.rows {
		st.Withhold(x.macs, x.addresses)
	}
}
