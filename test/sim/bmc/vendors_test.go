package bmc_test

import (
	"maps"
	"testing"

	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
)

// TestVendorsAreTold: machines of which there's no capture are told apart by
// what their documentation shows.
func TestVendorsAreTold(t *testing.T) {
	cases := map[string]struct {
		reason                string
		root, system, manager map[string]any
		want                  string
	}{
		"Dell iDRAC10":     {reason: "17G.", root: map[string]any{"Vendor": "Dell"}, manager: map[string]any{"Model": "17G Monolithic"}, want: "Dell iDRAC10"},
		"Dell iDRAC7":      {reason: "Only its Oem tells.", root: map[string]any{"Oem": map[string]any{"Dell": map[string]any{}}}, want: "Dell iDRAC9"},
		"HPE DL160":        {reason: "By its model.", root: map[string]any{"Vendor": "HPE"}, system: map[string]any{"Model": "ProLiant DL160 Gen10"}, want: "HPE DL160"},
		"Lenovo SR675":     {reason: "By its model, too.", root: map[string]any{"Vendor": "Lenovo"}, system: map[string]any{"Model": "ThinkSystem SR675 V3"}, want: "Lenovo SR675 V3"},
		"Supermicro GB300": {reason: "An OpenBMC, whoever sells it.", root: map[string]any{"Vendor": "Supermicro"}, manager: map[string]any{"Model": "OpenBmc"}, want: "OpenBMC"},
		"DGX H100":         {reason: "AMI's, with NVIDIA's name on the machine.", root: map[string]any{"Vendor": "AMI"}, system: map[string]any{"Manufacturer": "NVIDIA"}, want: "AMI"},
		"Fujitsu":          {reason: "In its own words.", root: map[string]any{"Oem": map[string]any{"ts_fujitsu": map[string]any{}}}, want: "Fujitsu iRMC"},
		"Fsas":             {reason: "And in its new ones.", system: map[string]any{"Manufacturer": "Fsas Technologies"}, want: "Fujitsu iRMC"},
		"Nokia":            {reason: "By the machine.", system: map[string]any{"Manufacturer": "Nokia Solutions and Networks"}, want: "Nokia"},
		"Nobody":           {reason: "The standard.", want: "standard"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			set := func(with map[string]any) func(map[string]any) {
				return func(body map[string]any) { maps.Copy(body, with) }
			}
			tree := withManager(t, true).With("/redfish/v1", set(tc.root)).With(uriSystem, set(tc.system)).With(uriManager, set(tc.manager))
			if got := bmc.BehaviourOf(tree).Name; got != tc.want {
				t.Errorf("\n%s\nBehaviourOf(...): got %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}
