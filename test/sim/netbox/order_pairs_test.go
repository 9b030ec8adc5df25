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

// inLoose has a table that takes an address twice, and people's records of one address in it.
func (l *lab) inLoose(records int) (ids []int64) {
	loose := l.netbox.AddVRF(netbox.VRF{Name: "loose"})
	l.netbox.AddPrefix(netbox.Prefix{Prefix: netip.MustParsePrefix("10.88.0.0/24"), VRF: loose, Status: "active"})
	for range records {
		ids = append(ids, l.netbox.AddAddress(netbox.Address{Address: netip.MustParsePrefix("10.88.0.1/24"), VRF: loose, Status: "active"}))
	}
	return ids
}

// looseOf asks for an address of that table, and adopting for a record of it.
func looseOf(mg *v1alpha1.NetBoxIPAddress) {
	mg.Spec.ForProvider.From = []v1alpha1.AddressSource{{Prefix: &v1alpha1.PrefixSource{CIDR: "10.88.0.0/24"}}}
}

func adopting(id int64) func(*v1alpha1.NetBoxIPAddress) {
	return func(mg *v1alpha1.NetBoxIPAddress) {
		looseOf(mg)
		mg.Spec.ForProvider.Adopt = v1alpha1.AdoptExternalName
		meta.SetExternalName(mg, strconv.FormatInt(id, 10))
	}
}

// TestPairedComesBack: a record of a pair that people made is its resource's again once what was wrong with it is mended: its seat was taken, or it had
// another marker for a while. Nobody was given its address as free.
func TestPairedComesBack(t *testing.T) {
	for name, tc := range map[string]struct {
		wrong, mended func(l rackLab, id int64)
	}{
		"Seat": {func(rackLab, int64) {}, func(l rackLab, _ int64) {
			l.delete("other")
			l.settle("other", gone)
		}},
		"Marker": {func(l rackLab, id int64) {
			l.delete("other")
			l.settle("other", gone)
			l.passes(6, 11*time.Minute, "web-1")
			l.mark(id, "c1/team-x/theirs/uid-theirs")
		}, func(l rackLab, id int64) { l.mark(id, markerOf1) }},
	} {
		for beside, second := range map[string]func(l rackLab, id int64){
			"Resource": func(l rackLab, id int64) {
				l.apply("web-2", l.ofThis, adopting(id))
				l.passes(12, time.Minute, "web-2")
			},
			"Person": func(rackLab, int64) {},
		} {
			t.Run(name+"/"+beside, func(t *testing.T) {
				l := newRackLab(t, "4.6.8")
				l.apply("other", func(mg *v1alpha1.NetBoxIPAddress) { on(device(v1alpha1.UsePrimary))(&mg.Spec.ForProvider) })
				l.settle("other", ready)
				ids := l.inLoose(2)
				second(l, ids[1])
				l.apply("web-1", l.ofThis, adopting(ids[0]), func(mg *v1alpha1.NetBoxIPAddress) { on(device(v1alpha1.UsePrimary))(&mg.Spec.ForProvider) })
				l.passes(12, time.Minute, "web-1")
				tc.wrong(l, ids[0])
				l.passes(4, 11*time.Minute, "web-1")
				if ready(l.get("web-1")) {
					t.Fatal("nothing is wrong with it")
				}
				tc.mended(l, ids[0])
				l.passes(8, 11*time.Minute, "web-1")
				if !l.readyWith("web-1", "10.88.0.1/24") {
					t.Errorf("it says %q", l.says("web-1"))
				}
			})
		}
	}
}

// TestSharedSpecEdited: who has an address beside another one takes nothing from that, nor does what its owner makes of its spec later.
func TestSharedSpecEdited(t *testing.T) {
	fixed := func(d v1alpha1.Duplicates) func(*v1alpha1.NetBoxIPAddress) {
		return func(mg *v1alpha1.NetBoxIPAddress) {
			p := &mg.Spec.ForProvider
			p.From, p.Address, p.Duplicates, p.Role = nil, "10.88.0.1/24", d, new("vip")
		}
	}
	vip := func(mg *v1alpha1.NetBoxIPAddress) { mg.Spec.ForProvider.Role = new("vip") }
	strict := func(mg *v1alpha1.NetBoxIPAddress) { mg.Spec.ForProvider.Duplicates = "" }
	adopted := func(mg *v1alpha1.NetBoxIPAddress) { mg.Spec.ForProvider.Adopt = "" }
	kept := func(*v1alpha1.NetBoxIPAddress) {}
	for name, tc := range map[string]struct {
		records       int
		first, second func(ids []int64) func(*v1alpha1.NetBoxIPAddress)
		one, two      func(*v1alpha1.NetBoxIPAddress)
	}{
		"Allow": {0, func([]int64) func(*v1alpha1.NetBoxIPAddress) { return looseOf }, func([]int64) func(*v1alpha1.NetBoxIPAddress) {
			return fixed(v1alpha1.DuplicatesAllow)
		}, kept, strict},
		"SharedRole": {0, func([]int64) func(*v1alpha1.NetBoxIPAddress) {
			return func(mg *v1alpha1.NetBoxIPAddress) { looseOf(mg); vip(mg) }
		}, func([]int64) func(*v1alpha1.NetBoxIPAddress) { return fixed(v1alpha1.DuplicatesSharedRole) }, kept, strict},
		"Both": {0, func([]int64) func(*v1alpha1.NetBoxIPAddress) { return fixed(v1alpha1.DuplicatesAllow) }, func([]int64) func(*v1alpha1.NetBoxIPAddress) {
			return fixed(v1alpha1.DuplicatesAllow)
		}, strict, strict},
		"Adopted": {2, func(ids []int64) func(*v1alpha1.NetBoxIPAddress) { return adopting(ids[0]) }, func(ids []int64) func(*v1alpha1.NetBoxIPAddress) {
			return adopting(ids[1])
		}, adopted, adopted},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, "4.6.8")
			l.netbox.AddMarkerField(field)
			ids := l.inLoose(tc.records)
			l.apply("web-1", l.ofThis, tc.first(ids))
			l.passes(12, time.Minute, "web-1")
			l.apply("web-2", l.ofThis, tc.second(ids))
			l.passes(12, time.Minute, "web-2", "web-1")
			l.rewrite("web-2", tc.two)
			l.rewrite("web-1", tc.one)
			l.passes(4, 11*time.Minute, "web-1", "web-2")
			if !l.readyWith("web-1", "10.88.0.1/24") || !l.readyWith("web-2", "10.88.0.1/24") {
				t.Errorf("web-1 says %q, web-2 %q", l.says("web-1"), l.says("web-2"))
			}
		})
	}
}

// TestAnycastComesBack: a person's record of an anycast address beside a resource's takes nothing from that, whose marker was another one for a while.
func TestAnycastComesBack(t *testing.T) {
	l := newLab(t, "4.6.8")
	l.apply("web-1", l.ofThis, func(mg *v1alpha1.NetBoxIPAddress) { mg.Spec.ForProvider.Role = new("anycast") })
	id := l.settle("web-1", ready).Status.AtProvider.ID
	l.netbox.AddAddress(netbox.Address{Address: netip.MustParsePrefix("10.77.0.1/29"), Status: "active", Role: "anycast"})
	l.mark(id, "c1/team-x/theirs/uid-theirs")
	l.passes(2, 11*time.Minute, "web-1")
	l.mark(id, markerOf1)
	l.passes(4, 11*time.Minute, "web-1")
	if !l.readyWith("web-1", "10.77.0.1/29") {
		t.Errorf("it says %q", l.says("web-1"))
	}
}
