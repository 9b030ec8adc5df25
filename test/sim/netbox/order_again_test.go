package netbox_test

import (
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// TestPairMoved: a record of a pair that two resources adopted is moved, and put back by its resource or by hand, before or after it was seen.
func TestPairMoved(t *testing.T) {
	cases := map[string]struct {
		reason     string
		seen, hand bool
	}{
		"Seen":       {"it's put back as soon as it's seen", true, false},
		"SeenByHand": {"a person does, as the message says", true, true},
		"ByHand":     {"before anybody looked", false, true},
	}
	for name, tc := range cases {
		l := newLab(t, "4.6.8")
		l.netbox.AddMarkerField(field)
		ids := l.inLoose(2)
		for i, of := range []string{"web-1", "web-2"} {
			l.apply(of, l.ofThis, adopting(ids[i]))
			l.passes(6, time.Minute, of)
		}
		l.moves(ids[0], "10.88.0.5/24")
		if tc.seen {
			l.passes(2, 11*time.Minute, "web-1")
		}
		if tc.hand {
			l.moves(ids[0], firstLoose)
		}
		l.passes(8, 11*time.Minute, "web-1", "web-2")
		if !l.readyWith("web-1", firstLoose) || !l.readyWith("web-2", firstLoose) {
			t.Errorf("%s: %s: web-1 says %q, web-2 %q", name, tc.reason, l.says("web-1"), l.says("web-2"))
		}
	}
}

// TestPairLost: both records of such a pair are deleted by hand, and both are wanted back: one of them has the address then.
func TestPairLost(t *testing.T) {
	l := newLab(t, "4.6.8")
	l.netbox.AddMarkerField(field)
	ids := l.inLoose(2)
	for i, name := range []string{"web-1", "web-2"} {
		l.apply(name, l.ofThis, adopting(ids[i]), regains)
		l.passes(6, time.Minute, name)
	}
	for _, id := range ids {
		l.netbox.RemoveAddress(id)
	}
	l.passes(8, 11*time.Minute, "web-1", "web-2")
	if !l.readyWith("web-1", firstLoose) && !l.readyWith("web-2", firstLoose) {
		t.Errorf("nobody has it: web-1 says %q, web-2 %q", l.says("web-1"), l.says("web-2"))
	}
}

// TestSharedMadeAgain: as TestSharedComesBack, where the record of one of the two is deleted and is to be made again.
func TestSharedMadeAgain(t *testing.T) {
	const address = "10.77.0.1/29"
	for _, whose := range []string{"web-1", "web-2"} {
		l := newLab(t, "4.6.8")
		l.apply("web-1", l.ofThis, regains, func(mg *v1alpha1.NetBoxIPAddress) { mg.Spec.ForProvider.Role = new("vip") })
		l.settle("web-1", ready)
		l.apply("web-2", l.ofThis, regains, func(mg *v1alpha1.NetBoxIPAddress) {
			p := &mg.Spec.ForProvider
			p.From, p.Address, p.Role, p.Duplicates = nil, address, new("vip"), v1alpha1.DuplicatesSharedRole
		})
		l.settle("web-2", ready)
		l.netbox.RemoveAddress(l.get(whose).Status.AtProvider.ID)
		l.passes(8, 11*time.Minute, "web-1", "web-2")
		if !l.readyWith("web-1", address) || !l.readyWith("web-2", address) {
			t.Errorf("of %s: web-1 says %q, web-2 %q", whose, l.says("web-1"), l.says("web-2"))
		}
	}
}
