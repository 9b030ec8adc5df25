package netbox_test

import (
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// TestSeatsByMAC: nothing is taken in vain where an interface is named by its MAC address alone, whose device or virtual machine is known by it.
func TestSeatsByMAC(t *testing.T) {
	mac := func(address string, use v1alpha1.AddressUse) v1alpha1.Assignment {
		return v1alpha1.Assignment{Interface: &v1alpha1.NetBoxInterface{MAC: address}, Use: use}
	}
	from := func(cidrs ...string) (out v1alpha1.NetBoxIPAddressParameters) {
		for _, c := range cidrs {
			out.From = append(out.From, v1alpha1.AddressSource{Prefix: &v1alpha1.PrefixSource{CIDR: c}})
		}
		return out
	}
	const of, virtual = "52:54:00:77:12:01", "52:54:00:77:a0:01"
	for _, v := range versions() {
		for name, tc := range map[string]struct {
			reason string
			want   v1alpha1.NetBoxIPAddressParameters
			to     v1alpha1.Assignment
			// address is what it gets, and ready what Ready's reason is.
			address string
			ready   xpv2.ConditionReason
		}{
			"Next":    {"the seat of one family is taken, that of the other isn't", from("10.77.1.0/24", "2001:db8:77::/64"), mac(of, v1alpha1.UsePrimary), "2001:db8:77::1/64", xpv2.ReasonAvailable},
			"Taken":   {"there's no other source", from("10.77.1.0/24"), mac(of, v1alpha1.UsePrimary), "", v1alpha1.ReasonConflict},
			"Fixed":   {"a fixed address can't have the seat either", v1alpha1.NetBoxIPAddressParameters{Address: "10.77.1.50/24"}, mac(of, v1alpha1.UsePrimary), "", v1alpha1.ReasonConflict},
			"Virtual": {"a virtual machine has no BMC", from("10.77.1.0/24"), mac(virtual, v1alpha1.UseOutOfBand), "", v1alpha1.ReasonInvalid},
			"Other":   {"whose seats are its own", from("10.77.1.0/24"), mac(virtual, v1alpha1.UsePrimary), "10.77.1.1/24", xpv2.ReasonAvailable},
		} {
			t.Run(v+"/"+name, func(t *testing.T) {
				l := newRackLab(t, v)
				l.apply("first", func(mg *v1alpha1.NetBoxIPAddress) { on(device(v1alpha1.UsePrimary))(&mg.Spec.ForProvider) })
				l.settle("first", ready)
				l.apply("second", func(mg *v1alpha1.NetBoxIPAddress) {
					mg.Spec.ForProvider.From, mg.Spec.ForProvider.Address, mg.Spec.ForProvider.AssignTo = tc.want.From, tc.want.Address, &tc.to
				})
				for range 6 {
					l.once("second")
				}
				mg := l.get("second")
				if c := mg.GetCondition(xpv2.TypeReady); c.Reason != tc.ready || mg.Status.AtProvider.Address != tc.address {
					t.Errorf("%s: it has %q, and Ready is %s: %s; want %q, and %s", tc.reason, mg.Status.AtProvider.Address, c.Reason, c.Message, tc.address, tc.ready)
				}
				var made []string
				for _, a := range l.netbox.WithMarker(field, clusterID+"/team-a/second/uid-second") {
					made = append(made, a.Address.String())
				}
				var want []string
				if tc.address != "" {
					want = []string{tc.address}
				}
				if diff := cmp.Diff(want, made); diff != "" {
					t.Errorf("%s: NetBox has (-want +got):\n%s", tc.reason, diff)
				}
			})
		}
	}
}
