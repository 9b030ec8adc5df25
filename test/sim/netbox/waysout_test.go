package netbox_test

import (
	"net/netip"
	"strconv"
	"strings"
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/netbox"
)

// stays looks at web-1 until it's gone, or a few times: its condition Synced then says what keeps it.
func (l *lab) stays() (message string, stays bool) {
	for range 6 {
		l.once("web-1")
		if l.get("web-1") == nil {
			return "", false
		}
	}
	return l.get("web-1").GetCondition(xpv2.TypeSynced).Message, true
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
				if said, stays := l.stays(); !stays || !strings.Contains(said, "delete the record there, or set spec.forProvider.release.policy: Keep") {
					t.Fatalf("nothing is released that isn't marked, and the ways out are named: stays %t, %q", stays, said)
				}
				if c := l.get("web-1").GetCondition(xpv2.TypeReady); c.Reason != xpv2.ReasonDeleting {
					t.Errorf("what is being deleted isn't Ready: %s %q", c.Reason, c.Message)
				}
				tc.way(l, id)
				if said, stays := l.stays(); stays {
					t.Errorf("%s: %s", tc.reason, said)
				}
				if left := len(l.netbox.Addresses()) > 0; left != tc.left {
					t.Errorf("%s: the record is left: %t", tc.reason, left)
				}
			})
		}
	}
}

// TestOnlyLookedAt: a person's record was only observed, and then was to be managed, which nobody allowed. Whoever goes leaves it alone, without a word.
func TestOnlyLookedAt(t *testing.T) {
	l := newLab(t, "4.6.8")
	at := l.netbox.AddAddress(netbox.Address{Address: netip.MustParsePrefix("10.77.0.3/29"), Status: "active"})
	l.apply("web-1", observes, namedSo(strconv.FormatInt(at, 10)))
	l.settle("web-1", ready)
	l.rewrite("web-1", manages)
	l.once("web-1")
	l.once("web-1")
	l.waits("web-1", "adopt: ExternalName")
	l.remove()
	if said, stays := l.stays(); stays {
		t.Errorf("it stays: %s", said)
	}
	if all := l.netbox.Addresses(); len(all) != 1 || all[0].Status != "active" {
		t.Errorf("there is %+v", all)
	}
}

// TestMaskBeyondPolicy: a mask that a person makes shorter than the policy's prefix takes nothing from the namespace: its address is what it was, and what
// else is changed is put right as ever.
func TestMaskBeyondPolicy(t *testing.T) {
	l := newLab(t, "4.6.8")
	l.config.Config.Policies = []v1alpha1.NetBoxPolicy{{Namespaces: []string{"team-a"}, Prefixes: []string{"10.77.0.0/29"}}}
	l.restart()
	l.apply("web-1", func(mg *v1alpha1.NetBoxIPAddress) { mg.Spec.ForProvider.DNSName = new("web-1.example") })
	id := l.settle("web-1", ready).Status.AtProvider.ID
	l.netbox.ChangeAddressAs("alice", id, func(a *netbox.Address) {
		a.Address, a.DNSName = netip.PrefixFrom(a.Address.Addr(), 24), "other.example"
	})
	l.restart()
	l.once("web-1")
	l.once("web-1")
	if mg, is := l.get("web-1"), l.record(id); !ready(mg) || is.DNSName != "web-1.example" {
		t.Errorf("it's %+v, and its record %+v", mg.Status, is)
	}
}

func (l *lab) mark(id int64, value any) {
	l.netbox.ChangeAddressAs("alice", id, func(a *netbox.Address) { a.CustomFields = map[string]any{field: value} })
}
