package netbox_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/netbox"
)

// TestSwap: two addresses that exchange their devices, both being their primary ones, settle: each leaves its own first, and waits until the other's
// is free.
func TestSwap(t *testing.T) {
	for _, v := range versions() {
		t.Run(v, func(t *testing.T) {
			l := newRackLab(t, v)
			names, devices := []string{"one", "two"}, []string{netbox.ExampleDevice, netbox.ExampleHost}
			on := func(device string) *v1alpha1.Assignment {
				return &v1alpha1.Assignment{Device: &v1alpha1.NetBoxDevice{Name: device, Site: netbox.ExampleSite}, Interface: &v1alpha1.NetBoxInterface{Name: "eno1"}, Use: v1alpha1.UsePrimary}
			}
			had := map[string]string{}
			for i, name := range names {
				l.apply(name, func(mg *v1alpha1.NetBoxIPAddress) { mg.Spec.ForProvider.AssignTo = on(devices[i]) })
				had[name] = l.settle(name, ready).Status.AtProvider.Address
			}
			for i, name := range names {
				mg := l.get(name)
				mg.Spec.ForProvider.AssignTo = on(devices[1-i])
				mg.Generation++
				if err := l.kube.Update(t.Context(), mg); err != nil {
					t.Fatal(err)
				}
			}
			for range 15 {
				for _, name := range names {
					l.now = l.now.Add(40 * time.Second)
					l.once(name)
				}
			}
			for i, name := range names {
				mg := l.settle(name, ready)
				at := mg.Status.AtProvider.Assigned
				if mg.Status.AtProvider.Address != had[name] || at == nil || at.Device == nil || at.Device.Name != devices[1-i] || at.Use != v1alpha1.UsePrimary {
					t.Errorf("%s has %q on %+v, want %q on %s", name, mg.Status.AtProvider.Address, at, had[name], devices[1-i])
				}
				l.still(mg)
			}
			for _, m := range l.netbox.Machines() {
				for i, name := range names {
					if m.Name != devices[1-i] {
						continue
					}
					if got := l.get(name); m.Primary4 == 0 || meta.GetExternalName(got) != fmt.Sprint(m.Primary4) {
						t.Errorf("%s has primary address %d, want that of %s", m.Name, m.Primary4, name)
					}
				}
			}
		})
	}
}

// TestKeptAgain: a record that its resource kept is taken back by the address, where that is said, and by nobody without.
func TestKeptAgain(t *testing.T) {
	for _, v := range versions() {
		t.Run(v, func(t *testing.T) {
			l := newLab(t, v)
			keep := func(mg *v1alpha1.NetBoxIPAddress) {
				mg.Spec.ForProvider.Release = &v1alpha1.ReleasePolicy{Policy: v1alpha1.ReleaseKeep}
			}
			l.apply("web-1", keep)
			l.settle("web-1", ready)
			l.delete("web-1")
			l.settle("web-1", gone)
			kept := l.netbox.Addresses()[0]
			back := func(adopt v1alpha1.AdoptPolicy) func(*v1alpha1.NetBoxIPAddress) {
				return func(mg *v1alpha1.NetBoxIPAddress) {
					p := &mg.Spec.ForProvider
					p.From, p.Address, p.Adopt = nil, kept.Address.String(), adopt
				}
			}
			l.apply("other", back(v1alpha1.AdoptNever))
			l.settle("other", because(v1alpha1.ReasonConflict))
			l.delete("other")
			l.settle("other", gone)
			l.apply("web-1", keep, back(v1alpha1.AdoptIfUnowned))
			mg := l.settle("web-1", ready)
			if is := l.only(); is.ID != kept.ID || is.Address != kept.Address {
				t.Errorf("record %+v, want %+v", is, kept)
			}
			l.still(mg)
		})
	}
}
