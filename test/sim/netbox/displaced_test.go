package netbox_test

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/netbox"
)

// TestDisplaced: somebody deletes or moves the record of an address, and another claim asks for one. The first one is looked at in the same moment
// and isn't Ready any more, long before anybody looks at all records; and what NetBox gave away of a record that's gone is left to it.
func TestDisplaced(t *testing.T) {
	removed := func(l *lab, was netbox.Address) { l.netbox.RemoveAddress(was.ID) }
	moved := func(l *lab, was netbox.Address) {
		l.netbox.ChangeAddressAs("alice", was.ID, func(a *netbox.Address) { a.Address = netip.MustParsePrefix("10.77.0.5/29") })
	}
	only := func(p *v1alpha1.NetBoxIPAddressParameters) { p.From[0].Prefix.CIDR = "10.78.0.0/32" }
	fixed := func(p *v1alpha1.NetBoxIPAddressParameters) { p.From, p.Address = nil, "10.77.0.1/29" }
	same := func(*v1alpha1.NetBoxIPAddressParameters) {}
	cases := map[string]struct {
		reason       string
		first, other func(p *v1alpha1.NetBoxIPAddressParameters)
		byHand       func(l *lab, was netbox.Address)
		// waits says that the other one waits before it happens already.
		waits bool
		want  xpv2.ConditionReason
		// gets is what the other one gets, "" nothing.
		gets string
	}{
		"SecondClaim": {"its record was deleted", same, same, removed, false, v1alpha1.ReasonLost, "10.77.0.2/29"},
		"SecondWaits": {"it was the last one, for which another waits", only, only, removed, true, v1alpha1.ReasonLost, ""},
		"Moved":       {"it was given another address", same, same, moved, false, v1alpha1.ReasonMoved, "10.77.0.1/29"},
		"Fixed":       {"the other one asks for just that", same, fixed, removed, false, v1alpha1.ReasonLost, ""},
		"Restarted":   {"nobody who lives has seen its record", same, same, removed, false, v1alpha1.ReasonLost, "10.77.0.2/29"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, "4.6.8")
			l.netbox.AddCIDR("10.78.0.0/32")
			l.maxAge = 2 * time.Minute
			l.restart()
			l.apply("web-1", func(mg *v1alpha1.NetBoxIPAddress) { tc.first(&mg.Spec.ForProvider) })
			had := l.settle("web-1", ready).Status.AtProvider.Address
			rackLab{l}.rest()
			other := func() {
				l.apply("web-2", func(mg *v1alpha1.NetBoxIPAddress) { tc.other(&mg.Spec.ForProvider) })
			}
			if tc.waits {
				other()
				l.settle("web-2", because(v1alpha1.ReasonExhausted))
				l.now = l.now.Add(time.Minute)
				l.settle("web-1", ready)
			}
			tc.byHand(l, l.netbox.WithMarker(field, clusterID+"/team-a/web-1/uid-web-1")[0])
			switch name {
			case "Restarted":
				l.restart()
			default:
				l.once("web-1")
				if !ready(l.get("web-1")) {
					t.Fatalf("%s: it's seen without the other one", tc.reason)
				}
			}
			l.woken = nil
			if tc.waits {
				l.now = l.now.Add(time.Minute - time.Second)
			} else {
				other()
			}
			for range 4 {
				l.once("web-2")
			}
			if mg := l.get("web-2"); mg.Status.AtProvider.Address != tc.gets || ready(mg) != (tc.gets != "") {
				t.Fatalf("%s: got %s, want %q", tc.reason, mg.Status.AtProvider.Address, tc.gets)
			}
			if !slices.Contains(l.woken, "team-a/web-1") {
				t.Errorf("%s: web-1 wasn't woken: %q", tc.reason, l.woken)
			}
			l.once("web-1")
			mg := l.get("web-1")
			if c := mg.GetCondition(xpv2.TypeReady); c.Reason != tc.want || mg.Status.AtProvider.Address != had {
				t.Errorf("%s: %+v, status %+v", tc.reason, c, mg.Status.AtProvider)
			}
			switch {
			case name == "Fixed":
				l.notMade("web-2", "may be using it")
			case tc.gets != had:
				l.setAside(mg)
			}
			t.Log(faultRow("somebody frees an address in NetBox, and another claim asks for one: "+name, 1, 1))
		})
	}
}

// setAside holds that the address of a resource whose record is gone is in quarantine for it, and that it has it back where it's to be restored.
func (l *lab) setAside(mg *v1alpha1.NetBoxIPAddress) {
	l.t.Helper()
	i := slices.IndexFunc(l.netbox.Addresses(), func(a netbox.Address) bool { return a.Address.String() == mg.Status.AtProvider.Address })
	if i < 0 {
		l.t.Fatalf("nothing is set aside: %+v", l.netbox.Addresses())
	}
	a := l.netbox.Addresses()[i]
	if note, _ := a.CustomFields["crossplane_released"].(string); a.Status != "deprecated" || a.CustomFields[field] != nil || !strings.HasPrefix(note, clusterID+"/team-a/web-1/uid-web-1 ") {
		l.t.Errorf("it's %+v", a)
	}
	had := mg.Status.AtProvider.Address
	l.edit(func(p *v1alpha1.NetBoxIPAddressParameters) { p.WhenLost = v1alpha1.LostRestore })
	l.once("web-1")
	mg = l.settle("web-1", ready)
	rackLab{l}.rest()
	if is := l.netbox.WithMarker(field, clusterID+"/team-a/web-1/uid-web-1"); len(is) != 1 || is[0].ID != a.ID || is[0].Status != "active" || mg.Status.AtProvider.Address != had {
		l.t.Errorf("web-1 is %+v, and has %+v", mg.Status.AtProvider, is)
	}
}

// notMade holds that a resource has no record, and that it says why.
func (l *lab) notMade(name, says string) {
	l.t.Helper()
	if is := l.netbox.WithMarker(field, clusterID+"/team-a/"+name+"/uid-"+name); len(is) != 0 {
		l.t.Errorf("%s has %+v", name, is)
	}
	if c := l.get(name).GetCondition(xpv2.TypeReady); c.Status == corev1.ConditionTrue || c.Reason != v1alpha1.ReasonConflict || !strings.Contains(c.Message, says) {
		l.t.Errorf("%s: %+v", name, c)
	}
}

// TestManyLost: a device goes in NetBox with all its addresses, and new claims come: none is given what a machine may be using, be it that the provider is
// killed right after NetBox gave it.
func TestManyLost(t *testing.T) {
	const lost = 11 // More than one Create sets aside.
	for name, crash := range map[string]string{"Lives": "", "Killed": "netbox-after-allocate"} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, "4.6.8")
			l.netbox.AddCIDR("10.79.0.0/27")
			wide := func(mg *v1alpha1.NetBoxIPAddress) { mg.Spec.ForProvider.From[0].Prefix.CIDR = "10.79.0.0/27" }
			had := map[string]bool{}
			for i := range lost {
				name := fmt.Sprintf("old-%d", i)
				l.apply(name, wide)
				had[l.settle(name, ready).Status.AtProvider.Address] = true
			}
			for _, a := range l.netbox.Addresses() {
				l.netbox.RemoveAddress(a.ID)
			}
			l.apply("web-1", wide)
			if crash != "" {
				l.crash = crash
				l.once("web-1")
				l.once("web-1")
				if l.crash = ""; len(l.netbox.Addresses()) != 1 || ready(l.get("web-1")) {
					t.Fatalf("it was killed too early, or too late: %+v", l.netbox.Addresses())
				}
				l.restart()
			}
			for range 12 {
				l.once("web-1")
				mg := l.get("web-1")
				if had[mg.Status.AtProvider.Address] {
					t.Fatalf("web-1 has %s, which another one had", mg.Status.AtProvider.Address)
				}
				if ready(mg) {
					break
				}
			}
			l.settle("web-1", ready)
			aside := 0
			for _, a := range l.netbox.Addresses() {
				if a.Status == "deprecated" && had[a.Address.String()] {
					aside++
				}
			}
			if aside != lost || len(l.netbox.Addresses()) != lost+1 {
				t.Errorf("%d of %d are set aside: %+v", aside, lost, l.netbox.Addresses())
			}
			for i := range lost {
				l.once(fmt.Sprintf("old-%d", i))
				if c := l.get(fmt.Sprintf("old-%d", i)).GetCondition(xpv2.TypeReady); c.Reason != v1alpha1.ReasonLost {
					t.Errorf("old-%d: %+v", i, c)
				}
			}
			t.Log(faultRow("many records are deleted in NetBox, and others are asked for: "+name, lost, aside))
		})
	}
}
