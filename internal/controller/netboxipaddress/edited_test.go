package netboxipaddress

import (
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// TestFromEdited: a record whose answer was lost is kept where from was edited before it was found, and only for that.
func TestFromEdited(t *testing.T) {
	vrf := &netbox.VRF{ID: 3, Name: "prod"}
	elsewhere := record(7, "10.77.0.7/24", ours)
	elsewhere.VRF = vrf
	cases := map[string]struct {
		reason string
		edit   func(*v1alpha1.NetBoxIPAddress)
		found  netbox.IPAddress
		want   xpv2.ConditionReason
	}{
		"Edited":      {"it was asked for from elsewhere", params(func(p *v1alpha1.NetBoxIPAddressParameters) { p.From = from("10.78.0.0/24") }), record(7, "10.77.0.7/24", ours), ""},
		"EditedTwice": {"where is no matter", params(func(p *v1alpha1.NetBoxIPAddressParameters) { p.From = from("10.79.0.0/24") }), record(7, "10.77.0.7/24", ours), ""},
		"Other":       {"another edit says nothing of where it's from", params(func(p *v1alpha1.NetBoxIPAddressParameters) { p.Description = new("x") }), record(7, "10.78.0.7/24", ours), v1alpha1.ReasonConflict},
		"Table":       {"a table is never by accident", params(func(p *v1alpha1.NetBoxIPAddressParameters) { p.From = from("10.78.0.0/24") }), elsewhere, v1alpha1.ReasonConflict},
	}
	for name, tc := range cases {
		for _, late := range []bool{false, true} {
			t.Run(name+map[bool]string{true: "Late"}[late], func(t *testing.T) {
				f := newFake()
				f.prefixes = append(f.prefixes, inPrefix(3, "10.79.0.0/24"))
				h, mg := newHarness(f), newAddress(managedBy(xpv2.ManagementActionAll))
				meta.SetExternalCreatePending(mg, time.Now())
				f.fail["Allocate"] = kind(netbox.KindUnknownOutcome)
				if err := h.look(t, mg); reasonOf(err) != v1alpha1.ReasonUnreachable {
					t.Fatal(err)
				}
				mg.Generation++
				tc.edit(mg)
				e := h.connect(t, mg)
				if !late {
					f.records = []netbox.IPAddress{tc.found}
				}
				o, err := e.Observe(t.Context(), mg)
				if late && err == nil { // It comes while it's asked for again.
					f.records, f.fail["Allocate"] = []netbox.IPAddress{tc.found}, kind(netbox.KindMarkerTaken)
					_, err = e.Create(t.Context(), mg)
				}
				if reasonOf(err) != tc.want || !late && tc.want == "" && !o.ResourceExists {
					t.Fatalf("%s: %v, %+v, want %q", tc.reason, err, o, tc.want)
				}
				if tc.want != "" {
					return
				}
				if err := h.reconcile(t, mg); err != nil || meta.GetExternalName(mg) != "7" {
					t.Errorf("%s: %v, named %q", tc.reason, err, meta.GetExternalName(mg))
				}
				if c := mg.GetCondition(xpv2.TypeReady); !strings.Contains(c.Message, "which spec.forProvider.from doesn't name any more: it stays") {
					t.Errorf("%s: %+v", tc.reason, c)
				}
			})
		}
	}
}
