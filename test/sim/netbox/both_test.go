package netbox_test

import (
	"net/netip"
	"strconv"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/netbox"
)

// TestBothAreThere: two records of one address that NetBox really has, as where duplicates are allowed or people made them, are told from one that a copy
// of its database still shows: both resources are Ready once that would show, and nobody's record is touched.
func TestBothAreThere(t *testing.T) {
	const shared = "10.88.0.5/24"
	begin := func(t *testing.T) (*lab, int64) {
		t.Helper()
		l := newLab(t, "4.6.8")
		l.maxAge = 2 * time.Minute
		l.restart()
		vrf := l.netbox.AddVRF(netbox.VRF{Name: "loose"})
		l.netbox.AddPrefix(netbox.Prefix{Prefix: netip.MustParsePrefix("10.88.0.0/24"), VRF: vrf, Status: "active"})
		return l, vrf
	}
	ready2 := func(l *lab) bool { return ready(l.get("web-1")) && ready(l.get("web-2")) }
	until := func(t *testing.T, l *lab) {
		t.Helper()
		for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(200 * time.Millisecond) { // Ten seconds of it are a copy's.
			l.once("web-1")
			l.once("web-2")
			l.now = l.now.Add(time.Minute)
			if ready2(l) {
				break
			}
		}
		if all := l.netbox.Addresses(); !ready2(l) || len(all) != 2 {
			t.Errorf("%d records; web-1 %+v; web-2 %+v", len(all), l.get("web-1").Status, l.get("web-2").Status)
		}
	}
	t.Run("Allowed", func(t *testing.T) {
		l, _ := begin(t)
		ask := func(name string, d v1alpha1.Duplicates) {
			l.apply(name, func(mg *v1alpha1.NetBoxIPAddress) {
				l.ofThis(mg)
				mg.Spec.ForProvider.From, mg.Spec.ForProvider.Address, mg.Spec.ForProvider.Duplicates = nil, shared, d
			})
			l.settle(name, ready)
		}
		ask("web-1", v1alpha1.DuplicatesRefuse)
		ask("web-2", v1alpha1.DuplicatesAllow)
		mg := l.get("web-1") // A restore takes the status off.
		mg.Status = v1alpha1.NetBoxIPAddressStatus{}
		if err := l.kube.Status().Update(t.Context(), mg); err != nil {
			t.Fatal(err)
		}
		l.restart()
		until(t, l)
	})
	t.Run("Adopted", func(t *testing.T) {
		l, vrf := begin(t)
		l.netbox.AddMarkerField(field)
		for range 2 {
			l.netbox.AddAddress(netbox.Address{Address: netip.MustParsePrefix(shared), VRF: vrf, Status: "active"})
		}
		for i, a := range l.netbox.Addresses() {
			l.apply("web-"+strconv.Itoa(i+1), func(mg *v1alpha1.NetBoxIPAddress) {
				l.ofThis(mg)
				meta.SetExternalName(mg, strconv.FormatInt(a.ID, 10))
				mg.Spec.ForProvider.From[0].Prefix.CIDR = "10.88.0.0/24"
				mg.Spec.ForProvider.Adopt = v1alpha1.AdoptExternalName
			})
		}
		until(t, l)
	})
}
