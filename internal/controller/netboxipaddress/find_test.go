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
