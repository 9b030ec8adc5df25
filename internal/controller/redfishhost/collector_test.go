package redfishhost

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/inventory"
)

// TestMetrics: what a machine's sensors said is told as long as there's its host.
func TestMetrics(t *testing.T) {
	s := newShelf()
	s.of["a"] = &inventoryOf{name: types.NamespacedName{Namespace: "infra", Name: "a"}, read: true, at: t0, Inventory: redfish.Inventory{
		Requests: 7, Readings: inventory.Readings{Watts: 150, Temperatures: []inventory.Temperature{{Sensor: "Inlet", Celsius: 21}, {Sensor: "CPU 1", Celsius: 50}}},
	}}
	s.of["orphan"] = &inventoryOf{name: s.of["a"].name, read: true, at: t0, Inventory: redfish.Inventory{Requests: 3}}
	s.of["a"].seen = t0
	s.of["b"] = &inventoryOf{}
	told := func() map[string]int {
		r := prometheus.NewPedanticRegistry()
		r.MustRegister(s.inventories)
		families, err := r.Gather()
		if err != nil {
			t.Fatal(err)
		}
		out := map[string]int{}
		for _, f := range families {
			out[f.GetName()] = len(f.GetMetric())
		}

		return out
	}
	want := map[string]int{
		"provider_baremetal_host_power_watts": 1, "provider_baremetal_host_temperature_celsius": 2,
		"provider_baremetal_host_inventory_timestamp_seconds": 1, "provider_baremetal_host_inventory_requests": 1,
	}
	if diff := cmp.Diff(want, told()); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
	s.forget("a")
	s.forget("orphan")
	if diff := cmp.Diff(map[string]int{}, told()); diff != "" {
		t.Errorf("of a host that is gone: -want, +got:\n%s", diff)
	}
}
