package netbox_test

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/netbox"
)

// passes looks at resources in turns, while time goes by.
func (l *lab) passes(rounds int, step time.Duration, names ...string) {
	l.t.Helper()
	for range rounds {
		for _, name := range names {
			if l.get(name) != nil {
				l.once(name)
			}
		}
		l.now = l.now.Add(step)
	}
}

// moves has somebody change the address of a record.
func (l *lab) moves(id int64, to string) {
	l.netbox.ChangeAddressAs("alice", id, func(a *netbox.Address) { a.Address = netip.MustParsePrefix(to) })
}

func observes(mg *v1alpha1.NetBoxIPAddress) {
	mg.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionObserve}
}

func manages(mg *v1alpha1.NetBoxIPAddress) {
	mg.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionAll}
}

func regains(mg *v1alpha1.NetBoxIPAddress) { mg.Spec.ForProvider.WhenLost = v1alpha1.LostRestore }

func namedSo(name string) func(*v1alpha1.NetBoxIPAddress) {
	return func(mg *v1alpha1.NetBoxIPAddress) {
		meta.RemoveAnnotations(mg, meta.AnnotationKeyExternalName)
		if name != "" {
			meta.SetExternalName(mg, name)
		}
	}
}

// otherID is a resource's marker in a cluster of another id, and inOther has it as a cluster's own that was restored beside that one.
const otherID = "c1/team-a/web-1/uid-web-1"

func (l *lab) inOther() {
	l.mark(l.get("web-1").Status.AtProvider.ID, otherID)
	l.restored(func(mg *v1alpha1.NetBoxIPAddress) { mg.Status.AtProvider.Marker = otherID })
	l.passes(2, time.Minute, "web-1")
}

// TestRestoredOddly: a resource that was restored from a backup keeps its own record, whatever else isn't as it was, and never another one's.
func TestRestoredOddly(t *testing.T) {
	mine := func(l *lab) string {
		if mg := l.get("web-1"); !ready(mg) || meta.GetExternalName(mg) != "1" || l.record(1).CustomFields[field] != clusterID+"/team-a/web-1/uid-of-web-1" {
			return fmt.Sprintf("it's %+v, and its record %+v", mg.Status, l.record(1))
		}
		return ""
	}
	conflicts := func(l *lab) string {
		if mg := l.get("web-1"); mg == nil || ready(mg) || len(l.netbox.Addresses()) != 1 || l.record(1).ID == 0 {
			return fmt.Sprintf("it's %+v of %+v", mg, l.netbox.Addresses())
		}
		return ""
	}
	cases := map[string]struct {
		reason  string
		asks    func(*v1alpha1.NetBoxIPAddress)
		happens func(l *lab)
		holds   func(l *lab) (wrong string)
	}{
		"Unnamed":    {"its annotations were taken off", anyFree, func(l *lab) { l.restored(namedSo("")) }, mine},
		"Misnamed":   {"its name was edited", anyFree, func(l *lab) { l.restored(namedSo("999")) }, mine},
		"MisnamedOn": {"its name was edited, and nothing is made in its record's place", regains, func(l *lab) { l.restored(namedSo("999")) }, mine},
		"MisnamedGoing": {"what is released may be a living original's", anyFree, func(l *lab) {
			l.restored(namedSo("999"))
			l.delete("web-1")
		}, conflicts},
		"OtherID": {"another cluster's isn't lost where somebody moves it", regains, func(l *lab) {
			l.inOther()
			l.moves(1, "10.77.0.5/29")
		}, conflicts},
		"OtherIDUnnamed": {"whoever takes its name off has an address of its own", anyFree, func(l *lab) {
			l.inOther()
			l.rewrite("web-1", namedSo(""))
		}, func(l *lab) string {
			if mg := l.get("web-1"); !ready(mg) || mg.Status.AtProvider.Address != "10.77.0.2/29" || l.record(1).CustomFields[field] != otherID {
				return fmt.Sprintf("it's %+v", mg.Status)
			}
			return ""
		}},
		"MadeAgain": {"its record was lost after the backup, and made again", anyFree, func(l *lab) {
			l.netbox.RemoveAddress(1)
			l.netbox.AddAddress(netbox.Address{Address: netip.MustParsePrefix("10.77.0.1/29"), Status: "active", CustomFields: map[string]any{field: markerOf1}})
			l.restored()
		}, func(l *lab) string {
			if mg := l.get("web-1"); !ready(mg) || meta.GetExternalName(mg) != "2" || len(l.netbox.Addresses()) != 1 {
				return fmt.Sprintf("it's %+v of %+v", mg.Status, l.netbox.Addresses())
			}
			return ""
		}},
		"MadeAgainGoing": {"nor is that left behind", anyFree, func(l *lab) {
			l.netbox.RemoveAddress(1)
			l.netbox.AddAddress(netbox.Address{Address: netip.MustParsePrefix("10.77.0.1/29"), Status: "active", CustomFields: map[string]any{field: markerOf1}})
			l.restored()
			l.delete("web-1")
		}, func(l *lab) string {
			if l.get("web-1") == nil || len(l.netbox.Addresses()) != 1 {
				return fmt.Sprintf("it went, and left %+v", l.netbox.Addresses())
			}
			return ""
		}},
		"Moved": {"its machine uses what it was given", anyFree, func(l *lab) {
			l.moves(1, "10.77.0.5/29")
			l.restored()
		}, mine},
		"UnmarkedUnnamed": {"no other one is given to its machine", anyFree, func(l *lab) {
			l.mark(1, nil)
			l.restored(namedSo(""))
		}, conflicts},
		"OtherIDGoing": {"a copy goes, and leaves the record to the original", anyFree, func(l *lab) {
			l.inOther()
			l.delete("web-1")
		}, func(l *lab) string {
			if l.get("web-1") != nil || l.record(1).CustomFields[field] != otherID {
				return fmt.Sprintf("it says %q", l.says("web-1"))
			}
			return ""
		}},
		"ObservesOther": {"what is only observed is what its name says", anyFree, func(l *lab) {
			l.netbox.AddAddress(netbox.Address{Address: netip.MustParsePrefix("10.77.0.6/29"), Status: "active"})
			l.restored(observes, namedSo("2"))
		}, func(l *lab) string {
			if mg := l.get("web-1"); mg.Status.AtProvider.ID != 2 {
				return fmt.Sprintf("it shows %+v", mg.Status.AtProvider)
			}
			return ""
		}},
		"Hidden": {"its record, which isn't shown, carries the marker of before", anyFree, func(l *lab) {
			l.narrow(unmarked)
			l.restored()
		}, func(l *lab) string {
			if !veiled(l.get("web-1")) {
				return fmt.Sprintf("it says %q", l.says("web-1"))
			}
			return ""
		}},
		"HiddenGoing": {"nor does it go without it", anyFree, func(l *lab) {
			l.narrow(unmarked)
			l.restored()
			l.delete("web-1")
		}, func(l *lab) string {
			if l.get("web-1") == nil || l.record(1).ID == 0 {
				return "it went, and its record is left"
			}
			return ""
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, "4.6.8")
			l.apply("web-1", l.ofThis, tc.asks)
			l.settle("web-1", ready)
			tc.happens(l)
			l.now = l.now.Add(time.Hour)
			l.passes(8, 3*time.Minute, "web-1")
			if wrong := tc.holds(l); wrong != "" {
				t.Errorf("%s: %s", tc.reason, wrong)
			}
		})
	}
}

// TestHeldAllTheSame: a record goes, and with it what was known of it in NetBox; by what its resource shows the address is that one's, and nobody else
// is given it.
func TestHeldAllTheSame(t *testing.T) {
	gone := func(l *lab) { l.netbox.RemoveAddress(1) }
	bare := func(mg *v1alpha1.NetBoxIPAddress) { mg.Status = v1alpha1.NetBoxIPAddressStatus{} }
	cases := map[string]struct {
		reason  string
		happens func(l *lab)
		adopts  bool
	}{
		"Observed": {"it's only observed meanwhile", func(l *lab) {
			l.rewrite("web-1", observes)
			l.once("web-1")
			gone(l)
		}, false},
		"ObservedUnmarked": {"and its marker was cleared", func(l *lab) {
			l.rewrite("web-1", observes)
			l.once("web-1")
			l.mark(1, nil)
		}, true},
		"ObservedHidden": {"and the policies left it to others for a moment", func(l *lab) {
			l.rewrite("web-1", observes)
			l.config.Config.Policies = []v1alpha1.NetBoxPolicy{{Namespaces: []string{"team-x"}}}
			l.restart()
			l.once("web-1")
			l.config.Config.Policies = nil
			gone(l)
		}, false},
		"RestoredUnpatched": {"it was restored without its status, and NetBox refused to have its record marked anew", func(l *lab) {
			mend := l.netbox.Inject(netbox.Fault{Kind: netbox.FaultReadOnlyToken})
			l.restored(bare)
			l.passes(3, 0, "web-1")
			mend()
			gone(l)
		}, false},
		"RestoredNoUpdate": {"it was restored without its status, and may not mark its record anew", func(l *lab) {
			l.restored(bare, func(mg *v1alpha1.NetBoxIPAddress) {
				mg.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionObserve, xpv2.ManagementActionCreate, xpv2.ManagementActionDelete}
			})
			l.passes(3, 0, "web-1")
			gone(l)
		}, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, "4.6.8")
			l.apply("web-1", l.ofThis)
			l.settle("web-1", ready)
			tc.happens(l)
			l.restart()
			l.passes(2, 0, "web-1")
			l.apply("web-2", l.ofThis, func(mg *v1alpha1.NetBoxIPAddress) {
				if p := &mg.Spec.ForProvider; tc.adopts {
					p.From, p.Address, p.Adopt = nil, "10.77.0.1/29", v1alpha1.AdoptIfUnowned
				}
			})
			l.passes(6, 0, "web-2", "web-1")
			l.rewrite("web-1", manages)
			l.passes(4, 0, "web-1", "web-2")
			if had := l.get("web-1").Status.AtProvider.Address; had != "10.77.0.1/29" {
				t.Errorf("%s: web-1 knows of %q", tc.reason, had)
			}
			if two := l.get("web-2"); ready(two) == tc.adopts {
				t.Errorf("%s: web-2 is %+v", tc.reason, two.Status)
			}
			l.notTwice("web-1", "web-2")
		})
	}
}

// TestObservedAndMoved: what is only observed shows where its record is by now; who was given its address has it alone.
func TestObservedAndMoved(t *testing.T) {
	l := newLab(t, "4.6.8")
	l.apply("web-1", l.ofThis)
	l.settle("web-1", ready)
	l.rewrite("web-1", observes)
	l.once("web-1")
	l.restored()
	l.once("web-1")
	l.moves(1, "10.77.0.5/29")
	l.apply("web-2", l.ofThis)
	l.passes(4, 3*time.Minute, "web-2", "web-1")
	if one, two := l.get("web-1"), l.get("web-2"); ready(one) && ready(two) {
		l.notTwice("web-1", "web-2")
	}
}

// TestPutBackOnLost: web-1's record is moved, web-2 is given its address, and somebody deletes web-2's record. Its machine may be using the address: web-1
// isn't put back onto it, by us or by a person, as long as web-2 is there.
func TestPutBackOnLost(t *testing.T) {
	for _, hand := range []bool{false, true} {
		l := newLab(t, "4.6.8")
		l.apply("web-1", l.ofThis)
		l.settle("web-1", ready)
		l.moves(1, "10.77.0.5/29")
		l.apply("web-2", l.ofThis)
		two := l.settle("web-2", ready)
		l.once("web-1")
		l.netbox.RemoveAddress(two.Status.AtProvider.ID)
		if hand {
			l.moves(1, two.Status.AtProvider.Address)
		}
		l.passes(4, 3*time.Minute, "web-1", "web-2")
		if one := l.get("web-1"); ready(one) || one.GetCondition(xpv2.TypeReady).Reason != v1alpha1.ReasonMoved || !strings.Contains(l.says("web-1"), `that of NetBoxIPAddress "web-2"`) {
			t.Errorf("by hand %t: web-1 says %q", hand, l.says("web-1"))
		}
		l.delete("web-2")
		l.passes(6, 3*time.Minute, "web-2", "web-1")
		if one := l.get("web-1"); !ready(one) || l.get("web-2") != nil {
			t.Errorf("by hand %t: web-2 is given up, and web-1 says %q", hand, l.says("web-1"))
		}
	}
}

// TestObservedAway: what is only observed goes on to show what it had, though somebody uses its record as another address: that one it never was given.
func TestObservedAway(t *testing.T) {
	l := newLab(t, "4.6.8")
	l.apply("web-1", l.ofThis, regains)
	l.settle("web-1", ready)
	l.rewrite("web-1", observes)
	l.once("web-1")
	l.mark(1, nil)
	l.moves(1, "10.77.0.5/29")
	l.passes(2, 3*time.Minute, "web-1")
	l.netbox.RemoveAddress(1)
	l.passes(2, 3*time.Minute, "web-1")
	l.rewrite("web-1", manages)
	l.passes(4, 3*time.Minute, "web-1")
	if mg := l.get("web-1"); mg.Status.AtProvider.Address != "10.77.0.1/29" {
		t.Errorf("it has %+v", mg.Status.AtProvider)
	}
}

// TestSharedByRecord: that who has an address shares it, is so where its record says so, be that of a person or of when it was adopted.
func TestSharedByRecord(t *testing.T) {
	l := newLab(t, "4.6.8")
	l.netbox.AddExampleWorld()
	l.apply("web-1", l.ofThis)
	l.settle("web-1", ready)
	l.netbox.ChangeAddressAs("alice", 1, func(a *netbox.Address) { a.Role = "vip" })
	l.once("web-1")
	l.restart()
	l.apply("web-2", l.ofThis, func(mg *v1alpha1.NetBoxIPAddress) {
		p := &mg.Spec.ForProvider
		p.From, p.Address, p.Duplicates, p.Role = nil, "10.77.0.1/29", v1alpha1.DuplicatesSharedRole, new("vip")
	})
	l.settle("web-2", ready)
}
