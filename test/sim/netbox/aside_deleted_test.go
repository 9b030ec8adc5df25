package netbox_test

import (
	"strings"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// TestDeletedAside: a resource is deleted a moment after its record was set aside for another one, whose machine may be using the address, of which a copy of
// NetBox's database shows nothing yet. That record is neither deleted nor written over: a NetBox before 4.6 takes both without looking.
func TestDeletedAside(t *testing.T) {
	for _, policy := range []string{v1alpha1.ReleaseDelete, v1alpha1.ReleaseQuarantine} {
		for _, v := range versions() {
			t.Run(v+policy, func(t *testing.T) {
				l := newLab(t, v)
				l.netbox.AddCIDR("10.78.0.0/32")
				l.hidden = time.Minute
				l.restart()
				l.netbox.AddMarkerField(field)
				only := func(mg *v1alpha1.NetBoxIPAddress) {
					l.ofThis(mg)
					mg.Spec.ForProvider.From[0].Prefix.CIDR = "10.78.0.0/32"
					mg.Spec.ForProvider.Release = &v1alpha1.ReleasePolicy{Policy: policy}
				}
				l.apply("web-1", only)
				l.settle("web-1", ready)
				l.netbox.RemoveAddress(l.only().ID)
				l.restart()
				l.crash = "netbox-after-allocate"
				l.apply("web-2", only)
				if !l.once("web-2") {
					t.Fatal("it isn't killed")
				}
				l.crash = ""
				l.restart()
				l.netbox.Lag(time.Hour, 1)
				for range 3 {
					l.once("web-2")
				}
				l.delete("web-2")
				for range 3 {
					if l.get("web-2") != nil {
						l.once("web-2")
					}
				}
				all := l.netbox.Addresses()
				if len(all) != 1 {
					t.Fatalf("NetBox has %+v, and web-1 shows %s", all, l.get("web-1").Status.AtProvider.Address)
				}
				if note, _ := all[0].CustomFields["crossplane_released"].(string); !strings.Contains(note, "web-1") {
					t.Errorf("it's left to %q", note)
				}
			})
		}
	}
}
