package netbox_test

import (
	"net/netip"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/netbox"
)

// TestGivenSince: web-1's record is moved, web-2 is given its address, and web-1's is deleted. Then somebody moves web-2's record: that's put back, whoever is
// looked at first, as web-2's machine has it.
func TestGivenSince(t *testing.T) {
	for _, asks := range []func(*v1alpha1.NetBoxIPAddress){anyFree, regains} {
		for _, turns := range [][]string{{"web-1", "web-2"}, {"web-2", "web-1"}} {
			l := newLab(t, "4.6.8")
			l.apply("web-1", l.ofThis, asks)
			l.settle("web-1", ready)
			l.moves(1, "10.77.0.5/29")
			l.apply("web-2", l.ofThis)
			l.settle("web-2", ready)
			l.passes(2, time.Minute, turns...)
			l.netbox.RemoveAddress(1)
			l.passes(2, time.Minute, turns...)
			l.moves(2, "10.77.0.6/29")
			l.passes(4, 3*time.Minute, turns...)
			if !ready(l.get("web-2")) || ready(l.get("web-1")) {
				t.Errorf("%v: web-1 says %q", turns, l.says("web-1"))
			}
		}
	}
}

// TestBothAway: web-1's record is moved, and web-2 is given its address; then web-2's record isn't there any more, either, by a move or a deletion, and maybe
// web-1's is deleted, too. Whoever had the address last has it: web-1 isn't put back, nor is its record made again, under web-2's machine.
func TestBothAway(t *testing.T) {
	cases := map[string]struct {
		reason string
		away   func(l *lab)
		// back says that web-2 has its address again by itself.
		back bool
	}{
		"BothMoved":   {"web-2's is put back", func(l *lab) { l.moves(2, "10.77.0.6/29") }, true},
		"BothDeleted": {"nobody's is", func(l *lab) { l.netbox.RemoveAddress(2); l.netbox.RemoveAddress(1) }, false},
		"Deleted":     {"nobody's is", func(l *lab) { l.netbox.RemoveAddress(1); l.netbox.RemoveAddress(2) }, false},
	}
	for name, tc := range cases {
		for _, turns := range [][]string{{"web-1", "web-2"}, {"web-2", "web-1"}} {
			t.Run(name+"/"+turns[0], func(t *testing.T) {
				l := newLab(t, "4.6.8")
				l.apply("web-1", l.ofThis, regains)
				l.settle("web-1", ready)
				l.moves(1, "10.77.0.5/29")
				l.apply("web-2", l.ofThis)
				l.settle("web-2", ready)
				l.once("web-1")
				tc.away(l)
				l.passes(6, 11*time.Minute, turns...)
				if ready(l.get("web-1")) || ready(l.get("web-2")) != tc.back {
					t.Errorf("%s: web-1 says %q", tc.reason, l.says("web-1"))
				}
				if !tc.back {
					l.waits("web-1", `that of NetBoxIPAddress "web-2"`)
				}
				l.delete("web-2")
				l.passes(8, 11*time.Minute, turns...)
				if one := l.get("web-1"); !ready(one) || one.Status.AtProvider.Address != "10.77.0.1/29" {
					t.Errorf("web-2 is given up, and web-1 says %q", l.says("web-1"))
				}
			})
		}
	}
}

// TestMadeAgainBesideLost: web-1 has lost its record, which is how it stays, and web-2, that was given its address since, has its own made again: by itself, or
// as it was restored from a backup of before that.
func TestMadeAgainBesideLost(t *testing.T) {
	for _, asks := range []func(*v1alpha1.NetBoxIPAddress){anyFree, regains} {
		for _, turns := range [][]string{{"web-1", "web-2"}, {"web-2", "web-1"}} {
			l := newLab(t, "4.6.8")
			l.apply("web-1", l.ofThis, asks)
			l.settle("web-1", ready)
			l.moves(1, "10.77.0.5/29")
			l.apply("web-2", l.ofThis, regains)
			l.settle("web-2", ready)
			l.passes(2, time.Minute, turns...)
			l.netbox.RemoveAddress(1)
			l.passes(2, time.Minute, turns...)
			l.netbox.RemoveAddress(2)
			l.passes(8, 11*time.Minute, turns...)
			if two := l.get("web-2"); !ready(two) || two.Status.AtProvider.ID != 3 || ready(l.get("web-1")) {
				t.Errorf("%v: web-2 is %+v, and web-1 says %q", turns, two.Status, l.says("web-1"))
			}
		}
	}
}

// TestMovedBesideShared: a record that was moved is put back beside one that shares its address by its record's role, whatever the spec of that names.
func TestMovedBesideShared(t *testing.T) {
	l := newLab(t, "4.6.8")
	l.netbox.AddExampleWorld()
	vip := func(mg *v1alpha1.NetBoxIPAddress) {
		p := &mg.Spec.ForProvider
		p.From, p.Address, p.Duplicates, p.Role = nil, "10.77.0.1/29", v1alpha1.DuplicatesSharedRole, new("vip")
	}
	l.apply("web-1", l.ofThis, vip)
	l.settle("web-1", ready)
	l.apply("web-2", l.ofThis, vip)
	l.settle("web-2", ready)
	l.rewrite("web-2", func(mg *v1alpha1.NetBoxIPAddress) { mg.Spec.ForProvider.Role = nil })
	l.passes(3, time.Minute, "web-2", "web-1")
	l.moves(1, "10.77.0.5/29")
	l.passes(6, 11*time.Minute, "web-1", "web-2")
	if !ready(l.get("web-1")) || !ready(l.get("web-2")) {
		t.Errorf("web-1 says %q", l.says("web-1"))
	}
}

// TestBackupOfReleased: a backup puts back a resource that was released since, and whose address another one was given; then somebody deletes that one's
// record. Its machine uses the address, and nobody's is made again under it.
func TestBackupOfReleased(t *testing.T) {
	l := newLab(t, "4.6.8")
	l.apply("web-1", l.ofThis, regains)
	was := l.settle("web-1", ready).DeepCopy()
	l.remove()
	l.settle("web-1", gone)
	l.apply("web-2", l.ofThis)
	l.settle("web-2", ready)
	was.UID, was.ResourceVersion = "uid-of-web-1", ""
	l.create(was)
	l.passes(2, 11*time.Minute, "web-1", "web-2")
	l.netbox.RemoveAddress(l.get("web-2").Status.AtProvider.ID)
	l.passes(6, 11*time.Minute, "web-1", "web-2")
	if ready(l.get("web-1")) || len(l.netbox.Addresses()) != 0 {
		t.Errorf("web-1 says %q, and there is %+v", l.says("web-1"), l.netbox.Addresses())
	}
}

// TestRestoredWithoutField: NetBox has lost its marker field, and a resource is restored: it's as one that wasn't.
func TestRestoredWithoutField(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		asks   func(*v1alpha1.NetBoxIPAddress)
		gone   bool
		goes   bool
		holds  func(l *lab) bool
	}{
		"Restore": {"the field is made, and the record", regains, true, false, func(l *lab) bool {
			return ready(l.get("web-1")) && len(l.netbox.WithMarker(field, clusterID+"/team-a/web-1/uid-of-web-1")) == 1
		}},
		"Gone": {"there's nothing to be released", anyFree, true, true, func(l *lab) bool { return l.get("web-1") == nil }},
		"Keep": {"nothing is to be released", func(mg *v1alpha1.NetBoxIPAddress) {
			mg.Spec.ForProvider.Release = &v1alpha1.ReleasePolicy{Policy: v1alpha1.ReleaseKeep}
		}, false, true, func(l *lab) bool { return l.get("web-1") == nil }},
		"There": {"whose the record is can't be told", anyFree, false, false, func(l *lab) bool { return !ready(l.get("web-1")) }},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, "4.6.8")
			l.apply("web-1", l.ofThis, tc.asks)
			l.settle("web-1", ready)
			l.netbox.AddAddress(netbox.Address{Address: netip.MustParsePrefix("10.77.0.5/29"), Status: "active"})
			l.netbox.RemoveCustomField(field)
			if tc.gone {
				l.netbox.RemoveAddress(1)
			}
			l.restored()
			l.now = l.now.Add(time.Hour)
			if tc.goes {
				l.remove()
			}
			l.passes(6, 11*time.Minute, "web-1")
			if !tc.holds(l) {
				t.Errorf("%s: %+v", tc.reason, l.get("web-1"))
			}
		})
	}
}
