package netbox_test

import (
	"net/netip"
	"slices"
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/netbox"
)

// TestDisplaced: somebody deletes or moves the record of an address, and another claim gets that. The first one is looked at in the same moment
// and isn't Ready any more, long before anybody looks at all records.
func TestDisplaced(t *testing.T) {
	cases := map[string]struct {
		reason string
		spec   func(p *v1alpha1.NetBoxIPAddressParameters)
		// second is what another one asks for, if not just any address of the same prefix.
		second func(p *v1alpha1.NetBoxIPAddressParameters)
		byHand func(l *lab, was netbox.Address)
		// waits is what the second one waits for before it happens; "" for one that is applied afterwards.
		waits, want xpv2.ConditionReason
	}{
		"SecondClaim": {reason: "its record was deleted", byHand: func(l *lab, was netbox.Address) { l.netbox.RemoveAddress(was.ID) }, want: v1alpha1.ReasonLost},
		"SecondWaits": {
			reason: "it was the last one, for which another waits", spec: func(p *v1alpha1.NetBoxIPAddressParameters) { p.From[0].Prefix.CIDR = "10.78.0.0/32" },
			byHand: func(l *lab, was netbox.Address) { l.netbox.RemoveAddress(was.ID) }, waits: v1alpha1.ReasonExhausted, want: v1alpha1.ReasonLost,
		},
		"Moved": {reason: "it was given another address", byHand: func(l *lab, was netbox.Address) {
			l.netbox.ChangeAddressAs("alice", was.ID, func(a *netbox.Address) { a.Address = netip.MustParsePrefix("10.77.0.5/29") })
		}, want: v1alpha1.ReasonMoved},
		"Fixed": {
			reason: "the other one asks for just that", second: func(p *v1alpha1.NetBoxIPAddressParameters) { p.From, p.Address = nil, "10.77.0.1/29" },
			byHand: func(l *lab, was netbox.Address) { l.netbox.RemoveAddress(was.ID) }, want: v1alpha1.ReasonLost,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, "4.6.8")
			l.netbox.AddCIDR("10.78.0.0/32")
			l.maxAge = 2 * time.Minute
			l.restart()
			with := func(change func(p *v1alpha1.NetBoxIPAddressParameters)) func(*v1alpha1.NetBoxIPAddress) {
				return func(mg *v1alpha1.NetBoxIPAddress) {
					if change != nil {
						change(&mg.Spec.ForProvider)
					}
				}
			}
			l.apply("web-1", with(tc.spec))
			before := l.settle("web-1", ready).Status.AtProvider
			rackLab{l}.rest()
			if tc.waits != "" {
				l.apply("web-2", with(tc.spec))
				l.settle("web-2", because(tc.waits))
				l.now = l.now.Add(time.Minute)
				l.settle("web-1", ready)
			}
			tc.byHand(l, l.netbox.WithMarker(field, clusterID+"/team-a/web-1/uid-web-1")[0])
			l.once("web-1")
			if !ready(l.get("web-1")) {
				t.Fatalf("%s: it's seen without the other one", tc.reason)
			}
			l.woken = nil
			if tc.waits == "" {
				l.apply("web-2", with(tc.spec), with(tc.second))
			} else {
				l.now = l.now.Add(time.Minute - time.Second)
			}
			if mg := l.settle("web-2", ready); mg.Status.AtProvider.Address != before.Address {
				t.Fatalf("%s: got %s, want %s", tc.reason, mg.Status.AtProvider.Address, before.Address)
			}
			if !slices.Contains(l.woken, "team-a/web-1") {
				t.Errorf("%s: web-1 wasn't woken: %q", tc.reason, l.woken)
			}
			l.once("web-1")
			mg := l.get("web-1")
			if c := mg.GetCondition(xpv2.TypeReady); c.Reason != tc.want || mg.Status.AtProvider.Address != before.Address {
				t.Errorf("%s: %+v, status %+v", tc.reason, c, mg.Status.AtProvider)
			}
			t.Log(faultRow("somebody frees an address in NetBox, and another claim gets it: "+name, 1, 1))
		})
	}
}
