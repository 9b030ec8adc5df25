package netbox_test

import (
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// firstLoose is the first address of inLoose's table.
const firstLoose = "10.88.0.1/24"

// uses says that a resource's Ready is True, with that address, whatever Synced says: a machine may be using it.
func (l *lab) uses(name string) bool {
	mg := l.get(name)
	return mg != nil && mg.GetCondition(xpv2.TypeReady).Status == corev1.ConditionTrue && mg.Status.AtProvider.Address == firstLoose
}

// withoutStatus is a backup that has none, as Velero's.
func withoutStatus(mg *v1alpha1.NetBoxIPAddress) { mg.Status = v1alpha1.NetBoxIPAddressStatus{} }

// holdsAlone looks at both for more than an hour: web-2 has the address, and at no moment web-1 as well; once web-2 is given up, web-1 has it.
func (l *lab) holdsAlone(reason string, turns ...string) {
	l.t.Helper()
	for range 8 {
		for _, name := range turns {
			l.once(name)
			if l.uses("web-1") {
				l.t.Fatalf("%s: web-1 has the address of web-2's machine", reason)
			}
		}
		l.now = l.now.Add(11 * time.Minute)
	}
	if !l.readyWith("web-2", firstLoose) {
		l.t.Fatalf("%s: web-2 says %q", reason, l.says("web-2"))
	}
	l.delete("web-2")
	l.passes(8, 11*time.Minute, "web-2", "web-1")
	if !l.readyWith("web-1", firstLoose) {
		l.t.Errorf("%s: web-2 is given up, and web-1 says %q", reason, l.says("web-1"))
	}
}

// TestRestoredBehindItsBack: web-1's record was moved away and back by hand, web-2 was given its address meanwhile, and web-1 is restored from a backup of before.
func TestRestoredBehindItsBack(t *testing.T) {
	cases := map[string]struct {
		reason string
		adopts bool
		backup func(before v1alpha1.NetBoxIPAddressStatus) func(*v1alpha1.NetBoxIPAddress)
	}{
		"Status": {"with its status of before", false, func(s v1alpha1.NetBoxIPAddressStatus) func(*v1alpha1.NetBoxIPAddress) {
			return func(mg *v1alpha1.NetBoxIPAddress) { mg.Status = s }
		}},
		"NoStatus": {"without one", false, func(v1alpha1.NetBoxIPAddressStatus) func(*v1alpha1.NetBoxIPAddress) { return withoutStatus }},
		"NoGiven": {"with one of before such a time was shown", false, func(s v1alpha1.NetBoxIPAddressStatus) func(*v1alpha1.NetBoxIPAddress) {
			return func(mg *v1alpha1.NetBoxIPAddress) { mg.Status, mg.Status.AtProvider.Given = s, nil }
		}},
		"AdoptedStatus": {"which names its record, with its status", true, func(s v1alpha1.NetBoxIPAddressStatus) func(*v1alpha1.NetBoxIPAddress) {
			return func(mg *v1alpha1.NetBoxIPAddress) { mg.Status = s }
		}},
		"AdoptedNoStatus": {"which names its record, without one", true, func(v1alpha1.NetBoxIPAddressStatus) func(*v1alpha1.NetBoxIPAddress) { return withoutStatus }},
	}
	for name, tc := range cases {
		for _, turns := range [][]string{{"web-1", "web-2"}, {"web-2", "web-1"}} {
			t.Run(name+"/"+turns[0], func(t *testing.T) {
				l := newLab(t, "4.6.8")
				l.netbox.AddMarkerField(field)
				of := looseOf
				if tc.adopts {
					of = adopting(l.inLoose(1)[0])
				} else {
					l.inLoose(0)
				}
				l.apply("web-1", l.ofThis, of)
				l.passes(8, time.Minute, "web-1")
				before := l.get("web-1").Status
				one := before.AtProvider.ID
				l.moves(one, "10.88.0.5/24")
				l.apply("web-2", l.ofThis, looseOf)
				l.passes(4, time.Minute, "web-2", "web-1")
				l.rewrite("web-2", func(mg *v1alpha1.NetBoxIPAddress) { meta.SetExternalCreateSucceeded(mg, time.Now().Add(time.Minute)) }) // It has whole seconds.
				l.moves(one, firstLoose)
				l.passes(2, 11*time.Minute, "web-1", "web-2")
				l.restored(tc.backup(before))
				l.passes(2, time.Minute, "web-1") // Till then it says what the backup does.
				l.holdsAlone(tc.reason, turns...)
			})
		}
	}
}

// TestRestoredForItsAddress: the same of a resource that asks for just that address, whose record is put back once it was restored.
func TestRestoredForItsAddress(t *testing.T) {
	for name, looks := range map[string]int{"AtOnce": 0, "Looked": 2} {
		l := newLab(t, "4.6.8")
		l.netbox.AddMarkerField(field)
		l.inLoose(0)
		l.apply("web-1", l.ofThis, func(mg *v1alpha1.NetBoxIPAddress) {
			mg.Spec.ForProvider.From, mg.Spec.ForProvider.Address = nil, firstLoose
		})
		l.passes(6, time.Minute, "web-1")
		one := l.get("web-1").Status.AtProvider.ID
		l.moves(one, "10.88.0.5/24")
		l.apply("web-2", l.ofThis, looseOf)
		l.passes(4, time.Minute, "web-2", "web-1")
		l.restored(withoutStatus)
		l.passes(looks, 11*time.Minute, "web-1")
		l.moves(one, firstLoose)
		l.passes(2, time.Minute, "web-1")
		l.holdsAlone(name, "web-2", "web-1")
	}
}

// TestRestoredRenumbered: web-1 had its record made again and moved away, web-2 was given the address, and web-1 comes back as of before both: it isn't the later one.
func TestRestoredRenumbered(t *testing.T) {
	l := newLab(t, "4.6.8")
	l.netbox.AddMarkerField(field)
	l.inLoose(0)
	l.apply("web-1", l.ofThis, looseOf, regains)
	l.passes(6, time.Minute, "web-1")
	was := l.get("web-1")
	l.netbox.RemoveAddress(was.Status.AtProvider.ID)
	l.passes(6, 11*time.Minute, "web-1")
	one := l.get("web-1").Status.AtProvider.ID
	if one == was.Status.AtProvider.ID || !l.readyWith("web-1", firstLoose) {
		t.Fatal(l.says("web-1"))
	}
	l.moves(one, "10.88.0.5/24")
	l.apply("web-2", l.ofThis, looseOf)
	l.passes(4, time.Minute, "web-2", "web-1")
	l.restored(func(mg *v1alpha1.NetBoxIPAddress) { mg.Status, mg.Annotations = was.Status, was.Annotations })
	l.passes(8, 11*time.Minute, "web-1", "web-2")
	if !l.readyWith("web-2", firstLoose) {
		t.Errorf("web-2, whose record is there, says %q", l.says("web-2"))
	}
}

// TestAdopterBehindItsBack: as TestGivenBehindItsBack of a NetBox that's restored, where the later one adopted a record that a person put at the address.
func TestAdopterBehindItsBack(t *testing.T) {
	l := newLab(t, "4.6.8")
	l.netbox.AddMarkerField(field)
	two := l.inLoose(1)[0]
	l.moves(two, "10.88.0.6/24")
	l.apply("web-1", l.ofThis, looseOf)
	l.passes(6, time.Minute, "web-1")
	before := l.netbox.Backup()
	l.moves(l.get("web-1").Status.AtProvider.ID, "10.88.0.5/24")
	l.moves(two, firstLoose)
	l.apply("web-2", l.ofThis, adopting(two))
	l.passes(6, time.Second, "web-2")
	if !l.readyWith("web-2", firstLoose) {
		t.Fatal(l.says("web-2"))
	}
	l.netbox.Restore(before)
	l.passes(8, 11*time.Minute, "web-1", "web-2")
	if l.readyWith("web-1", firstLoose) {
		t.Error("web-1 has the address of web-2's machine")
	}
}

// TestMixedPair: web-1 was allocated an address, a person made a second record of it, and web-2 adopts that: both have it, through an upgrade and a restore.
func TestMixedPair(t *testing.T) {
	cases := map[string]struct {
		reason  string
		happens func(l *lab)
	}{
		"Nothing":  {"they go on", func(*lab) {}},
		"Upgrade":  {"statuses are of before such a time was shown", func(l *lab) { l.upgraded() }},
		"NoStatus": {"one is restored without its status", func(l *lab) { l.restored(withoutStatus) }},
		"Restored": {"or with it", func(l *lab) { l.restored() }},
	}
	for name, tc := range cases {
		for _, turns := range [][]string{{"web-1", "web-2"}, {"web-2", "web-1"}} {
			t.Run(name+"/"+turns[0], func(t *testing.T) {
				l := newLab(t, "4.6.8")
				l.netbox.AddMarkerField(field)
				l.inLoose(0)
				l.apply("web-1", l.ofThis, looseOf)
				l.passes(6, time.Minute, "web-1")
				l.apply("web-2", l.ofThis, adopting(l.again()))
				l.passes(6, time.Minute, "web-2", "web-1")
				tc.happens(l)
				l.passes(8, 11*time.Minute, turns...)
				if !l.readyWith("web-1", firstLoose) || !l.readyWith("web-2", firstLoose) {
					t.Errorf("%s: web-1 says %q, web-2 %q", tc.reason, l.says("web-1"), l.says("web-2"))
				}
			})
		}
	}
}
