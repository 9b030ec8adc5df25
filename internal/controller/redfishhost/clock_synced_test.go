package redfishhost

import (
	"strings"
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/inventory"
)

func TestShowClock(t *testing.T) {
	is := func(c inventory.Clock) inventoryOf {
		return inventoryOf{read: true, Inventory: redfish.Inventory{Clock: c}}
	}
	refused := is(inventory.Clock{})
	refused.Refused = []string{inventory.PartMACs}
	half := is(inventory.Clock{Known: true})
	half.half = true
	cases := map[string]struct {
		reason string
		inv    inventoryOf
		status corev1.ConditionStatus
		says   string
		ntp    string
	}{
		"Right":   {"As it should be.", is(inventory.Clock{Known: true, NTP: "Enabled"}), "True", "", "Enabled"},
		"Nearly":  {"Nobody is bothered for minutes.", is(inventory.Clock{Known: true, Ahead: -4 * time.Minute}), "True", "", ""},
		"NTPOff":  {"Right by chance.", is(inventory.Clock{Known: true, NTP: "Disabled"}), "True", "nothing keeps it so", "Disabled"},
		"Minutes": {"Ahead.", is(inventory.Clock{Known: true, Ahead: 11 * time.Minute}), "False", "about 10 minutes ahead of ours: ", ""},
		"Hours":   {"Behind, and nothing mends it.", is(inventory.Clock{Known: true, Ahead: -3*time.Hour - time.Minute, NTP: "Disabled"}), "False", "about 3 hours behind ours, and NTP is off there", "Disabled"},
		"Days":    {"Far behind.", is(inventory.Clock{Known: true, Ahead: -50 * 24 * time.Hour}), "False", "about 50 days behind ours", ""},
		"Years":   {"It was never set.", is(inventory.Clock{Known: true, Ahead: -56 * 365 * 24 * time.Hour}), "False", "is years behind ours", ""},
		"Silent":  {"A BMC that doesn't tell the time.", is(inventory.Clock{}), "", "", ""},
		"Unread":  {"Nothing is known yet: it stays as it was.", inventoryOf{}, "False", "as before", "Enabled"},
		"Half":    {"Nor of a half.", half, "False", "as before", "Enabled"},
		"Refused": {"Nor where the manager isn't shown.", refused, "False", "as before", "Enabled"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			h := &v1alpha1.RedfishHost{}
			h.Status.AtProvider.Identity.Serial, h.Status.AtProvider.BMC.NTP = "ABC", "Enabled"
			h.SetConditions(condition(v1alpha1.ConditionClockSynced, corev1.ConditionFalse, v1alpha1.ReasonClockSkew, "as before"))
			o := withClock(v1alpha1.RedfishHostObservation{Identity: v1alpha1.HostIdentity{Serial: "ABC"}}, h, tc.inv)
			showClock(h, tc.inv, "10.0.0.1")
			var got xpv2.Condition
			for _, c := range h.Status.Conditions {
				if c.Type == v1alpha1.ConditionClockSynced {
					got = c
				}
			}
			if got.Status != tc.status || !strings.Contains(got.Message, tc.says) || tc.says == "" && got.Message != "" || o.BMC.NTP != tc.ntp {
				t.Errorf("\n%s\nClockSynced: %s, %q, NTP %q; want %s, %q, %q", tc.reason, got.Status, got.Message, o.BMC.NTP, tc.status, tc.says, tc.ntp)
			}
		})
	}
}
