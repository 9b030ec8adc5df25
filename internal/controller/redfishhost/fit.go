package redfishhost

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// A part of an inventory that can be cut, by its name in the API.
type part struct {
	name  string
	bytes int
	halve func()
}

func partOf[T any](name string, list *[]T) part {
	bytes := 0
	if len(*list) > 0 {
		bytes = size(*list)
	}

	return part{name, bytes, func() { *list = (*list)[:len(*list)/2] }}
}

// size is how many bytes of JSON something has.
func size(v any) int {
	b, err := json.Marshal(v)
	if err != nil {
		return 0 // It is ours, and of strings and numbers.
	}

	return len(b)
}

// fit cuts the longest lists of an inventory by halves until it has no more
// than so many bytes of JSON, and says which ones it cut.
func fit(h *v1alpha1.HostInventory, most int) {
	for size(h) > most {
		parts := []part{
			partOf("processors", &h.Processors), partOf("drives", &h.Drives), partOf("nics", &h.NICs), partOf("accelerators", &h.Accelerators),
			partOf("pcie", &h.PCIe), partOf("powerSupplies", &h.PowerSupplies), partOf("problems", &h.Problems),
		}
		if h.Memory != nil {
			memory := *h.Memory // It may be shared with the status of before.
			h.Memory = &memory
			parts = append(parts, partOf("memory", &memory.Modules))
		}
		longest := slices.MaxFunc(parts, func(a, b part) int { return a.bytes - b.bytes })
		if longest.bytes == 0 {
			break
		}
		longest.halve()
		if !slices.Contains(h.Truncated, longest.name) {
			h.Truncated = append(h.Truncated, longest.name)
		}
	}
	slices.Sort(h.Truncated)
}

// maxStatus bounds a whole status, in bytes of JSON, with room for what the managed
// reconciler adds.
const maxStatus = 31 << 10

// fitStatus cuts a host's inventory further where what is shown beside it, such as
// many declared settings, leaves it less room. was is the one that was shown before.
func fitStatus(host *v1alpha1.RedfishHost, was *v1alpha1.HostInventory, now time.Time) {
	// By so much at once, so that a longer message doesn't cut it anew at each look.
	const step = 2 << 10
	h, whole := host.Status.AtProvider.Inventory, size(host.Status)
	if h == nil || whole <= maxStatus {
		return
	}
	room := (maxStatus - (whole - size(h))) / step * step
	h = h.DeepCopy() // It may be shared with the status of before.
	fit(h, max(room, 0))
	host.Status.AtProvider.Inventory = dated(h, was, now)
}
