package bootd

import (
	"slices"
	"sync"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/session"
)

// mostDeclined is how many declined addresses of a segment are told, the newest.
const mostDeclined = 16

// declines are the addresses that machines of ours declined and that are in quarantine, by segment: what heartbeats say, since not every machine has a
// session that it could stand in.
type declines struct {
	mu sync.Mutex
	of map[boot.Name][]session.Declined
}

// add the newest decline of an address.
func (d *declines) add(network boot.Name, x session.Declined) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.of == nil {
		d.of = map[boot.Name][]session.Declined{}
	}
	all := slices.DeleteFunc(d.of[network], func(o session.Declined) bool { return o.Address == x.Address || over(o, x.At) })
	if len(all) >= mostDeclined {
		all = slices.Delete(all, 0, 1)
	}
	d.of[network] = append(all, x)
}

// on gives those of a segment that are in quarantine, the oldest first.
func (d *declines) on(network boot.Name, now time.Time) []session.Declined {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := slices.DeleteFunc(d.of[network], func(o session.Declined) bool { return over(o, now) })
	if len(all) == 0 {
		delete(d.of, network)
		return nil
	}
	d.of[network] = all
	return slices.Clone(all)
}

// over says that an address is given again, or that the clock was put back.
func over(x session.Declined, now time.Time) bool { return now.Sub(x.At).Abs() > dhcp.Quarantined }
