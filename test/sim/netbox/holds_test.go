package netbox_test

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/netbox"
)

// TestRoleOfLost: somebody deleted the record of an address that a machine may be using. A role that addresses share gives it to another one only where
// that one says so, and where who had it shares it, too.
func TestRoleOfLost(t *testing.T) {
	type params = v1alpha1.NetBoxIPAddressParameters
	none := func(*params) {}
	vip := func(p *params) { p.Role = new("vip") }
	fixed := func(d v1alpha1.Duplicates, adopt v1alpha1.AdoptPolicy) func(*params) {
		return func(p *params) {
			vip(p)
			p.From, p.Address, p.Duplicates, p.Adopt = nil, "10.77.0.1/29", d, adopt
		}
	}
	cases := map[string]struct {
		reason        string
		first, second func(*params)
		// there says that a person made a record of the address anew.
		there, shares bool
	}{
		"Allocated":     {"what NetBox chooses is nobody else's", none, vip, false, false},
		"AllocatedBoth": {"whatever role both have", vip, vip, false, false},
		"Refuse":        {"it doesn't ask for one that another has", none, fixed("", ""), false, false},
		"RefuseBoth":    {"nor where that shares it", vip, fixed("", ""), false, false},
		"SharedRole":    {"who had it shares it with nobody", none, fixed(v1alpha1.DuplicatesSharedRole, ""), false, false},
		"Shared":        {"both share it", vip, fixed(v1alpha1.DuplicatesSharedRole, ""), false, true},
		"Adopt":         {"nobody's record is none that may be taken", none, fixed("", v1alpha1.AdoptIfUnowned), true, false},
		"AdoptNone":     {"there's none to be adopted", none, fixed("", v1alpha1.AdoptIfUnowned), false, false},
		"Allow":         {"it asks for it whoever has it", none, fixed(v1alpha1.DuplicatesAllow, ""), false, true},
	}
	for name, tc := range cases {
		for _, known := range []bool{false, true} {
			t.Run(name+map[bool]string{true: "Known"}[known], func(t *testing.T) {
				l := newLab(t, "4.6.8")
				l.netbox.AddExampleWorld()
				l.apply("web-1", l.ofThis, func(mg *v1alpha1.NetBoxIPAddress) { tc.first(&mg.Spec.ForProvider) })
				had := l.settle("web-1", ready)
				l.netbox.RemoveAddress(had.Status.AtProvider.ID)
				if tc.there {
					l.netbox.AddAddress(netbox.Address{Address: netip.MustParsePrefix(had.Status.AtProvider.Address), Status: "active", Role: "vip"})
				}
				if known {
					l.restart()
					l.settle("web-1", because(v1alpha1.ReasonLost))
				}
				l.restart()
				l.apply("web-2", l.ofThis, func(mg *v1alpha1.NetBoxIPAddress) { tc.second(&mg.Spec.ForProvider) })
				for range 6 {
					l.once("web-2")
				}
				two := l.get("web-2")
				if got := strings.HasPrefix(two.Status.AtProvider.Address, "10.77.0.1/") && ready(two); got != tc.shares {
					t.Errorf("%s: it has it %t: %+v", tc.reason, got, two.Status)
				}
				if !tc.shares {
					l.notTwice("web-1", "web-2")
				}
			})
		}
	}
}

// restored has web-1 as a backup of the API server puts it back: with its status, and another UID, and changed where it isn't quite as it was.
func (l *lab) restored(change ...func(*v1alpha1.NetBoxIPAddress)) {
	l.t.Helper()
	mg := l.get("web-1")
	again := mg.DeepCopy()
	mg.Finalizers = nil
	if err := l.kube.Update(l.t.Context(), mg); err != nil {
		l.t.Fatal(err)
	}
	l.remove()
	again.UID, again.ResourceVersion = "uid-of-web-1", ""
	for _, c := range change {
		c(again)
	}
	l.create(again)
	l.restart()
}

// create has the API server hold a resource with its status, as a backup has it.
func (l *lab) create(mg *v1alpha1.NetBoxIPAddress) {
	l.t.Helper()
	status := mg.Status
	if err := l.kube.Create(l.t.Context(), mg); err != nil {
		l.t.Fatal(err)
	}
	mg.Status = status
	if err := l.kube.Status().Update(l.t.Context(), mg); err != nil {
		l.t.Fatal(err)
	}
}

// TestRestoredHolds: a resource that was restored from a backup has the address that its status shows, be its record marked anew or not: its machine is
// that of before.
func TestRestoredHolds(t *testing.T) {
	adopts := func(mg *v1alpha1.NetBoxIPAddress) {
		p := &mg.Spec.ForProvider
		p.From, p.Address, p.Adopt = nil, "10.77.0.1/29", v1alpha1.AdoptIfUnowned
	}
	cases := map[string]struct {
		reason string
		// goes is what becomes of its record.
		goes   func(l *lab, id int64)
		second func(*v1alpha1.NetBoxIPAddress)
		// looked says that it's looked at before the next one asks.
		looked bool
	}{
		"Deleted":       {"its record is lost", func(l *lab, id int64) { l.netbox.RemoveAddress(id) }, anyFree, false},
		"DeletedSeen":   {"its record is lost, which it knows", func(l *lab, id int64) { l.netbox.RemoveAddress(id) }, anyFree, true},
		"Unmarked":      {"its record isn't nobody's", func(l *lab, id int64) { l.mark(id, nil) }, adopts, false},
		"UnmarkedSeen":  {"its record isn't nobody's, which it knows", func(l *lab, id int64) { l.mark(id, nil) }, adopts, true},
		"DeletedAdopts": {"its record is lost, and another one isn't in its place", func(l *lab, id int64) { l.netbox.RemoveAddress(id) }, adopts, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, "4.6.8")
			l.apply("web-1", l.ofThis)
			had := l.settle("web-1", ready)
			tc.goes(l, had.Status.AtProvider.ID)
			l.restored()
			if tc.looked {
				l.once("web-1")
				l.once("web-1")
			}
			l.apply("web-2", l.ofThis, tc.second)
			for range 6 {
				l.once("web-2")
				l.once("web-1")
			}
			if one := l.get("web-1"); one.Status.AtProvider.Address != had.Status.AtProvider.Address || meta.GetExternalName(one) == "" {
				t.Errorf("%s: web-1 shows %+v", tc.reason, one.Status)
			}
			l.notTwice("web-1", "web-2")
		})
	}
}

// TestRestoredBoth: NetBox was restored, too, to before the record was made, and gives its number anew.
func TestRestoredBoth(t *testing.T) {
	l := newLab(t, "4.6.8")
	before := l.netbox.Backup()
	l.apply("web-1", l.ofThis)
	l.settle("web-1", ready)
	l.netbox.Restore(before)
	l.restored()
	l.apply("web-2", l.ofThis)
	for range 6 {
		l.once("web-2")
		l.once("web-1")
	}
	l.notTwice("web-1", "web-2")
	if two := l.get("web-2"); !ready(two) {
		t.Errorf("web-2 gets none: %+v", two.Status)
	}
}

// TestRestoredRefused: a record that NetBox refuses to have marked anew is its resource's as it was before.
func TestRestoredRefused(t *testing.T) {
	l := newLab(t, "4.6.8")
	l.apply("web-1", l.ofThis)
	had := l.settle("web-1", ready)
	remove := l.netbox.Inject(netbox.Fault{Kind: netbox.FaultReadOnlyToken})
	l.restored()
	l.once("web-1")
	l.once("web-1")
	remove()
	l.netbox.RemoveAddress(had.Status.AtProvider.ID)
	l.restart()
	l.apply("web-2", l.ofThis)
	for range 6 {
		l.once("web-2")
	}
	l.notTwice("web-1", "web-2")
}

// anyFree asks for whichever address is free.
func anyFree(*v1alpha1.NetBoxIPAddress) {}
