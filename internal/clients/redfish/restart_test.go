package redfish

import "testing"

// TestRestartNeverSent: a BMC that doesn't even show its managers wasn't told to restart, which is what one that needs it may do.
func TestRestartNeverSent(t *testing.T) {
	const manager = `{"Actions":{"#Manager.Reset":{"target":"/redfish/v1/Managers/1/Actions/Manager.Reset"}}}`
	cases := map[string]struct {
		reason string
		bmc    aBMC
		system System
		unsent bool
	}{
		"List":    {reason: "Its managers aren't told.", bmc: aBMC{"GET /redfish/v1/Managers": {status: 500}}, unsent: true},
		"Manager": {reason: "The one that is known isn't shown.", bmc: aBMC{"GET /redfish/v1/Managers/1": {status: 503}}, system: System{managers: []string{"/redfish/v1/Managers/1"}}, unsent: true},
		"NoList":  {reason: "It answers that there are none: that counts.", bmc: aBMC{"GET /redfish/v1/Managers": {status: 404}}},
		"Sent": {reason: "It was told, and nobody knows what it did.", bmc: aBMC{
			"GET /redfish/v1/Managers/1": {body: manager}, "POST /redfish/v1/Managers/1/Actions/Manager.Reset": {status: 500},
		}, system: System{managers: []string{"/redfish/v1/Managers/1"}}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if tc.bmc["GET /redfish/v1/"].body == "" {
				tc.bmc["GET /redfish/v1/"] = aBMC{"root": {body: "{}"}}["root"]
			}
			if err := connectTo(t, tc.bmc).ResetBMC(t.Context(), tc.system); err == nil || IsUnsent(err) != tc.unsent {
				t.Errorf("%s\nResetBMC(...): %v, unsent %t", tc.reason, err, IsUnsent(err))
			}
		})
	}
}
