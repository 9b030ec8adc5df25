package bootspec_test

import (
	"fmt"
	"testing"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootspec"
)

// TestKnownOf: what an entry says of its machine is known whether it has a plan that counts or not.
func TestKnownOf(t *testing.T) {
	spec := v1alpha1.BootEntryParameters{
		Machine:  v1alpha1.MachineSelector{MACs: []string{"52:54:00:00:00:01", "nonsense"}},
		Networks: []v1alpha1.EntryNetwork{{Addresses: []v1alpha1.EntryAddress{{Address: "10.77.0.9/24"}, {Address: "2001:db8::9/64"}, {Ref: &v1alpha1.LocalReference{}}}}},
	}
	plan := &v1alpha1.Plan{EntryUID: "another", MACs: []string{"52:54:00:00:00:02"}, Network: v1alpha1.PlanNetwork{Address: "10.77.0.10/24"}}
	for name, tc := range map[string]struct {
		reason string
		spec   v1alpha1.BootEntryParameters
		plan   *v1alpha1.Plan
		want   string
	}{
		"New":      {"it has no plan yet", spec, nil, "[52:54:00:00:00:01] [10.77.0.9 2001:db8::9]"},
		"Restored": {"its plan is of another object", v1alpha1.BootEntryParameters{}, plan, "[52:54:00:00:00:02] [10.77.0.10]"},
		"Both":     {"spec and plan don't agree", spec, plan, "[52:54:00:00:00:01 52:54:00:00:00:02] [10.77.0.10 10.77.0.9 2001:db8::9]"},
	} {
		t.Run(name, func(t *testing.T) {
			e := &v1alpha1.BootEntry{}
			e.Spec.ForProvider, e.Status.AtProvider.Plan = tc.spec, tc.plan
			macs, addresses := bootspec.KnownOf(e)
			if got := fmt.Sprint(macs, " ", addresses); got != tc.want {
				t.Errorf("%s: %s", tc.reason, got)
			}
		})
	}
}
