package netbox_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/netbox"
)

// stays looks at a resource until it's gone, or a few times: its condition Synced then says what keeps it.
func (l *lab) stays(name string) (message string, stays bool) {
	for range 6 {
		l.once(name)
		if l.get(name) == nil {
			return "", false
		}
	}
	return l.get(name).GetCondition(xpv2.TypeSynced).Message, true
}

// TestWaysOut: somebody took the marker of a record away, whose resource is being deleted. It stays, names the ways out, and each of them is one.
func TestWaysOut(t *testing.T) {
	hands := map[string]func(l *lab, id int64){
		"Cleared":   func(l *lab, id int64) { l.mark(id, nil) },
		"OtherText": func(l *lab, id int64) { l.mark(id, "hello") },
		"FieldGone": func(l *lab, _ int64) { l.netbox.RemoveCustomField(field); l.restart() },
	}
	ways := map[string]struct {
		reason string
		way    func(l *lab, id int64)
		// only that hand leaves this way, where it's named.
		only string
		// left says that the record stays.
		left bool
	}{
		"Keep": {
			reason: "what is to be kept is left as it is", left: true,
			way: func(l *lab, _ int64) {
				l.edit(func(p *v1alpha1.NetBoxIPAddressParameters) {
					p.Release = &v1alpha1.ReleasePolicy{Policy: v1alpha1.ReleaseKeep}
				})
			},
		},
		"PutRight": {reason: "it's released as ever", only: "Cleared", way: func(l *lab, id int64) { l.mark(id, clusterID+"/team-a/web-1/uid-web-1") }},
		"Deleted":  {reason: "what is gone is released", only: "OtherText", way: func(l *lab, id int64) { l.netbox.RemoveAddress(id) }},
	}
	for hand, take := range hands {
		for name, tc := range ways {
			if tc.only != "" && tc.only != hand {
				continue
			}
			t.Run(hand+"/"+name, func(t *testing.T) {
				l := newLab(t, "4.6.8")
				l.apply("web-1")
				l.settle("web-1", ready)
				id := l.only().ID
				take(l, id)
				l.remove()
				if said, stays := l.stays("web-1"); !stays || !strings.Contains(said, "delete the record there, or set spec.forProvider.release.policy: Keep") {
					t.Fatalf("nothing is released that isn't marked, and the ways out are named: stays %t, %q", stays, said)
				}
				if c := l.get("web-1").GetCondition(xpv2.TypeReady); c.Reason != xpv2.ReasonDeleting {
					t.Errorf("what is being deleted isn't Ready: %s %q", c.Reason, c.Message)
				}
				tc.way(l, id)
				if said, stays := l.stays("web-1"); stays {
					t.Errorf("%s: %s", tc.reason, said)
				}
				if left := len(l.netbox.Addresses()) > 0; left != tc.left {
					t.Errorf("%s: the record is left: %t", tc.reason, left)
				}
			})
		}
	}
}

func (l *lab) mark(id int64, value any) {
	l.netbox.ChangeAddressAs("alice", id, func(a *netbox.Address) { a.CustomFields = map[string]any{field: value} })
}

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
	const shown = `is that of NetBoxIPAddress "web-2", as its status says`
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
			second := l.netbox.WithMarker(field, clusterID+"/team-a/web-2/uid-web-2")[0]
			for _, first := range l.netbox.WithMarker(field, clusterID+"/team-a/web-1/uid-web-1") {
				l.netbox.RemoveAddress(first.ID)
			}
			l.mark(second.ID, clusterID+"/team-a/web-1/uid-web-1")
			if tc.deleted {
				l.remove()
			}
			said, stays := l.stays("web-1")
			if stays == tc.goes || stays && !strings.Contains(said, shown) {
				t.Errorf("%s: stays %t, %q", tc.reason, stays, said)
			}
			if is := l.only(); is.ID != second.ID || is.Address != second.Address || is.Status != second.Status {
				t.Errorf("%s: it was %v, %s, and is %v, %s", tc.reason, second.Address, second.Status, is.Address, is.Status)
			}
			if n := l.only().CustomFields["crossplane_released"]; n != nil {
				t.Errorf("%s: it has note %q", tc.reason, n)
			}
			l.mark(second.ID, clusterID+"/team-a/web-2/uid-web-2")
			l.restart()
			l.settle("web-2", ready)
			if !tc.deleted {
				l.settle("web-1", func(mg *v1alpha1.NetBoxIPAddress) bool { return ready(mg) || mg.Status.AtProvider.ID != 0 })
			}
		})
	}
}

// TestMarkerOnObserved: what only observed the record of one that lives is to manage it from now on, and somebody wrote its marker there.
func TestMarkerOnObserved(t *testing.T) {
	l := newLab(t, "4.6.8")
	l.apply("web-2", l.ofThis)
	l.settle("web-2", ready)
	second := l.netbox.Addresses()[0]
	l.apply("web-1", l.ofThis, func(mg *v1alpha1.NetBoxIPAddress) {
		mg.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionObserve}
		meta.SetExternalName(mg, strconv.FormatInt(second.ID, 10))
	})
	l.once("web-1")
	l.once("web-1")
	if mg := l.get("web-1"); !ready(mg) || mg.Status.AtProvider.ID != second.ID {
		t.Fatalf("it isn't observed: %+v", mg.Status)
	}
	l.mark(second.ID, clusterID+"/team-a/web-1/uid-web-1")
	mg := l.get("web-1")
	mg.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionAll}
	if err := l.kube.Update(t.Context(), mg); err != nil {
		t.Fatal(err)
	}
	l.restart()
	if said, _ := l.stays("web-1"); !strings.Contains(said, `is that of NetBoxIPAddress "web-2", as its status says`) {
		t.Errorf("it manages what is another one's: %q", said)
	}
	l.remove()
	if said, stays := l.stays("web-1"); !stays || !strings.Contains(said, `is that of NetBoxIPAddress "web-2", as its status says`) {
		t.Errorf("it releases what is another one's: stays %t, %q", stays, said)
	}
	if n := len(l.netbox.Addresses()); n != 1 {
		t.Errorf("%d records, want the one", n)
	}
}
