package redfishhost

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
)

// inventories remembers what takes many requests to read, per host.
type inventories struct {
	mu sync.Mutex
	of map[types.UID]datedInventory
}

type datedInventory struct {
	redfish.Inventory

	machine string
	at      time.Time
}

func newInventories() *inventories { return &inventories{of: map[types.UID]datedInventory{}} }

// get returns the inventory of a host's machine when it isn't older than age.
func (i *inventories) get(host types.UID, machine string, now time.Time, age time.Duration) (redfish.Inventory, bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	d, ok := i.of[host]

	return d.Inventory, ok && d.machine == machine && now.Sub(d.at) < age
}

func (i *inventories) put(host types.UID, machine string, now time.Time, inv redfish.Inventory) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.of[host] = datedInventory{Inventory: inv, machine: machine, at: now}
}

func (i *inventories) forget(host types.UID) {
	i.mu.Lock()
	defer i.mu.Unlock()
	delete(i.of, host)
}
