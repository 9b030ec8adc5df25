package netboxipaddress

import (
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

func anything(mg *v1alpha1.NetBoxIPAddress) {
	mg.SetManagementPolicies(xpv2.ManagementPolicies{xpv2.ManagementActionAll})
}

// TestGlance is what Observe asks NetBox, beside its proof of the marker field.
func TestGlance(t *testing.T) {
	good := record(7, "10.77.0.7/24", ours)
	edited := good
	edited.Status = "reserved"
	stranger := record(7, "10.77.0.7/24", "c1/team-b/db-1/u9")
	cases := map[string]struct {
		reason string
		mg     *v1alpha1.NetBoxIPAddress
		seen   []netbox.IPAddress
		is     []netbox.IPAddress
		fail   map[string]error
		want   []string
		exists bool
		update bool
		err    bool
	}{
		"Settled": {
			reason: "Where nothing is to be done, what was seen lately is enough.",
			mg:     newAddress(named("7"), anything), seen: []netbox.IPAddress{good}, is: []netbox.IPAddress{good},
			want: []string{"Seen"}, exists: true,
		},
		"Drift": {
			reason: "What is to be written is written to the record as it is now.",
			mg:     newAddress(named("7"), anything), seen: []netbox.IPAddress{edited}, is: []netbox.IPAddress{edited},
			want: []string{"Seen", "Get"}, exists: true, update: true,
		},
		"WasDrift": {
			reason: "What has been put right since isn't written again.",
			mg:     newAddress(named("7"), anything), seen: []netbox.IPAddress{edited}, is: []netbox.IPAddress{good},
			want: []string{"Seen", "Get"}, exists: true,
		},
		"Unseen": {
			reason: "That a look didn't show it doesn't say that it's gone.",
			mg:     newAddress(named("7"), anything), is: []netbox.IPAddress{good},
			want: []string{"Seen", "Get"}, exists: true,
		},
		"Stranger": {
			reason: "Whose a record is, is told by the record as it is now.",
			mg:     newAddress(named("7"), anything), seen: []netbox.IPAddress{stranger}, is: []netbox.IPAddress{good},
			want: []string{"Seen", "Get"}, exists: true,
		},
		"Deleted": {
			reason: "What is to be released is looked at itself.",
			mg:     newAddress(named("7"), anything, deleted), seen: []netbox.IPAddress{good}, is: []netbox.IPAddress{good},
			want: []string{"Get"}, exists: true,
		},
		"Down": {
			reason: "Where a look fails, ten thousand don't each ask for themselves.",
			mg:     newAddress(named("7"), anything), fail: map[string]error{"Seen": kind(netbox.KindUnreachable)},
			want: []string{"Seen"}, err: true,
		},
		"New": {
			reason: "For what nobody asked for yet, no record is looked for: the marker is unique.",
			mg:     newAddress(anything), want: []string{"FindPrefix"},
		},
		"NewUnproven": {
			reason: "Where it isn't known that the marker is unique, its record is looked for.",
			mg:     newAddress(), want: []string{"FindByMarker", "FindPrefix"},
		},
		"SetBack": {
			reason: "What can't be made may be there, where the cluster's data was set back to before it was.",
			mg:     newAddress(anything, func(mg *v1alpha1.NetBoxIPAddress) { mg.Spec.ForProvider.From = from("10.99.0.0/24") }),
			is:     []netbox.IPAddress{good}, want: []string{"FindPrefix", "FindByMarker", "FindPrefix"}, exists: true,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			f.seen, f.records = tc.seen, tc.is
			if tc.fail != nil {
				f.fail = tc.fail
			}
			h := newHarness(f)
			h.MaxAge = time.Minute
			tc.mg.Status.AtProvider.Prefix = &v1alpha1.PrefixObservation{ID: 1, CIDR: "10.77.0.0/24"}
			o, err := h.connect(t, tc.mg).Observe(t.Context(), tc.mg)
			if (err != nil) != tc.err || o.ResourceExists != tc.exists || (tc.exists && o.ResourceUpToDate == tc.update) {
				t.Errorf("%s\nObserve(...) = %+v, %v: want exists %v, update %v, error %v", tc.reason, o, err, tc.exists, tc.update, tc.err)
			}
			if diff := cmp.Diff(append([]string{"Preflight"}, tc.want...), f.calls); diff != "" {
				t.Errorf("%s\ncalls: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestRenumbered: a backup of NetBox is restored that is older than a record, and NetBox gives its number again. The record of that number isn't what
// somebody made of ours: ours is gone, and what is there is never written to.
func TestRenumbered(t *testing.T) {
	had := func(mg *v1alpha1.NetBoxIPAddress) {
		mg.Status.AtProvider = v1alpha1.NetBoxIPAddressObservation{ID: 5, Address: "10.77.0.11/24", Marker: ours}
		mg.SetConditions(xpv2.Available())
	}
	restore := params(func(p *v1alpha1.NetBoxIPAddressParameters) { p.WhenLost = v1alpha1.LostRestore })
	aside := record(5, "10.77.0.12/24", "")
	aside.CustomFields = map[string]any{testField: nil, testNote: "c1/team-b/db-1/u9 2099-01-01T00:00:00Z"}
	aside.Status = netbox.StatusDeprecated
	persons := record(5, "10.77.0.12/24", "")
	persons.CustomFields = map[string]any{testField: nil}
	cases := map[string]struct {
		reason string
		mg     []edit
		is     netbox.IPAddress
		ready  xpv2.ConditionReason
		err    xpv2.ConditionReason
		writes []string
	}{
		"Other":     {"it's another resource's", []edit{had}, record(5, "10.77.0.12/24", "c1/team-b/db-1/u9"), v1alpha1.ReasonLost, "", nil},
		"Cluster":   {"it's another cluster's", []edit{had}, record(5, "10.77.0.12/24", "c2/team-b/db-1/u9"), v1alpha1.ReasonLost, "", nil},
		"Aside":     {"it was set aside for another one", []edit{had}, aside, v1alpha1.ReasonLost, "", nil},
		"Restore":   {"the same address is made again, by another number", []edit{had, restore}, record(5, "10.77.0.12/24", "c1/team-b/db-1/u9"), xpv2.ReasonAvailable, "", []string{"Create"}},
		"SameHost":  {"somebody marked our record over", []edit{had, restore}, record(5, "10.77.0.11/24", "c1/team-b/db-1/u9"), v1alpha1.ReasonConflict, v1alpha1.ReasonConflict, nil},
		"Person":    {"a person took our marker off, and may have given it another address", []edit{had, restore}, persons, v1alpha1.ReasonConflict, v1alpha1.ReasonConflict, nil},
		"NeverOurs": {"it's only named", []edit{restore}, record(5, "10.77.0.12/24", "c1/team-b/db-1/u9"), v1alpha1.ReasonConflict, v1alpha1.ReasonConflict, nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			f.records = []netbox.IPAddress{tc.is}
			h, mg := newHarness(f), newAddress(append([]edit{named("5"), anything}, tc.mg...)...)
			if err := h.look(t, mg); reasonOf(err) != tc.err {
				t.Fatalf("%s: %v, want %q", tc.reason, err, tc.err)
			}
			if c := mg.GetCondition(xpv2.TypeReady); c.Reason != tc.ready {
				t.Errorf("%s: %+v, want %q", tc.reason, c, tc.ready)
			}
			if diff := cmp.Diff(tc.writes, f.writes()); diff != "" {
				t.Errorf("%s: writes (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
