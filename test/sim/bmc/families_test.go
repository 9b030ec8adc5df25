package bmc_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
)

// TestFamilies tells a machine of each model of ours what every machine is
// told.
func TestFamilies(t *testing.T) {
	type want struct {
		Name, Rest                     string
		MACs                           []string
		Graceful, Force, Pxe, UefiHTTP redfish.Kind
		Boots                          []bmc.BootTarget
		Target, Enabled                string
	}
	two := []string{"52:54:00:00:00:01", "52:54:00:00:00:02"}
	cases := map[bmc.Model]struct {
		reason string
		want   want
	}{
		bmc.ModelInline:     {reason: "The plainest.", want: want{Name: serial, Rest: "None Disabled", MACs: two, Boots: []bmc.BootTarget{"", "Pxe"}, Target: "None", Enabled: "Disabled"}},
		bmc.ModelActionInfo: {reason: "Everything elsewhere.", want: want{Name: serial, Rest: "None Disabled", MACs: two, Boots: []bmc.BootTarget{"", "Pxe"}, Target: "None", Enabled: "Disabled"}},
		bmc.ModelTasks:      {reason: "The plainest, later.", want: want{Name: serial, Rest: "None Disabled", MACs: two, Boots: []bmc.BootTarget{"", "Pxe"}, Target: "None", Enabled: "Disabled"}},
		bmc.ModelNode: {reason: "Nothing graceful, nothing to override.", want: want{
			Name: serial, Rest: " ", MACs: two, Graceful: redfish.Unsupported, Pxe: redfish.Unsupported, UefiHTTP: redfish.Unsupported, Boots: []bmc.BootTarget{"", ""},
		}},
		bmc.ModelOpen: {reason: "No serial; it rests at the disk.", want: want{
			Name: uuid, Rest: "Hdd Continuous", MACs: two, UefiHTTP: redfish.Unsupported, Boots: []bmc.BootTarget{"", "Pxe"}, Target: "None", Enabled: "Disabled",
		}},
	}
	for _, model := range bmc.Models() {
		t.Run(string(model), func(t *testing.T) {
			tc := cases[model]
			now := time.Unix(1_800_000_000, 0)
			emu, m := emulator(t, model, func(c *bmc.Config) {
				c.Baseboard, c.Now = true, func() time.Time {
					now = now.Add(time.Minute) // Whatever takes time is over by the next request.

					return now
				}
			})
			_ = m.On(bmc.BootNormal)
			c := connect(t, settings(emu))
			s := system(t, c)
			got := want{Name: s.Name(), Rest: s.Boot.Target + " " + s.Boot.Enabled}
			inv, err := c.Inventory(t.Context(), s)
			if err != nil {
				t.Fatal(err)
			}
			for _, mac := range inv.MACs {
				got.MACs = append(got.MACs, mac.Address)
			}
			got.Graceful = redfish.KindOf(reset(t, c, redfish.ActGracefulOff))
			got.Force = redfish.KindOf(reset(t, c, redfish.ActForceOff))
			got.UefiHTTP = redfish.KindOf(c.SetBootOnce(t.Context(), system(t, c), "UefiHttp"))
			got.Pxe = redfish.KindOf(c.SetBootOnce(t.Context(), system(t, c), "Pxe"))
			if _, err := c.Reset(t.Context(), system(t, c), redfish.ActOn); err != nil {
				t.Fatal(err)
			}
			if p := system(t, c).Power; p != redfish.PowerOn {
				t.Errorf("power %q in the end", p)
			}
			got.Boots = m.Boots()
			got.Target, got.Enabled = emu.Override("1")
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestNodesShareASerial: two nodes of one chassis are told apart by their ids.
func TestNodesShareASerial(t *testing.T) {
	emu, _ := emulator(t, bmc.ModelNode, func(c *bmc.Config) {
		c.Systems = []bmc.SystemConfig{{ID: "Node0", Model: bmc.ModelNode, Serial: "SAME"}, {ID: "Node1", Model: bmc.ModelNode, Serial: "SAME"}}
	})
	c := connect(t, settings(emu))
	if _, err := c.System(t.Context(), redfish.Selector{Serial: "SAME"}); !redfish.IsAmbiguous(err) {
		t.Errorf("System by their serial: got %v, want ambiguous", err)
	}
	s, err := c.System(t.Context(), redfish.Selector{ID: "Node1"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Reset(t.Context(), s, redfish.ActOn); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]redfish.Power{"Node0": redfish.PowerOff, "Node1": redfish.PowerOn} {
		if s, err := c.System(t.Context(), redfish.Selector{ID: id}); err != nil || s.Power != want {
			t.Errorf("%s: got power %q, %v; want %q", id, s.Power, err, want)
		}
	}
}
