package netbox_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/netbox"
)

// TestAdoptBothOfAPair: where people made two records of an address, in a table that takes it, each may be adopted: what one resource has is there, and
// isn't lost to who adopts the other.
func TestAdoptBothOfAPair(t *testing.T) {
	for _, fixed := range []bool{false, true} {
		t.Run(map[bool]string{false: "From", true: "Address"}[fixed], func(t *testing.T) {
			l := newLab(t, "4.6.8")
			l.netbox.AddMarkerField(field)
			vrf := l.netbox.AddVRF(netbox.VRF{Name: "loose"})
			l.netbox.AddPrefix(netbox.Prefix{Prefix: cidr("10.88.0.0/24"), VRF: vrf, Status: "active"})
			for _, name := range []string{"web-1", "web-2"} {
				id := l.netbox.AddAddress(netbox.Address{Address: cidr("10.88.0.5/24"), VRF: vrf, Status: "active"})
				l.apply(name, func(mg *v1alpha1.NetBoxIPAddress) {
					mg.Spec.ForProvider.Adopt = v1alpha1.AdoptExternalName
					meta.SetExternalName(mg, strconv.FormatInt(id, 10))
					if fixed {
						mg.Spec.ForProvider.From, mg.Spec.ForProvider.Address = nil, "10.88.0.5/24"
					}
				})
			}
			l.settle("web-1", ready)
			for range 10 {
				l.now = l.now.Add(time.Minute)
				l.once("web-2")
			}
			if mg := l.get("web-2"); !ready(mg) {
				t.Errorf("it waits: %+v", mg.GetCondition(xpv2.TypeReady))
			}
			l.once("web-1")
			if !ready(l.get("web-1")) {
				t.Errorf("who had the other one hasn't any more: %+v", l.get("web-1").GetCondition(xpv2.TypeReady))
			}
		})
	}
}
