package bmc_test

import (
	"strings"
	"testing"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/quirk"
)

// TestOEMTheirs: what somebody else changed since the plan was made is left alone; one that is spelt in another way, and half of what is ours, are
// undone by what needs to be written alone.
func TestOEMTheirs(t *testing.T) {
	o := owns()["iDRAC"]
	plan := redfish.OEMPlan{Resource: o.resource, Was: []string{"Normal", "Disabled"}}
	at := func(t *testing.T, device, once string) (*rig, *redfish.Client) {
		t.Helper()
		tree, row := withOwn(t, o, noBootOrder)
		r := serveTree(t, tree.With(o.resource, ownSays(device, once)), row)
		cfg := settings(r.Server)
		cfg.Quirks = quirk.Table()

		return r, connect(t, cfg)
	}
	t.Run("Changed", func(t *testing.T) {
		r, c := at(t, "HDD", "Disabled")
		if _, err := c.SetOEM(t.Context(), system(t, c), "Pxe", plan); redfish.KindOf(err) != redfish.Refused || r.OEMBoot("1") != "HDD" {
			t.Errorf("SetOEM(...): %v; it says %q", err, r.OEMBoot("1"))
		}
	})
	t.Run("OtherLength", func(t *testing.T) {
		r, c := at(t, "PXE", "Enabled")
		short := redfish.OEMPlan{Resource: o.resource, Was: []string{"Normal"}}
		if _, err := c.SetOEM(t.Context(), system(t, c), "Pxe", short); !redfish.IsUnsupported(err) {
			t.Errorf("SetOEM(...) by another row: %v", err)
		}
		if err := c.ClearOEM(t.Context(), system(t, c), "Pxe", short); !redfish.IsUnsupported(err) || r.OEMBoot("1") != "PXE" {
			t.Errorf("ClearOEM(...) by another row: %v", err)
		}
	})
	t.Run("Beside", func(t *testing.T) {
		r, c := at(t, "PXE", "Disabled")
		_, err := c.SetBoot(t.Context(), system(t, c), redfish.BootSource{Target: "Pxe"})
		e := new(redfish.Error)
		if !cmpAs(err, &e) || e.OEM == nil || len(e.OEM.Set) != 2 {
			t.Fatalf("SetBoot(...): %v, %+v", err, e.OEM)
		}
		theirs := redfish.OEMPlan{Resource: o.resource, Was: []string{"Normal", "Auto"}, At: e.OEM.At, Set: e.OEM.Set}
		before := len(r.FullWrites())
		if err := c.ClearOEM(t.Context(), system(t, c), "Pxe", theirs); err != nil || r.OEMBoot("1") != o.rest {
			t.Errorf("ClearOEM(...): %v; it says %q", err, r.OEMBoot("1"))
		}
		for _, w := range r.FullWrites()[before:] {
			if strings.Contains(w.Body, "Auto") {
				t.Errorf("written %v, though somebody else set that beside the target", w)
			}
		}
	})
	for name, shown := range map[string][2]string{"Spelt": {"Pxe", "enabled"}, "Half": {"PXE", "Disabled"}} {
		t.Run(name, func(t *testing.T) {
			r, c := at(t, shown[0], shown[1])
			if err := c.ClearOEM(t.Context(), system(t, c), "Pxe", plan); err != nil || r.OEMBoot("1") != o.rest {
				t.Errorf("ClearOEM(...): %v; it says %q", err, r.OEMBoot("1"))
			}
			for _, w := range r.FullWrites() {
				if name == "Half" && strings.Contains(w.Body, "BootOnce") {
					t.Errorf("written %v, though it was so", w)
				}
			}
		})
	}
}
