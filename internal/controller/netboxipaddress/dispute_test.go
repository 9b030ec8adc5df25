package netboxipaddress

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// TestDisputed: a record that isn't a resource's own any more costs no request of its own at each look, until somebody changes something.
func TestDisputed(t *testing.T) {
	mark := func(marker string) func(*harness, *v1alpha1.NetBoxIPAddress) {
		return func(h *harness, _ *v1alpha1.NetBoxIPAddress) {
			fields := maps.Clone(h.netbox.records[0].CustomFields)
			fields[testField] = marker
			h.netbox.records[0].CustomFields = fields
		}
	}
	cases := map[string]struct {
		reason string
		marker string
		end    func(*harness, *v1alpha1.NetBoxIPAddress)
		// gets is how often it's read after that, in one look, and ready whether it's ours again.
		gets  int
		ready bool
	}{
		"Other":     {"another resource has it", "c1/team-b/x/u9", func(*harness, *v1alpha1.NetBoxIPAddress) {}, 0, false},
		"Twin":      {"a copy of this one has it", "c1/team-a/web-1/u2", func(*harness, *v1alpha1.NetBoxIPAddress) {}, 0, false},
		"Cluster":   {"another cluster has it, of whose records the look at all shows none", "c2/team-b/x/u9", func(*harness, *v1alpha1.NetBoxIPAddress) {}, 0, false},
		"Nobody":    {"nobody has it", "", func(*harness, *v1alpha1.NetBoxIPAddress) {}, 0, false},
		"GivenBack": {"it's given back", "c1/team-a/web-1/u2", mark(ours), 0, true},
		"Found":     {"so it is where the look at all didn't show it", "", mark(ours), 0, true},
		"FoundEdited": {"also where it was edited by who gave it back", "", func(h *harness, mg *v1alpha1.NetBoxIPAddress) {
			mark(ours)(h, mg)
			h.netbox.records[0].Status = "deprecated"
		}, 1, true},
		"Cleared": {"its marker is cleared", "c1/team-a/web-1/u2", mark(""), 1, false},
		"Third":   {"a third one has it", "c1/team-b/x/u9", mark("c1/team-b/y/u8"), 1, false},
		"Edited":  {"somebody edited it", "c1/team-b/x/u9", func(h *harness, _ *v1alpha1.NetBoxIPAddress) { h.netbox.records[0].LastUpdated = "later" }, 1, false},
		"Webhook": {"NetBox tells of it", "", func(h *harness, mg *v1alpha1.NetBoxIPAddress) { h.doubt(mg.GetUID()) }, 1, false},
		"Spec": {"spec says that it may be adopted", "", func(_ *harness, mg *v1alpha1.NetBoxIPAddress) {
			mg.Spec.ForProvider.Adopt, mg.Generation = v1alpha1.AdoptExternalName, 2
		}, 1, true},
		"Later": {"it's long ago", "", func(h *harness, _ *v1alpha1.NetBoxIPAddress) { h.now = h.now.Add(longestAge) }, 1, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			h, mg := newHarness(newFake()), newAddress(anything)
			if err := h.settle(t, mg); err != nil {
				t.Fatal(err)
			}
			h.MaxAge = maxAge(time.Minute)
			mark(tc.marker)(h, mg)
			if _, err := h.glanced(t, mg, time.Second); reasonOf(err) != v1alpha1.ReasonConflict {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			for range 3 {
				calls, err := h.glanced(t, mg, 15*time.Second)
				if diff := cmp.Diff(quiet(), calls); diff != "" || reasonOf(err) != v1alpha1.ReasonConflict {
					t.Errorf("%s: %v, and each look asks for more (-want +got):\n%s", tc.reason, err, diff)
				}
			}
			tc.end(h, mg)
			calls, err := h.glanced(t, mg, time.Second)
			gets := len(slices.DeleteFunc(slices.Clone(calls), func(c string) bool { return c != "Get" }))
			if gets != tc.gets || (err == nil) != tc.ready {
				t.Errorf("%s: then %v, after %v", tc.reason, err, calls)
			}
		})
	}
}

// TestUnplaced: who waits for a device that nobody has made yet looks for it each time, and where a thousand do, each the less often.
func TestUnplaced(t *testing.T) {
	f := newFake()
	h, mg := newHarness(f), newAddress(anything, assignTo(onDevice("r7-u99", "eno1", v1alpha1.UsePrimary)))
	h.MaxAge = maxAge(time.Minute)
	asked := func() (n int) {
		h.now = h.now.Add(15 * time.Second)
		f.calls = nil
		if err := h.reconcile(t, mg); err != nil || mg.GetCondition(xpv2.TypeReady).Reason != v1alpha1.ReasonNotFound {
			t.Fatalf("%v, %+v", err, mg.GetCondition(xpv2.TypeReady))
		}
		for _, c := range f.calls {
			if c == "FindHolder" {
				n++
			}
		}
		return n
	}
	for range 2 {
		if asked() != 1 {
			t.Errorf("alone: %v", f.calls)
		}
	}
	for i := range 1000 {
		h.unplaced.put(types.UID(fmt.Sprint(i)), failure{of: h.cfg.UID})
	}
	n := 0
	for range 4 * 10 {
		n += asked()
	}
	if n < 2 || n > 3 {
		t.Errorf("among a thousand, %d times in ten minutes", n)
	}
	mg.Spec.ForProvider.AssignTo.Device.Name, mg.Generation = "r7-u98", 2
	if asked() != 1 {
		t.Errorf("another device isn't looked for: %v", f.calls)
	}
	f.rack.holders = append(f.rack.holders, netbox.Holder{Kind: netbox.Device, ID: 9, Name: "r7-u98"})
	f.rack.interfaces = append(f.rack.interfaces, netbox.Interface{Place: netbox.Place{Kind: netbox.Device, ID: 99, Name: "eno1", Holder: 9, HolderName: "r7-u98"}})
	h.now = h.now.Add(h.patience(1001))
	if err := h.reconcile(t, mg); err != nil || len(f.records) != 1 {
		t.Errorf("it's there by now: %v, %v", err, f.records)
	}
}
