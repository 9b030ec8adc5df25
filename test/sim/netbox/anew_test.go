package netbox_test

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/netbox"
)

// killed has the provider killed right after NetBox gave a resource a record: the answer is lost.
func (l *lab) killed(name string) {
	l.t.Helper()
	l.crash = "netbox-after-allocate"
	for i := 0; !l.once(name); i++ {
		if i > 6 {
			l.t.Fatal("it wasn't killed")
		}
	}
	l.crash = ""
	l.restart()
}

// rewrite has somebody write a resource, which he may.
func (l *lab) rewrite(name string, change func(*v1alpha1.NetBoxIPAddress)) {
	l.t.Helper()
	mg := l.get(name)
	change(mg)
	mg.Generation++
	if err := l.kube.Update(l.t.Context(), mg); err != nil {
		l.t.Fatal(err)
	}
}

// unwritten looks at resources a few times, and holds that nothing of a record is written.
func (l *lab) unwritten(reason string, id int64, names ...string) {
	l.t.Helper()
	before, told := l.record(id), len(l.told)
	for range 4 {
		for _, name := range names {
			if l.get(name) != nil {
				l.once(name)
			}
		}
		if diff := cmp.Diff(before, l.record(id), cmpopts.EquateComparable(netip.Prefix{})); diff != "" {
			l.t.Fatalf("%s, and record %d was written to (-before +after):\n%s", reason, id, diff)
		}
	}
	if len(l.told) != told {
		l.t.Errorf("%s, and it's told: %q", reason, l.told[told:])
	}
}

// record is what NetBox has of one, the zero value where it has none.
func (l *lab) record(id int64) netbox.Address {
	for _, a := range l.netbox.Addresses() {
		if a.ID == id {
			return a
		}
	}
	return netbox.Address{}
}

// TestNumberAnew: a backup of NetBox is restored that is older than web-1's record, NetBox gives web-2 its address by its very number, and the provider is killed
// before it's told. Nobody can tell that from a marker that somebody wrote: it's neither web-2's nor given to web-1 before a person has said so, and each
// way that the message names is one.
func TestNumberAnew(t *testing.T) {
	keep := func(l *lab) {
		l.rewrite("web-2", func(mg *v1alpha1.NetBoxIPAddress) {
			mg.Spec.ForProvider.Release = &v1alpha1.ReleasePolicy{Policy: v1alpha1.ReleaseKeep}
		})
	}
	cases := map[string]struct {
		reason string
		// bogus is what its tenant writes into web-2's external name.
		bogus   string
		deleted bool
		way     func(l *lab, id int64)
		// first and second are what they have in the end: an address, "gone", or nothing.
		first, second string
	}{
		"Marker":        {"it's web-1's again", "", false, func(l *lab, id int64) { l.mark(id, markerOf1) }, "10.77.0.1/29", "10.77.0.2/29"},
		"RecordDeleted": {"web-1 has lost it, and nobody else is given its address", "", false, func(l *lab, id int64) { l.netbox.RemoveAddress(id) }, "", "10.77.0.2/29"},
		"FirstDeleted":  {"web-1 was of the past", "", false, func(l *lab, _ int64) { l.delete("web-1"); l.settle("web-1", gone) }, "gone", "10.77.0.1/29"},
		"Kept":          {"what isn't released goes without it", "", true, func(l *lab, _ int64) { keep(l) }, "", "gone"},
		"MarkerDeleted": {"web-2 has none by then", "", true, func(l *lab, id int64) { l.mark(id, markerOf1) }, "10.77.0.1/29", "gone"},
		"OtherName":     {"a name proves nothing", "999", false, func(l *lab, _ int64) { l.delete("web-1"); l.settle("web-1", gone) }, "gone", "10.77.0.1/29"},
		"ItsName":       {"nor does its number", "1", false, func(l *lab, _ int64) { l.delete("web-1"); l.settle("web-1", gone) }, "gone", "10.77.0.1/29"},
		"ItsNameKept":   {"nor does its number", "1", true, func(l *lab, _ int64) { keep(l) }, "", "gone"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, "4.6.8")
			l.netbox.AddMarkerField(field)
			before := l.netbox.Backup()
			l.apply("web-1", l.ofThis)
			had := l.settle("web-1", ready).Status.AtProvider
			l.netbox.Restore(before)
			l.restart()
			l.apply("web-2", l.ofThis)
			l.killed("web-2")
			if tc.bogus != "" {
				l.rewrite("web-2", func(mg *v1alpha1.NetBoxIPAddress) { meta.SetExternalName(mg, tc.bogus) })
			}
			if tc.deleted {
				l.delete("web-2")
				l.outstanding = time.Nanosecond // Nothing comes late.
				l.restart()
			}
			l.unwritten("a machine may be using it", had.ID, "web-2", "web-1")
			says := `is that of NetBoxIPAddress "web-1", as its status says`
			l.waits("web-2", says)
			if tc.deleted {
				l.waits("web-2", "or set spec.forProvider.release.policy: Keep")
			}
			tc.way(l, had.ID)
			l.restart()
			for range 8 {
				for _, name := range []string{"web-2", "web-1"} {
					if l.get(name) != nil {
						l.once(name)
					}
				}
			}
			for name, want := range map[string]string{"web-1": tc.first, "web-2": tc.second} {
				is := "gone"
				if mg := l.get(name); mg != nil {
					if is = ""; ready(mg) {
						is = mg.Status.AtProvider.Address
					}
				}
				if is != want {
					t.Errorf("%s: %s has %q, want %q: %+v", tc.reason, name, is, want, l.get(name))
				}
			}
		})
	}
}

// TestNumberAnewOf is that where one of the two isn't as others are. Once its record is deleted, each goes its way.
func TestNumberAnewOf(t *testing.T) {
	cases := map[string]struct {
		reason string
		lab    func(*testing.T, string) *lab
		first  func(*lab, *v1alpha1.NetBoxIPAddress)
		// namespace of web-2, if it's another one.
		namespace string
	}{
		"TwoFields": {
			"its marker is in another field, which this provider config doesn't write", twoFields, func(_ *lab, mg *v1alpha1.NetBoxIPAddress) { byOther(mg) }, "",
		},
		"OtherNamespace": {"what a tenant wrote isn't shown to another one", newLab, (*lab).ofThis, "team-b"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			l := tc.lab(t, "4.6.8")
			before := l.netbox.Backup()
			l.apply("web-1", func(mg *v1alpha1.NetBoxIPAddress) { tc.first(l, mg) })
			had := l.settle("web-1", ready).Status.AtProvider
			l.netbox.Restore(before)
			l.restart()
			first := func(do func()) {
				was := l.namespace
				l.namespace = "team-a"
				do()
				l.namespace = was
			}
			if tc.namespace != "" {
				l.namespace = tc.namespace
			}
			l.apply("web-2", l.ofThis, func(mg *v1alpha1.NetBoxIPAddress) { mg.Spec.ForProvider.Description = new("secret") })
			l.killed("web-2")
			l.unwritten(tc.reason, had.ID, "web-2")
			l.waits("web-2", "as its status says, and carries this resource's marker")
			if said := l.get("web-2").GetCondition(xpv2.TypeReady).Message; tc.namespace != "" && strings.Contains(said, "web-1") {
				t.Errorf("another namespace's resource is named: %s", said)
			}
			first(func() {
				l.unwritten(tc.reason, had.ID, "web-1")
				if o := l.get("web-1").Status.AtProvider; o.Description != "" {
					t.Errorf("%s: %+v", tc.reason, o)
				}
			})
			l.netbox.RemoveAddress(had.ID)
			l.restart()
			mg := l.settle("web-2", ready)
			if o := mg.Status.AtProvider; o.Address == had.Address {
				t.Errorf("%s: it's given %s", tc.reason, o.Address)
			}
			first(func() {
				l.delete("web-1")
				l.settle("web-1", gone)
			})
			if is := l.netbox.WithMarker(field, markerOf1); len(is) > 0 {
				t.Errorf("left: %+v", is)
			}
		})
	}
}
