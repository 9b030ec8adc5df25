package redfishhost

import (
	"encoding/json"
	"slices"

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
