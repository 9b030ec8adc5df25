package redfishhost

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
)

// walked is a walk that has found something.
type walked struct{ inv redfish.Inventory }

func (w walked) Inventory() redfish.Inventory { return w.inv }

// TestAddressesComeEarly: whom a claim waits for shows its addresses before the rest is read.
func TestAddressesComeEarly(t *testing.T) {
	s, m := newShelf(), &redfish.Memory{}
	s.of["a"] = &inventoryOf{machine: "a", memory: m, seen: t0}
	j := &job{host: "a", memory: m, name: types.NamespacedName{Name: "a"}, system: systemOf("a"), urgent: true}
	found := redfish.Inventory{MACs: []redfish.MAC{{Address: "52:54:00:00:00:01"}}}
	if s.early(j, walked{}) || !s.early(j, walked{found}) || s.early(j, walked{found}) {
		t.Error("want it once, where there are addresses")
	}
	d := s.known("a", systemOf("a"))
	if !d.half || !d.due(systemOf("a"), t0, time.Hour) {
		t.Errorf("half %v: the rest is to be read", d.half)
	}
	h := &v1alpha1.RedfishHost{}
	h.Status.AtProvider = v1alpha1.RedfishHostObservation{Identity: v1alpha1.HostIdentity{Serial: "a"}, Inventory: &v1alpha1.HostInventory{BIOSVersion: "1"}}
	o := withInventory(v1alpha1.RedfishHostObservation{Identity: v1alpha1.HostIdentity{Serial: "a"}}, h, d, t0)
	if o.Inventory == nil || o.Inventory.BIOSVersion != "1" {
		t.Errorf("what was known of the rest: %+v", o.Inventory)
	}
	if !s.finish(j, found, nil) || s.known("a", systemOf("a")).half {
		t.Error("half of it, though all is read")
	}
}
