package netboxipaddress

import (
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// movedByAlice is NetBox's change log after alice gave a record another address and VRF.
func movedByAlice() []netbox.Change {
	type m = map[string]any
	return []netbox.Change{{
		User: "alice", Time: "2026-11-21T03:13:36Z", Before: m{"address": "10.77.0.1/24", "vrf": nil}, After: m{"address": "10.77.0.9/24", "vrf": 3.0},
	}}
}

// TestMoved: a record of which somebody changed the address or the VRF is put back, or it's said that it isn't what was given. What status
// says of the address never follows: a machine uses it.
func TestMoved(t *testing.T) {
	const by = `(changed by "alice" at 2026-11-21T03:13:36Z)`
	to := func(address string) func(*fakeNetBox) {
		return func(f *fakeNetBox) { f.records[0].Address = netip.MustParsePrefix(address) }
	}
	inProd := func(f *fakeNetBox) { f.records[0].VRF = &netbox.VRF{ID: 3, Name: "prod"} }
	fixed := params(func(p *v1alpha1.NetBoxIPAddressParameters) { p.From, p.Address = nil, "10.77.0.1/24" })
	another := record(500, "10.77.0.1/24", "c1/team-b/x/y")
	another.URL = "https://n/api/ipam/ip-addresses/500/"
	cases := map[string]struct {
		reason string
		mg     edit
		change func(*fakeNetBox)
		// is where the record is then, event how what is told begins, and message what Ready says where it isn't True.
		is      string
		event   string
		message string
	}{
		"Address":   {"it's put back", anyhow, to("10.77.0.9/24"), "10.77.0.1/24", `DriftCorrected: address of 10.77.0.1/24 was changed in NetBox by "alice" at 2026-11-21T03:13:36Z, and is again what it was`, ""},
		"Fixed":     {"a given one, too", fixed, to("10.77.0.9/24"), "10.77.0.1/24", `DriftCorrected: address of 10.77.0.1/24`, ""},
		"VRF":       {"so is its table", anyhow, inProd, "10.77.0.1/24", `DriftCorrected: vrf of 10.77.0.1/24 was changed in NetBox by "alice"`, ""},
		"Both":      {"in one write", anyhow, func(f *fakeNetBox) { inProd(f); to("10.78.0.9/16")(f) }, "10.77.0.1/24", `DriftCorrected: address, vrf of 10.77.0.1/24`, ""},
		"Mask":      {"a mask that nobody asked for is people's", anyhow, to("10.77.0.1/25"), "10.77.0.1/25", "", ""},
		"Report":    {"it's only reported", report, to("10.77.0.9/24"), "10.77.0.9/24", "Moved: record 100 was 10.77.0.1/24 and is 10.77.0.9/24 now", "record 100 was 10.77.0.1/24 and is 10.77.0.9/24 now " + by + ": put it back in NetBox, or set spec.forProvider.release.policy: Keep and delete this resource to leave the record as it is"},
		"ReportVRF": {"with both tables", report, inProd, "10.77.0.1/24", "Moved: record 100", "record 100 was 10.77.0.1/24 of the global table and is 10.77.0.1/24 of VRF \"prod\" now " + by + ": put it back"},
		"NoUpdate":  {"nothing may be written for it", managedBy(xpv2.ManagementActionObserve, xpv2.ManagementActionCreate), to("10.77.0.9/24"), "10.77.0.9/24", "Moved: record 100", by + ": put it back"},
		"Taken": {"another one has its address by now", anyhow, func(f *fakeNetBox) {
			f.loose = true
			to("10.77.0.9/24")(f)
			f.records = append(f.records, another)
		}, "10.77.0.9/24", "Moved: record 100", "and record 500 (https://n/api/ipam/ip-addresses/500/) has the address by now: free it there"},
		"Hidden": {"another one has it, which our token doesn't see", anyhow, func(f *fakeNetBox) {
			to("10.77.0.9/24")(f)
			f.fail["Patch"] = &netbox.Error{Kind: netbox.KindInvalid, Fields: []string{"address"}}
		}, "10.77.0.9/24", "Moved: record 100", "and NetBox refuses to have it put back"},
		"Rule": {"a rule of NetBox's is in the way", anyhow, func(f *fakeNetBox) {
			to("10.77.0.9/24")(f)
			f.fail["Patch"] = kind(netbox.KindMarkerTaken)
		}, "10.77.0.9/24", "Moved: record 100", by + ": put it back"},
		"Down": {"that NetBox can't be asked takes nothing away", anyhow, func(f *fakeNetBox) {
			to("10.77.0.9/24")(f)
			f.fail["Patch"] = kind(netbox.KindUnreachable)
		}, "10.77.0.9/24", "", ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			f.rack.changes = movedByAlice()
			h, mg := newHarness(f), newAddress(tc.mg)
			if err := h.settle(t, mg); err != nil {
				t.Fatal(err)
			}
			tc.change(f)
			for range 3 {
				_ = h.reconcile(t, mg)
			}
			c := mg.GetCondition(xpv2.TypeReady)
			if (c.Status == corev1.ConditionTrue) != (tc.message == "") || !strings.Contains(c.Message, tc.message) || (tc.message != "" && c.Reason != v1alpha1.ReasonMoved) {
				t.Errorf("%s: Ready %+v, want %q", tc.reason, c, tc.message)
			}
			if len(h.events) != min(len(tc.event), 1) || (tc.event != "" && !strings.HasPrefix(h.events[0], tc.event)) {
				t.Errorf("%s: told %q, want %q once", tc.reason, h.events, tc.event)
			}
			o := mg.Status.AtProvider
			if got := f.records[0].Address.String(); got != tc.is || !strings.HasPrefix(o.Address, "10.77.0.1/") || o.VRF != nil || o.ID != 100 {
				t.Errorf("%s: the record is %s, want %s; status %+v", tc.reason, got, tc.is, o)
			}
			if (o.Drift != nil) != strings.HasPrefix(name, "Report") {
				t.Errorf("%s: drift %+v", tc.reason, o.Drift)
			}
		})
	}
}

func anyhow(*v1alpha1.NetBoxIPAddress) {}

// TestMovedBackByHand: Ready comes back with the address, unless another one has got it meanwhile.
func TestMovedBackByHand(t *testing.T) {
	f := newFake()
	f.loose = true
	h, mg := newHarness(f), newAddress(report)
	if err := h.settle(t, mg); err != nil {
		t.Fatal(err)
	}
	home := f.records[0].Address
	f.records[0].Address = netip.MustParsePrefix("10.77.0.9/24")
	steps := []struct {
		why    string
		before func()
		ready  xpv2.ConditionReason
		says   string
	}{
		{"somebody moved it", func() {}, v1alpha1.ReasonMoved, "record 100 was"},
		{"NetBox is away: that stays true", func() { f.fail["Get"] = kind(netbox.KindUnreachable) }, v1alpha1.ReasonMoved, "record 100 was"},
		{"moved back, and another one has it by now", func() {
			delete(f.fail, "Get")
			f.records[0].Address = home
			f.records = append(f.records, record(500, home.String(), "c1/team-b/x/y"))
		}, v1alpha1.ReasonMoved, `address "10.77.0.1/24" is another record's`},
		{"which goes", func() { f.records = f.records[:1] }, "Available", ""},
	}
	for _, s := range steps {
		s.before()
		for range 2 {
			_ = h.reconcile(t, mg)
		}
		if c := mg.GetCondition(xpv2.TypeReady); c.Reason != s.ready || !strings.Contains(c.Message, s.says) {
			t.Errorf("%s: %+v, want %s with %q", s.why, c, s.ready, s.says)
		}
	}
	if len(h.events) != 1 {
		t.Errorf("told once: %q", h.events)
	}
}

// TestMovedRefused: what NetBox refused isn't asked for at each look.
func TestMovedRefused(t *testing.T) {
	f := newFake()
	h, mg := newHarness(f), newAddress()
	if err := h.settle(t, mg); err != nil {
		t.Fatal(err)
	}
	f.records[0].Address = netip.MustParsePrefix("10.77.0.9/24")
	f.fail["Patch"] = &netbox.Error{Kind: netbox.KindInvalid, Fields: []string{"address"}}
	f.calls = nil
	for range 5 {
		_ = h.reconcile(t, mg)
	}
	if n := len(f.writes()); n != 1 {
		t.Errorf("%d writes in 5 looks, want 1", n)
	}
	delete(f.fail, "Patch")
	h.now = h.now.Add(retryAfter)
	if err := h.settle(t, mg); err != nil || f.records[0].Address.String() != "10.77.0.1/24" || mg.GetCondition(xpv2.TypeReady).Status != corev1.ConditionTrue {
		t.Errorf("later: %v, %+v, %+v", err, f.records[0], mg.GetCondition(xpv2.TypeReady))
	}
}

// TestMovedIsGlanced: what is seen by the look at all records is enough to notice it, and never to write.
func TestMovedIsGlanced(t *testing.T) {
	f := newFake()
	h, mg := newHarness(f), newAddress()
	if err := h.settle(t, mg); err != nil {
		t.Fatal(err)
	}
	h.MaxAge = time.Minute
	for name, change := range map[string]func(*netbox.IPAddress){
		"Address": func(ip *netbox.IPAddress) { ip.Address = netip.MustParsePrefix("10.77.0.9/24") },
		"VRF":     func(ip *netbox.IPAddress) { ip.VRF = &netbox.VRF{ID: 3, Name: "prod"} },
	} {
		change(&f.records[0])
		f.seen = slices.Clone(f.records)
		f.calls = nil
		if err := h.reconcile(t, mg); err != nil {
			t.Fatal(err)
		}
		if f.records[0].Address.String() != "10.77.0.1/24" || f.records[0].VRF != nil || f.calls[2] != "Get" {
			t.Errorf("%s: %+v after %v", name, f.records[0], f.calls)
		}
		f.seen = nil
	}
}

// TestStaysMoved: a record that isn't put back is read live once in a while, and at once where it was changed or the spec was. What isn't
// ready is looked at more often than NetBox is, by the default poll interval.
func TestStaysMoved(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(*v1alpha1.NetBoxIPAddressParameters)
		others []netbox.IPAddress
	}{
		"Report": {reason: "it's only reported", change: func(p *v1alpha1.NetBoxIPAddressParameters) { p.Drift = v1alpha1.DriftReport }},
		"Holder": {reason: "another one has its address", others: []netbox.IPAddress{record(77, "10.77.0.1/24", theirs)}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			h, mg := newHarness(f), newAddress()
			if tc.change != nil {
				tc.change(&mg.Spec.ForProvider)
			}
			if err := h.settle(t, mg); err != nil {
				t.Fatal(err)
			}
			h.MaxAge = maxAge(time.Minute)
			f.records[0].Address, f.records[0].LastUpdated = netip.MustParsePrefix("10.77.0.9/24"), "later"
			f.records = append(f.records, tc.others...)
			look := func() []string {
				h.now = h.now.Add(15 * time.Second)
				f.seen, f.calls = slices.Clone(f.records), nil
				if err := h.reconcile(t, mg); err != nil {
					t.Fatal(err)
				}
				if mg.GetCondition(xpv2.TypeReady).Reason != v1alpha1.ReasonMoved {
					t.Fatalf("%s: %+v", tc.reason, mg.GetCondition(xpv2.TypeReady))
				}
				return f.calls
			}
			look()
			seen := []string{"Preflight", "Seen"}
			for range 5 {
				if d := cmp.Diff(seen, look()); d != "" {
					t.Errorf("%s: each look asks for more: %s", tc.reason, d)
				}
			}
			f.records[0].LastUpdated = "later still"
			if len(look()) <= len(seen) {
				t.Errorf("%s: a change isn't looked at", tc.reason)
			}
			f.records[0].VRF = &netbox.VRF{ID: 3, Name: "prod"}
			if len(look()) <= len(seen) {
				t.Errorf("%s: nor is one that NetBox gave no new time", tc.reason)
			}
			h.now = h.now.Add(longestAge)
			if again := look(); len(again) <= len(seen) || slices.Contains(again, "Changes") {
				t.Errorf("%s: it's believed for ever, or asked again who did it: %v", tc.reason, again)
			}
			f.records = f.records[:1]
			f.records[0].Address, f.records[0].VRF = netip.MustParsePrefix("10.77.0.1/24"), nil
			f.seen = slices.Clone(f.records)
			if err := h.settle(t, mg); err != nil || h.standings.count("cfg") != 0 {
				t.Errorf("%s: it's back, %v, and %d are said to stay moved", tc.reason, err, h.standings.count("cfg"))
			}
		})
	}
}

// TestStaysMovedUnwritten: a record that nobody may write to is believed to stay moved, whatever else differs.
func TestStaysMovedUnwritten(t *testing.T) {
	h, mg := newHarness(newFake()), newAddress(
		managedBy(xpv2.ManagementActionObserve, xpv2.ManagementActionCreate, xpv2.ManagementActionLateInitialize),
		params(func(p *v1alpha1.NetBoxIPAddressParameters) { p.Description = new("web") }),
	)
	if err := h.settle(t, mg); err != nil {
		t.Fatal(err)
	}
	h.MaxAge = maxAge(time.Minute)
	h.netbox.records[0].Address, h.netbox.records[0].Description = netip.MustParsePrefix("10.77.0.9/24"), "mine"
	if _, err := h.glanced(t, mg, time.Second); err != nil {
		t.Fatal(err)
	}
	for range 4 {
		calls, err := h.glanced(t, mg, 15*time.Second)
		if diff := cmp.Diff(quiet(), calls); diff != "" || err != nil || mg.GetCondition(xpv2.TypeReady).Reason != v1alpha1.ReasonMoved {
			t.Errorf("%v, %+v, and each look asks for more (-want +got):\n%s", err, mg.GetCondition(xpv2.TypeReady), diff)
		}
	}
}

// TestMovedAndObserved: with nothing to be written it's said all the same, whoever's marker the record carries by now: what it had its machine uses.
func TestMovedAndObserved(t *testing.T) {
	for _, marker := range []string{ours, "c1/team-b/x/y"} {
		f := newFake()
		h, mg := newHarness(f), newAddress()
		if err := h.settle(t, mg); err != nil {
			t.Fatal(err)
		}
		mg.SetManagementPolicies(xpv2.ManagementPolicies{xpv2.ManagementActionObserve})
		f.records[0].Address = netip.MustParsePrefix("10.77.0.9/24")
		f.records[0].CustomFields[testField] = marker
		for range 2 {
			if err := h.reconcile(t, mg); err != nil {
				t.Fatal(err)
			}
		}
		if mg.Status.AtProvider.Address != "10.77.0.1/24" || mg.GetCondition(xpv2.TypeReady).Reason != v1alpha1.ReasonMoved {
			t.Errorf("%s: status %+v, %+v", marker, mg.Status.AtProvider, mg.GetCondition(xpv2.TypeReady))
		}
	}
}

// TestMovedThenLost: what is made again is what was given, not what somebody made of it.
func TestMovedThenLost(t *testing.T) {
	f := newFake()
	h, mg := newHarness(f), newAddress(report, params(func(p *v1alpha1.NetBoxIPAddressParameters) { p.WhenLost = v1alpha1.LostRestore }))
	if err := h.settle(t, mg); err != nil {
		t.Fatal(err)
	}
	f.records[0].Address = netip.MustParsePrefix("10.77.0.9/24")
	if err := h.settle(t, mg); err != nil {
		t.Fatal(err)
	}
	f.records = nil
	if err := h.settle(t, mg); err != nil || len(f.records) != 1 || f.records[0].Address.String() != "10.77.0.1/24" {
		t.Errorf("%v, %+v", err, f.records)
	}
}

// TestHoldingOf: status is believed of a record that was ours; a fixed address is what spec says.
func TestHoldingOf(t *testing.T) {
	seen := func(marker string) edit {
		return func(mg *v1alpha1.NetBoxIPAddress) {
			mg.Status.AtProvider = v1alpha1.NetBoxIPAddressObservation{ID: 5, Address: "10.77.0.11/24", Marker: marker, VRF: &v1alpha1.VRFObservation{ID: 3, Name: "prod"}}
		}
	}
	fixed := params(func(p *v1alpha1.NetBoxIPAddressParameters) {
		p.From, p.Address, p.VRF = nil, "10.77.0.40/24", &v1alpha1.VRFSelector{RD: "65000:1"}
	})
	cases := map[string]struct {
		reason string
		mg     []edit
		want   string
	}{
		"None":   {"nobody knows", nil, "invalid Prefix of any table"},
		"Theirs": {"a record that was only observed", []edit{seen("")}, "invalid Prefix of any table"},
		"Ours":   {"what was ours", []edit{seen(ours)}, `10.77.0.11/24 of VRF "prod"`},
		"Fixed":  {"spec alone", []edit{fixed}, `10.77.0.40/24 of VRF with RD "65000:1"`},
		"Both":   {"spec's address in the table that it was in", []edit{fixed, seen(ours)}, `10.77.0.40/24 of VRF "prod"`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			mg := newAddress(tc.mg...)
			h := holdingOf(mg, identityOf("c1", mg))
			if diff := cmp.Diff(tc.want, h.address.String()+" of "+h.name); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
