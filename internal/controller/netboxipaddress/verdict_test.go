package netboxipaddress

import (
	"maps"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	apiextv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// quiet is what a look asks of NetBox where all is known: what it has proven before, and what all addresses were at the last look at them.
func quiet() []string { return []string{"Preflight", "Seen"} }

// glanced reconciles a moment later, with a look at all addresses of our cluster right before, and returns what NetBox was asked.
func (h *harness) glanced(t *testing.T, mg *v1alpha1.NetBoxIPAddress, later time.Duration) ([]string, error) {
	t.Helper()
	h.now = h.now.Add(later)
	h.netbox.seen, h.netbox.calls = nil, nil
	for _, ip := range h.netbox.records {
		if strings.HasPrefix(ip.Marker(testField), "c1/") {
			ip.CustomFields = maps.Clone(ip.CustomFields)
			h.netbox.seen = append(h.netbox.seen, ip)
		}
	}
	err := h.reconcile(t, mg)
	return h.netbox.calls, err
}

// A hindrance keeps a record from being as spec says, and nobody writes to it.
type hindrance struct {
	reason string
	mg     edit
	// then is what happens to an address that was as it should be. look is one at it in between.
	then func(h *harness, mg *v1alpha1.NetBoxIPAddress, look func())
	// own says that NetBox has no say in it, and stays that it may be as it is.
	own, stays bool
}

func hindrances() map[string]hindrance {
	primary := assignTo(onDevice("r7-u12", "eno1", v1alpha1.UsePrimary))
	away := func(h *harness, _ *v1alpha1.NetBoxIPAddress, _ func()) {
		delete(h.netbox.rack.holders[0].Seated, netbox.SeatPrimary4)
		h.netbox.records[0].Assigned = h.netbox.rack.elsewhere()
	}
	unseat := func(h *harness, _ *v1alpha1.NetBoxIPAddress, _ func()) {
		h.netbox.rack.holders[0].Seated[netbox.SeatPrimary4] = netbox.Seated{ID: 99, Address: "10.77.0.9/24"}
	}
	move := func(h *harness, to string) { h.netbox.records[0].Address = netip.MustParsePrefix(to) }
	return map[string]hindrance{
		"Refused": {"a tag that nobody made", anyhow, func(h *harness, mg *v1alpha1.NetBoxIPAddress, _ func()) {
			h.netbox.fail["Patch"] = &netbox.Error{Kind: netbox.KindInvalid, Fields: []string{"tags"}}
			mg.Spec.ForProvider.Tags, mg.Generation = []string{"nosuch"}, 2
		}, false, false},
		"Unkept": {"a custom field that NetBox doesn't know", anyhow, func(h *harness, mg *v1alpha1.NetBoxIPAddress, _ func()) {
			h.netbox.drops = []string{"purpose"}
			mg.Spec.ForProvider.CustomFields, mg.Generation = map[string]apiextv1.JSON{"purpose": {Raw: []byte(`"web"`)}}, 2
		}, false, false},
		"NotAllowed": {"a policy that was narrowed", anyhow, func(h *harness, _ *v1alpha1.NetBoxIPAddress, _ func()) {
			h.cfg.Config.Policies, h.cfg.Generation = []v1alpha1.NetBoxPolicy{{Namespaces: []string{"team-a"}, Prefixes: []string{"10.9.0.0/16"}}}, 2
		}, true, false},
		"MovedForbidden": {"it may not be put back", anyhow, func(h *harness, _ *v1alpha1.NetBoxIPAddress, _ func()) {
			h.netbox.fail["Patch"] = kind(netbox.KindForbidden)
			move(h, "10.77.0.9/24")
		}, false, false},
		"MovedBack": {"it's back, and its address has a second record", report, func(h *harness, _ *v1alpha1.NetBoxIPAddress, look func()) {
			move(h, "10.77.0.9/24")
			look()
			move(h, "10.77.0.1/24")
			h.netbox.records = append(h.netbox.records, record(500, "10.77.0.1/24", "c1/team-b/x/y"))
		}, false, false},
		"NoDevice": {"its device has another name by now", primary, func(h *harness, _ *v1alpha1.NetBoxIPAddress, _ func()) {
			h.netbox.rack.holders[0].Name = "other"
			h.netbox.records[0].Assigned = &netbox.Place{Kind: netbox.Device, ID: 11, Name: "eno1", Holder: 1, HolderName: "other"}
		}, false, false},
		"NoInterface": {"its interface is gone", primary, func(h *harness, mg *v1alpha1.NetBoxIPAddress, look func()) {
			away(h, mg, look)
			h.netbox.rack.interfaces = h.netbox.rack.interfaces[1:]
		}, false, false},
		"SeatTaken": {"another address has its seat", primary, unseat, false, false},
		"AssignRefused": {"the token may not assign", primary, func(h *harness, mg *v1alpha1.NetBoxIPAddress, look func()) {
			away(h, mg, look)
			h.netbox.fail["Patch"] = kind(netbox.KindForbidden)
		}, false, false},
		"Reported":     {"it was assigned elsewhere, which is only reported", func(mg *v1alpha1.NetBoxIPAddress) { primary(mg); report(mg) }, away, false, true},
		"ReportedSeat": {"its seat was given away, which is only reported", func(mg *v1alpha1.NetBoxIPAddress) { primary(mg); report(mg) }, unseat, false, true},
		"NoUpdate": {"nobody may write to it", primary, func(h *harness, mg *v1alpha1.NetBoxIPAddress, look func()) {
			mg.SetManagementPolicies(xpv2.ManagementPolicies{xpv2.ManagementActionObserve, xpv2.ManagementActionCreate, xpv2.ManagementActionLateInitialize})
			mg.Generation = 2
			away(h, mg, look)
		}, false, true},
	}
}

// hinder returns an address that is hindered, and of which all is said.
func hinder(t *testing.T, c hindrance) (*harness, *v1alpha1.NetBoxIPAddress, error) {
	t.Helper()
	h, mg := newHarness(newFake()), newAddress(anything, c.mg)
	if err := h.settle(t, mg); err != nil {
		t.Fatal(err)
	}
	h.MaxAge = maxAge(time.Minute)
	c.then(h, mg, func() { _, _ = h.glanced(t, mg, time.Second) })
	var err error
	for range 3 {
		_, err = h.glanced(t, mg, 3*time.Second)
	}
	return h, mg, err
}

// TestHindered: what NetBox doesn't take, or doesn't have, or isn't to be asked for, costs no request of its own at each look. It's said at
// each all the same.
func TestHindered(t *testing.T) {
	for name, tc := range hindrances() {
		t.Run(name, func(t *testing.T) {
			h, mg, said := hinder(t, tc)
			if (said == nil) != tc.stays {
				t.Fatalf("%s: %v", tc.reason, said)
			}
			before, told := mg.DeepCopy(), len(h.events)
			for range 4 {
				calls, err := h.glanced(t, mg, 3*time.Second)
				if diff := cmp.Diff(quiet(), calls); diff != "" {
					t.Errorf("%s: each look asks for more (-want +got):\n%s", tc.reason, diff)
				}
				if said != nil && (err == nil || err.Error() != said.Error()) || said == nil && err != nil {
					t.Errorf("%s: it says %v by now, and said %v", tc.reason, err, said)
				}
			}
			if diff := cmp.Diff(before.Status.AtProvider, mg.Status.AtProvider); diff != "" {
				t.Errorf("%s: status (-before +after):\n%s", tc.reason, diff)
			}
			if c, was := mg.GetCondition(xpv2.TypeReady), before.GetCondition(xpv2.TypeReady); !c.Equal(was) {
				t.Errorf("%s: Ready is %+v, and was %+v", tc.reason, c, was)
			}
			if len(h.events) != told {
				t.Errorf("%s: told again: %q", tc.reason, h.events)
			}
		})
	}
}

// TestHinderedNoMore: whoever changes something is looked at, at once. Only what was refused isn't asked for again.
func TestHinderedNoMore(t *testing.T) {
	ends := map[string]struct {
		reason string
		end    func(h *harness, mg *v1alpha1.NetBoxIPAddress)
		// writes says that it may be asked for again.
		writes bool
	}{
		"Record":  {"somebody edited the record", func(h *harness, _ *v1alpha1.NetBoxIPAddress) { h.netbox.records[0].LastUpdated = "later" }, true},
		"Untimed": {"so that NetBox says of no time", func(h *harness, _ *v1alpha1.NetBoxIPAddress) { h.netbox.records[0].Comments = "mine" }, false},
		"Webhook": {"NetBox tells of it", func(h *harness, mg *v1alpha1.NetBoxIPAddress) { h.doubt(mg.GetUID()) }, false},
		"Spec":    {"its spec was edited", func(_ *harness, mg *v1alpha1.NetBoxIPAddress) { mg.Generation++ }, true},
		"Secret":  {"the token is another", func(h *harness, _ *v1alpha1.NetBoxIPAddress) { h.cfg.SecretVersion = "2" }, true},
		"Config":  {"the provider config is", func(h *harness, _ *v1alpha1.NetBoxIPAddress) { h.cfg.Generation++ }, true},
		"Requested": {"somebody asked for a look", func(_ *harness, mg *v1alpha1.NetBoxIPAddress) {
			meta.AddAnnotations(mg, map[string]string{meta.AnnotationKeyReconcileRequestedAt: "now"})
		}, true},
		"Unshown": {"what was found out never got onto the resource", func(_ *harness, mg *v1alpha1.NetBoxIPAddress) {
			mg.SetConditions(xpv2.ReconcileSuccess())
			mg.Status.AtProvider.Drift = nil
		}, false},
		"Later": {"it's long ago", func(h *harness, _ *v1alpha1.NetBoxIPAddress) { h.now = h.now.Add(retryUnkept) }, true},
	}
	for name, tc := range hindrances() {
		for how, end := range ends {
			if tc.own || how == "Unshown" && name == "NoUpdate" {
				continue
			}
			t.Run(name+how, func(t *testing.T) {
				h, mg, _ := hinder(t, tc)
				end.end(h, mg)
				calls, _ := h.glanced(t, mg, time.Second)
				if !slices.ContainsFunc(calls, func(c string) bool { return !slices.Contains(quiet(), c) }) {
					t.Errorf("%s, and %s: it isn't looked at: %v", tc.reason, end.reason, calls)
				}
				if w := h.netbox.writes(); len(w) > 0 && (!end.writes || !slices.Contains(calls, "Get")) {
					t.Errorf("%s, and %s: written is %v, after %v", tc.reason, end.reason, w, calls)
				}
			})
		}
	}
}

// TestHinderedHeals: once nothing is in the way, what spec says is written, to the record as it is by then.
func TestHinderedHeals(t *testing.T) {
	c := hindrances()["AssignRefused"]
	h, mg, said := hinder(t, c)
	if said == nil {
		t.Fatal("nothing is in the way")
	}
	clear(h.netbox.fail)
	h.now = h.now.Add(retryUnkept)
	h.netbox.records[0].Description, h.netbox.records[0].LastUpdated = "mine", "later"
	for range 4 {
		if _, err := h.glanced(t, mg, time.Second); err != nil {
			t.Fatal(err)
		}
	}
	if at := h.netbox.records[0].Assigned; at == nil || at.ID != 11 || h.netbox.records[0].Description != "mine" {
		t.Errorf("%+v", h.netbox.records[0])
	}
}
