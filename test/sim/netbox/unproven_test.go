package netbox_test

import (
	"net/netip"
	"strconv"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/netbox"
)

// TestNameProvesNothing: web-2, of another namespace, was given the address of web-1, whose record somebody deleted, and its tenant writes into its external
// name what he likes, or says that it takes something over. It isn't Ready with that address.
func TestNameProvesNothing(t *testing.T) {
	refused := func(l *lab) {
		l.netbox.Inject(netbox.Fault{Kind: netbox.FaultReadOnlyToken, Method: "PATCH"})
		for range 3 {
			l.once("web-2")
		}
	}
	lost := func(l *lab) {
		mend := l.netbox.Inject(netbox.Fault{Kind: netbox.FaultHangAfter, Method: "POST"})
		l.meets(netbox.FaultHangAfter, brief)
		l.once("web-2")
		l.once("web-2")
		mend()
	}
	adopts := func(how v1alpha1.AdoptPolicy) func(*v1alpha1.NetBoxIPAddress) {
		return func(mg *v1alpha1.NetBoxIPAddress) {
			mg.Spec.ForProvider.Adopt = how
			meta.SetExternalName(mg, "2")
		}
	}
	names := func(name string) func(*v1alpha1.NetBoxIPAddress) {
		return func(mg *v1alpha1.NetBoxIPAddress) { meta.SetExternalName(mg, name) }
	}
	for how, fail := range map[string]func(*lab){"Killed": func(l *lab) { l.killed("web-2") }, "NoRight": refused, "Lost": lost} {
		for name, write := range map[string]func(*v1alpha1.NetBoxIPAddress){
			"None": func(*v1alpha1.NetBoxIPAddress) {}, "Nobodys": names("999"), "Its": names("2"), "NoNumber": names("web-2"),
			"Adopts": adopts(v1alpha1.AdoptExternalName), "AdoptsUnowned": adopts(v1alpha1.AdoptIfUnowned),
		} {
			t.Run(how+name, func(t *testing.T) {
				l := newLab(t, "4.6.8")
				l.netbox.AddMarkerField(field)
				l.apply("web-1", l.ofThis)
				had := l.settle("web-1", ready).Status.AtProvider
				l.netbox.RemoveAddress(had.ID)
				l.restart()
				l.namespace = "team-b"
				l.apply("web-2", l.ofThis)
				fail(l)
				l.rewrite("web-2", write)
				for range 6 {
					l.once("web-2")
					l.namespace = "team-a"
					l.once("web-1")
					l.namespace = "team-b"
				}
				if two := l.get("web-2").Status.AtProvider; two.Address == had.Address {
					t.Errorf("it has %s: %+v", two.Address, l.get("web-2").Status.Conditions)
				}
			})
		}
	}
}

// TestOnceObserved: web-2 observed a record once, and is to have one of its own now. Nothing of what it observed says that what is found is its own.
func TestOnceObserved(t *testing.T) {
	for _, restored := range []bool{false, true} {
		t.Run("restored="+strconv.FormatBool(restored), func(t *testing.T) {
			l := newLab(t, "4.6.8")
			l.netbox.AddMarkerField(field)
			stranger := l.netbox.AddAddress(netbox.Address{Address: netip.MustParsePrefix("10.99.0.6/29"), Status: "active"})
			before := l.netbox.Backup()
			l.apply("web-1", l.ofThis)
			had := l.settle("web-1", ready).Status.AtProvider
			l.apply("web-2", l.ofThis, func(mg *v1alpha1.NetBoxIPAddress) {
				mg.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionObserve}
				meta.SetExternalName(mg, strconv.FormatInt(stranger, 10))
			})
			l.settle("web-2", func(mg *v1alpha1.NetBoxIPAddress) bool { return mg.Status.AtProvider.ID == stranger })
			l.rewrite("web-2", func(mg *v1alpha1.NetBoxIPAddress) {
				mg.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionAll}
				meta.SetExternalName(mg, "")
			})
			if restored {
				l.netbox.Restore(before)
			} else {
				l.netbox.RemoveAddress(had.ID)
			}
			l.restart()
			l.killed("web-2")
			if restored {
				l.unwritten("it was never told of it", had.ID, "web-2", "web-1")
				l.waits("web-2", `is that of NetBoxIPAddress "web-1", as its status says`)
				l.mark(had.ID, markerOf1)
				l.settle("web-1", ready)
			}
			if mg := l.settle("web-2", ready); mg.Status.AtProvider.Address == had.Address {
				t.Errorf("it has %s", had.Address)
			}
		})
	}
}

// TestHeldByClaim: web-1 is being deleted, and held by its claim: its machine is on yet. Nobody else is given its address.
func TestHeldByClaim(t *testing.T) {
	cases := map[string]struct {
		reason string
		lose   func(l *lab, id int64, before netbox.Backup)
		// asked says that web-2 was before.
		asked bool
	}{
		"RecordDeleted":  {"somebody deleted its record", func(l *lab, id int64, _ netbox.Backup) { l.netbox.RemoveAddress(id) }, false},
		"NetBoxRestored": {"NetBox gives its number anew", func(l *lab, _ int64, before netbox.Backup) { l.netbox.Restore(before); l.restart() }, false},
		"MarkedOver":     {"somebody wrote another marker there", func(l *lab, id int64, _ netbox.Backup) { l.mark(id, markerOf2) }, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, "4.6.8")
			before := l.netbox.Backup()
			l.apply("web-1", l.ofThis, func(mg *v1alpha1.NetBoxIPAddress) { meta.AddFinalizer(mg, v1alpha1.FinalizerHeldByClaim) })
			had := l.settle("web-1", ready).Status.AtProvider
			l.apply("web-2", l.ofThis)
			if tc.asked {
				mend := l.netbox.Inject(netbox.Fault{Kind: netbox.FaultDisconnect, Method: "POST"})
				l.once("web-2")
				l.once("web-2")
				mend()
			}
			l.delete("web-1")
			l.once("web-1")
			tc.lose(l, had.ID, before)
			for range 6 {
				l.once("web-2")
				l.once("web-1")
			}
			if two := l.get("web-2"); two.Status.AtProvider.Address == had.Address {
				t.Errorf("%s: web-2 has %s", tc.reason, had.Address)
			}
			l.rewrite("web-1", func(mg *v1alpha1.NetBoxIPAddress) { meta.RemoveFinalizer(mg, v1alpha1.FinalizerHeldByClaim) })
			l.settle("web-1", gone)
			l.settle("web-2", ready)
		})
	}
}

// TestMarkedWhileAsked: a provider is killed while NetBox works at a POST of web-1's, and somebody writes web-1's marker onto web-2's record. That is no answer
// to the POST: web-1 waits for what may come, and that is released.
func TestMarkedWhileAsked(t *testing.T) {
	for _, lives := range []bool{false, true} {
		t.Run("lives="+strconv.FormatBool(lives), func(t *testing.T) {
			l := newLab(t, "4.6.8")
			l.netbox.AddMarkerField(field)
			l.apply("web-2", l.ofThis)
			second := l.settle("web-2", ready).Status.AtProvider
			l.apply("web-1", l.ofThis)
			before := l.netbox.Backup()
			l.killed("web-1")
			l.netbox.Restore(before) // The POST is in NetBox's queue yet.
			l.mark(second.ID, markerOf1)
			if lives {
				l.unwritten("it's another one's", second.ID, "web-1")
			}
			l.remove()
			if said, stays := l.stays(); !stays || !strings.Contains(said, shownBy2) {
				t.Fatalf("stays %t: %s", stays, said)
			}
			l.mark(second.ID, markerOf2)
			if said, stays := l.stays(); !stays || !strings.Contains(said, "it may do so late") {
				t.Fatalf("stays %t: %s", stays, said)
			}
			l.netbox.AddAddress(netbox.Address{Address: netip.MustParsePrefix("10.77.0.2/29"), Status: "active", CustomFields: map[string]any{field: markerOf1}})
			l.settle("web-1", gone)
			if is := l.netbox.WithMarker(field, markerOf1); len(is) > 0 {
				t.Errorf("left: %+v", is)
			}
			l.settle("web-2", ready)
		})
	}
}
