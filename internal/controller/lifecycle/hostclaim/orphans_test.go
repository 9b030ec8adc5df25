package hostclaim

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

func TestOrphans(t *testing.T) {
	claim := func(uid, entry string) v1alpha1.HostClaim {
		c := v1alpha1.HostClaim{ObjectMeta: metav1.ObjectMeta{UID: types.UID(uid)}}
		c.Spec.BootEntryRef = &v1alpha1.LocalReference{Name: entry}
		return c
	}
	address := func(name string, finalizers ...string) v1alpha1.NetBoxIPAddress {
		return v1alpha1.NetBoxIPAddress{ObjectMeta: metav1.ObjectMeta{Name: name, Finalizers: finalizers}}
	}
	ours := claim("claim", "gone")
	other := *entry()
	other.Name = "db"
	other.Spec.ForProvider.Networks[0].Addresses[0].Ref.Name = "db-boot-ipv4"
	held := address("web-1-boot-ipv4", v1alpha1.FinalizerHeldByClaim)
	cases := map[string]struct {
		reason    string
		claims    []v1alpha1.HostClaim
		addresses []v1alpha1.NetBoxIPAddress
		want      []string
	}{
		"Ours":      {"Held, and no entry names it.", []v1alpha1.HostClaim{ours, claim("c2", "db")}, []v1alpha1.NetBoxIPAddress{held}, []string{"web-1-boot-ipv4"}},
		"Others":    {"Another entry's stays.", []v1alpha1.HostClaim{ours}, []v1alpha1.NetBoxIPAddress{address("db-boot-ipv4", v1alpha1.FinalizerHeldByClaim)}, nil},
		"NotHeld":   {"One that isn't held isn't ours to touch.", []v1alpha1.HostClaim{ours}, []v1alpha1.NetBoxIPAddress{address("web-1-boot-ipv4")}, nil},
		"Ambiguous": {"It may be that of another claim without its entry, whose machine may run.", []v1alpha1.HostClaim{ours, claim("c2", "gone-too")}, []v1alpha1.NetBoxIPAddress{held}, nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, a := range orphans(&ours, tc.claims, []v1alpha1.BootEntry{other}, tc.addresses) {
				got = append(got, a.Name)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\norphans(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
