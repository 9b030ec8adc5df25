package bmc_test

import (
	"context"
	"testing"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/gate"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
)

// TestRequestsOfAFirstLook counts what it takes until a machine is known that was never seen: two thousand take that at a start.
func TestRequestsOfAFirstLook(t *testing.T) {
	cases := map[string]struct {
		reason string
		uuid   any
		most   int
	}{
		"Told":   {reason: "The service root, a log-in, the list, the System, its chassis.", uuid: "11111111-2222-4333-8444-555555555555", most: 5},
		"Untold": {reason: "A service root that has no UUID before the log-in may have one behind it.", most: 6},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			emu, _ := emulator(t, bmc.ModelInline, nil)
			emu.Change("/redfish/v1", func(body map[string]any) { body["UUID"] = tc.uuid })
			gates := gate.New(redfish.Connect)
			t.Cleanup(func() { gates.Close(context.WithoutCancel(t.Context())) })
			before := emu.Counters().Requests
			err := gates.Do(t.Context(), gate.Target{Config: settings(emu)}, func(ctx context.Context, c *redfish.Client) error {
				s, err := c.Find(ctx, redfish.Selector{}, "")
				if err == nil {
					s, err = c.Trace(ctx, s, redfish.Traces{Chassis: true, BMC: true})
				}
				if err == nil && (s.BMCUUID != "") != (tc.uuid != nil) {
					t.Errorf("%s\nBMC %q", tc.reason, s.BMCUUID)
				}

				return err
			})
			n := emu.Counters().Requests - before
			t.Logf("figure redfish_first_look_requests_%s %d requests", name, n)
			if err != nil || n > tc.most {
				t.Errorf("%s\n%d requests, want %d at most; %v", tc.reason, n, tc.most, err)
			}
		})
	}
}
