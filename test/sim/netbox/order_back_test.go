package netbox_test

import (
	"net/netip"
	"strconv"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/netbox"
)

// TestSharedComesBack: who has an address that others share with it, by their own specs, has it again after it was taken from it for a while.
func TestSharedComesBack(t *testing.T) {
	for name, happens := range map[string]func(l *lab, id int64){
		"Unmarked": func(l *lab, id int64) {
			marker := l.record(id).CustomFields[field]
			l.mark(id, nil)
			l.passes(1, 11*time.Minute, "web-1", "web-2")
			l.mark(id, marker)
		},
		"Moved": func(l *lab, id int64) { l.moves(id, "10.77.0.5/29") },
	} {
		for _, whose := range []string{"web-1", "web-2"} {
			t.Run(name+"/"+whose, func(t *testing.T) {
				l := newLab(t, "4.6.8")
				l.apply("web-1", l.ofThis, func(mg *v1alpha1.NetBoxIPAddress) { mg.Spec.ForProvider.Role = new("vip") })
				l.settle("web-1", ready)
				l.apply("web-2", l.ofThis, func(mg *v1alpha1.NetBoxIPAddress) {
					p := &mg.Spec.ForProvider
					p.From, p.Address, p.Role, p.Duplicates = nil, "10.77.0.1/29", new("vip"), v1alpha1.DuplicatesSharedRole
				})
				l.settle("web-2", ready)
				happens(l, l.get(whose).Status.AtProvider.ID)
				l.passes(8, 11*time.Minute, "web-1", "web-2")
				if !l.readyWith("web-1", "10.77.0.1/29") || !l.readyWith("web-2", "10.77.0.1/29") {
					t.Errorf("web-1 says %q, web-2 %q", l.says("web-1"), l.says("web-2"))
				}
			})
		}
	}
}

// TestPairComesBack: one of two records that people made of an address, and that two resources adopted, stays its resource's where that is restored from a
// backup without its conditions.
func TestPairComesBack(t *testing.T) {
	l := newLab(t, "4.6.8")
	l.netbox.AddMarkerField(field)
	loose := l.netbox.AddVRF(netbox.VRF{Name: "loose"})
	l.netbox.AddPrefix(netbox.Prefix{Prefix: netip.MustParsePrefix("10.88.0.0/24"), VRF: loose, Status: "active"})
	for _, name := range []string{"web-1", "web-2"} {
		id := l.netbox.AddAddress(netbox.Address{Address: netip.MustParsePrefix("10.88.0.5/24"), VRF: loose, Status: "active"})
		l.apply(name, l.ofThis, func(mg *v1alpha1.NetBoxIPAddress) {
			mg.Spec.ForProvider.Adopt = v1alpha1.AdoptExternalName
			mg.Spec.ForProvider.From[0].Prefix.CIDR = "10.88.0.0/24"
			meta.SetExternalName(mg, strconv.FormatInt(id, 10))
		})
		l.passes(12, time.Minute, name)
	}
	l.restored(func(mg *v1alpha1.NetBoxIPAddress) { mg.Status.Conditions = nil })
	l.passes(8, 11*time.Minute, "web-1", "web-2")
	if !l.readyWith("web-1", "10.88.0.5/24") || !l.readyWith("web-2", "10.88.0.5/24") {
		t.Errorf("web-1 says %q, web-2 %q", l.says("web-1"), l.says("web-2"))
	}
}

// TestGivenOnce: an address that waits for its seat isn't given anew at each look, and neither the resource nor NetBox is asked for more for it.
func TestGivenOnce(t *testing.T) {
	l := newRackLab(t, "4.6.8")
	l.apply("other", func(mg *v1alpha1.NetBoxIPAddress) { on(device(v1alpha1.UsePrimary))(&mg.Spec.ForProvider) })
	l.passes(6, time.Second, "other")
	l.apply("web-1", func(mg *v1alpha1.NetBoxIPAddress) { on(device(v1alpha1.UseAdditional))(&mg.Spec.ForProvider) })
	l.passes(3, time.Second, "web-1")
	l.rewrite("web-1", func(mg *v1alpha1.NetBoxIPAddress) { mg.Spec.ForProvider.AssignTo.Use = v1alpha1.UsePrimary })
	mg := l.get("web-1")
	mg.Status.Conditions, mg.Status.AtProvider.Assigned = nil, nil
	if err := l.kube.Status().Update(t.Context(), mg); err != nil {
		t.Fatal(err)
	}
	l.passes(1, time.Minute, "web-1")
	if r := l.get("web-1").GetCondition(xpv2.TypeReady).Reason; r != v1alpha1.ReasonConflict {
		t.Fatalf("it's %s", r)
	}
	changes, requests := l.changes, len(l.netbox.Requests())
	l.passes(4, time.Minute, "web-1")
	if changes != l.changes || len(l.netbox.Requests()) != requests+4*2 {
		t.Errorf("%d changes, and %d requests of 4 looks", l.changes-changes, len(l.netbox.Requests())-requests)
	}
}

// TestGivenBehindItsBack: who was given an address as free while web-1's record was away has it, though nobody looked at web-1 meanwhile, or a backup took
// back what that showed.
func TestGivenBehindItsBack(t *testing.T) {
	back := func(l *lab, one int64) { l.moves(one, "10.88.0.1/29") }
	for name, happens := range map[string]func(l *lab, one int64, was *v1alpha1.NetBoxIPAddress, before netbox.Backup){
		"AtOnce":   func(l *lab, one int64, _ *v1alpha1.NetBoxIPAddress, _ netbox.Backup) { back(l, one) },
		"NetBoxIs": func(l *lab, _ int64, _ *v1alpha1.NetBoxIPAddress, before netbox.Backup) { l.netbox.Restore(before) },
		"StatusIs": func(l *lab, one int64, was *v1alpha1.NetBoxIPAddress, _ netbox.Backup) {
			l.passes(2, time.Minute, "web-1", "web-2")
			back(l, one)
			mg := l.get("web-1")
			mg.Status = was.Status
			if err := l.kube.Status().Update(l.t.Context(), mg); err != nil {
				l.t.Fatal(err)
			}
		},
		"ResourceIs": func(l *lab, one int64, was *v1alpha1.NetBoxIPAddress, _ netbox.Backup) {
			l.passes(2, time.Minute, "web-1", "web-2")
			back(l, one)
			l.restored(func(mg *v1alpha1.NetBoxIPAddress) { mg.Status = was.Status })
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, "4.6.8")
			l.netbox.AddMarkerField(field)
			loose := l.netbox.AddVRF(netbox.VRF{Name: "loose"})
			l.netbox.AddPrefix(netbox.Prefix{Prefix: netip.MustParsePrefix("10.88.0.0/29"), VRF: loose, Status: "active"})
			of := func(mg *v1alpha1.NetBoxIPAddress) {
				mg.Spec.ForProvider.From = []v1alpha1.AddressSource{{Prefix: &v1alpha1.PrefixSource{CIDR: "10.88.0.0/29"}}}
			}
			l.apply("web-1", l.ofThis, of)
			one := l.settle("web-1", ready).Status.AtProvider.ID
			was, before := l.get("web-1"), l.netbox.Backup()
			l.moves(one, "10.88.0.5/29")
			l.apply("web-2", l.ofThis, of)
			l.settle("web-2", ready)
			happens(l, one, was, before)
			l.passes(8, 11*time.Minute, "web-1", "web-2")
			if l.readyWith("web-1", "10.88.0.1/29") {
				t.Errorf("web-1 is Ready with the address of web-2's machine; that says %q", l.says("web-2"))
			}
		})
	}
}
