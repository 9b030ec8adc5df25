package netbox_test

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/netbox"
)

const (
	markerOf1, markerOf2 = clusterID + "/team-a/web-1/uid-web-1", clusterID + "/team-a/web-2/uid-web-2"
	// shownBy2 is said of what is web-2's.
	shownBy2 = `is that of NetBoxIPAddress "web-2", as its status says`
)

// TestMarkerOnAnothers: somebody wrote the marker of a resource, which has no record, onto the record of one that lives. What that shows as its own
// is neither taken, moved nor released.
func TestMarkerOnAnothers(t *testing.T) {
	had := func(l *lab) { l.settle("web-1", ready) }
	refused := func(l *lab) {
		remove := l.netbox.Inject(netbox.Fault{Kind: netbox.FaultReadOnlyToken})
		l.once("web-1")
		l.once("web-1")
		remove()
	}
	cases := map[string]struct {
		reason  string
		before  func(l *lab)
		release *v1alpha1.ReleasePolicy
		deleted bool
		// goes says that it isn't kept from going.
		goes bool
	}{
		"Lives":           {"it doesn't become its own", had, nil, false, false},
		"Deleted":         {"a machine uses it", had, nil, true, false},
		"Quarantine":      {"a machine uses it", had, &v1alpha1.ReleasePolicy{Policy: v1alpha1.ReleaseQuarantine}, true, false},
		"Kept":            {"nobody else's record is written to", had, &v1alpha1.ReleasePolicy{Policy: v1alpha1.ReleaseKeep}, true, true},
		"Refused":         {"its Create made nothing", refused, nil, false, false},
		"RefusedDeleted":  {"its Create made nothing, and a machine uses this", refused, nil, true, false},
		"RefusedSetAside": {"its Create made nothing, and a machine uses this", refused, &v1alpha1.ReleasePolicy{Policy: v1alpha1.ReleaseQuarantine}, true, false},
		"NeverAsked":      {"NetBox refuses a second record with its marker, and the first isn't its own", func(*lab) {}, nil, false, false},
		"NeverSeen":       {"it never had anything", func(*lab) {}, nil, true, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, "4.6.8")
			edit := func(mg *v1alpha1.NetBoxIPAddress) {
				mg.Spec.ForProvider.Release = tc.release
				l.ofThis(mg)
			}
			l.apply("web-1", edit)
			tc.before(l)
			l.apply("web-2", edit)
			l.settle("web-2", ready)
			second := l.netbox.WithMarker(field, markerOf2)[0]
			for _, first := range l.netbox.WithMarker(field, markerOf1) {
				l.netbox.RemoveAddress(first.ID)
			}
			l.mark(second.ID, markerOf1)
			if tc.deleted {
				l.remove()
			}
			said, stays := l.stays()
			if stays == tc.goes || stays && !strings.Contains(said, shownBy2) {
				t.Errorf("%s: stays %t, %q", tc.reason, stays, said)
			}
			if is := l.only(); is.ID != second.ID || is.Address != second.Address || is.Status != second.Status {
				t.Errorf("%s: it was %v, %s, and is %v, %s", tc.reason, second.Address, second.Status, is.Address, is.Status)
			}
			if n := l.only().CustomFields["crossplane_released"]; n != nil {
				t.Errorf("%s: it has note %q", tc.reason, n)
			}
			l.mark(second.ID, markerOf2)
			l.restart()
			l.settle("web-2", ready)
			if !tc.deleted {
				l.settle("web-1", func(mg *v1alpha1.NetBoxIPAddress) bool { return ready(mg) || mg.Status.AtProvider.ID != 0 })
			}
		})
	}
}

// TestMarkerOnObserved: what only observes is to manage a record from now on, onto which somebody wrote its marker, and which another one lives by.
// Whether it was looked at in between makes no difference.
func TestMarkerOnObserved(t *testing.T) {
	for _, named := range []bool{true, false} {
		for _, looks := range []int{0, 2} {
			t.Run(fmt.Sprintf("named=%t,looks=%d", named, looks), func(t *testing.T) {
				l := newLab(t, "4.6.8")
				l.apply("web-2", l.ofThis)
				l.settle("web-2", ready)
				second := l.netbox.Addresses()[0]
				l.apply("web-1", l.ofThis, func(mg *v1alpha1.NetBoxIPAddress) {
					mg.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionObserve}
					mg.Spec.ForProvider.Description = new("mine")
					if named {
						meta.SetExternalName(mg, strconv.FormatInt(second.ID, 10))
					}
				})
				l.once("web-1")
				l.mark(second.ID, markerOf1)
				for range looks {
					l.once("web-1")
				}
				mg := l.get("web-1")
				mg.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionAll}
				if err := l.kube.Update(t.Context(), mg); err != nil {
					t.Fatal(err)
				}
				l.restart()
				if said, _ := l.stays(); !strings.Contains(said, shownBy2) {
					t.Errorf("it manages what is another one's: %q", said)
				}
				l.remove()
				if said, stays := l.stays(); !stays || !strings.Contains(said, shownBy2) {
					t.Errorf("it releases what is another one's: stays %t, %q", stays, said)
				}
				if all := l.netbox.Addresses(); len(all) != 1 || all[0].Description != "" {
					t.Errorf("it wrote to what is another one's: %+v", all)
				}
			})
		}
	}
}

// TestLostPostAndMarker: a POST was lost, and made nothing; somebody writes its marker onto the record of one that lives. Whether that was made by the POST,
// of a number that NetBox gave anew, nobody can tell: nothing of it is written, and both say whose it is, until somebody puts the marker back that it had.
func TestLostPostAndMarker(t *testing.T) {
	type params = v1alpha1.NetBoxIPAddressParameters
	fixed := func(address string) func(*params) {
		return func(p *params) { p.From, p.Address = nil, address }
	}
	releases := func(policy string) func(*params) {
		return func(p *params) { p.Release = &v1alpha1.ReleasePolicy{Policy: policy} }
	}
	vip := func(p *params) { p.Role = new("vip") }
	eno1 := on(v1alpha1.Assignment{
		Device: &v1alpha1.NetBoxDevice{Name: netbox.ExampleDevice}, Interface: &v1alpha1.NetBoxInterface{Name: "eno1"}, Use: v1alpha1.UsePrimary,
	})
	none := func(*params) {}
	// late is said of a POST that had no answer, which is waited for as ever.
	const late, taken = "it may do so late", "is another record's in NetBox"
	cases := map[string]struct {
		reason  string
		asks    func(*params)
		second  func(*params)
		deleted bool
		// says is what it says meanwhile, and then what it says once the marker is put right; "": it's Ready.
		says, then string
	}{
		"Lives":        {"no other one is asked for", none, none, false, shownBy2, ""},
		"Fixed":        {"it isn't what was asked for", fixed("10.77.0.5/29"), none, false, shownBy2, ""},
		"FixedSame":    {"just this was asked for", fixed("10.77.0.1/29"), none, false, shownBy2, taken},
		"Shared":       {"addresses of its role may be had twice, and records not", none, vip, false, shownBy2, ""},
		"Primary":      {"it's taken from no machine", none, eno1, false, shownBy2, ""},
		"Delete":       {"a machine may be using it", releases(v1alpha1.ReleaseDelete), none, true, shownBy2, late},
		"Quarantine":   {"a machine may be using it", releases(v1alpha1.ReleaseQuarantine), none, true, shownBy2, late},
		"Keep":         {"no note of ours is left there", releases(v1alpha1.ReleaseKeep), none, true, late, late},
		"FixedDelete":  {"a machine may be using it", fixed("10.77.0.1/29"), none, true, shownBy2, late},
		"PrimaryKeep":  {"nor is it taken from its machine", releases(v1alpha1.ReleaseKeep), eno1, true, late, late},
		"SharedDelete": {"a machine may be using it", none, vip, true, shownBy2, late},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, "4.6.8")
			l.netbox.AddExampleWorld()
			l.apply("web-1", l.ofThis, func(mg *v1alpha1.NetBoxIPAddress) { tc.asks(&mg.Spec.ForProvider) })
			mend := l.netbox.Inject(netbox.Fault{Kind: netbox.FaultDisconnect, Method: "POST"})
			l.once("web-1")
			l.once("web-1")
			mend()
			l.apply("web-2", l.ofThis, func(mg *v1alpha1.NetBoxIPAddress) { tc.second(&mg.Spec.ForProvider) })
			l.settle("web-2", ready)
			second := l.netbox.WithMarker(field, markerOf2)[0]
			l.mark(second.ID, markerOf1)
			if tc.deleted {
				l.remove()
			}
			l.unwritten(tc.reason, second.ID, "web-1", "web-2")
			l.waits("web-1", tc.says)
			l.waits("web-2", "belongs to another resource")
			l.mark(second.ID, markerOf2)
			l.settle("web-2", ready)
			for range 6 {
				l.once("web-1")
			}
			if tc.then != "" {
				l.waits("web-1", tc.then)
				return
			}
			l.settle("web-1", ready)
			l.notTwice("web-1", "web-2")
		})
	}
}

// TestSetAsideFails: NetBox was restored, and gives a number anew with its address; what is asked for to set that aside fails, once. Both have their way
// in the end.
func TestSetAsideFails(t *testing.T) {
	for name, fault := range map[string]netbox.Fault{
		"Patch": {Kind: netbox.FaultBadGateway, Method: "PATCH"},
		"Look":  {Kind: netbox.FaultBadGateway, Method: "GET", Path: "/ip-addresses/1/"},
	} {
		for _, deleted := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s,deleted=%t", name, deleted), func(t *testing.T) {
				l := newLab(t, "4.6.8")
				before := l.netbox.Backup()
				l.apply("web-1", l.ofThis)
				l.settle("web-1", ready)
				l.netbox.Restore(before)
				l.restart()
				l.apply("web-2", l.ofThis)
				mend := l.netbox.Inject(fault)
				l.once("web-2")
				l.once("web-2")
				mend()
				if deleted {
					l.delete("web-2")
				}
				for range 6 {
					if l.get("web-2") != nil {
						l.once("web-2")
					}
					l.once("web-1")
				}
				if mg := l.get("web-2"); mg != nil && (deleted || !ready(mg)) {
					t.Errorf("web-2 is stuck: %+v", mg.Status.Conditions)
				}
			})
		}
	}
}

// TestNamedAnothers: somebody wrote another number, or none, into the name of a resource that is being deleted: its own record is released, and no other.
func TestNamedAnothers(t *testing.T) {
	for _, name := range []string{"77", "abc", "99999999999999999999"} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, "4.6.8")
			l.netbox.AddAddress(netbox.Address{ID: 77, Address: netip.MustParsePrefix("10.77.0.6/29"), Status: "active"})
			l.apply("web-1", l.ofThis)
			l.settle("web-1", ready)
			mg := l.get("web-1")
			meta.SetExternalName(mg, name)
			if err := l.kube.Update(t.Context(), mg); err != nil {
				t.Fatal(err)
			}
			l.once("web-1")
			l.remove()
			if said, stays := l.stays(); stays {
				t.Errorf("it stays: %q", said)
			}
			if is := l.netbox.Addresses(); len(is) != 1 || is[0].ID != 77 {
				t.Errorf("left: %+v", is)
			}
		})
	}
}
