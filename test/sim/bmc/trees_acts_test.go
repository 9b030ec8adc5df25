package bmc_test

import (
	"testing"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
)

// deed is one thing that a machine is told, and what it must come to.
type deed struct {
	name string
	do   func(*redfish.Client, redfish.System) error
	// came says whether the machine behind the System and its BMC are as wanted.
	came func(r *rig, id string) bool
}

func power(t *testing.T, act redfish.Act, on bool) deed {
	t.Helper()

	return deed{
		name: string(act),
		do: func(c *redfish.Client, s redfish.System) error {
			_, err := c.Reset(t.Context(), s, act)

			return err
		},
		came: func(r *rig, id string) bool { return r.machines[id].Powered() == on },
	}
}

func bootOnce(t *testing.T, target bmc.BootTarget) deed {
	t.Helper()

	return deed{
		name: "Once " + string(target),
		do:   func(c *redfish.Client, s redfish.System) error { return c.SetBootOnce(t.Context(), s, string(target)) },
		came: func(r *rig, id string) bool {
			got, enabled := r.Override(id)

			return (got == string(target) || target == bmc.BootCd && got == "CD/DVD" || got == "UefiBootNext") && enabled == "Once"
		},
	}
}

// deeds are in an order in which each finds the machine as it needs it.
func deeds(t *testing.T) []deed {
	t.Helper()
	out := []deed{
		power(t, redfish.ActRestart, true), power(t, redfish.ActGracefulOff, false), power(t, redfish.ActOn, true),
		power(t, redfish.ActOn, true), power(t, redfish.ActForceOff, false), power(t, redfish.ActForceOff, false), power(t, redfish.ActOn, true),
	}
	for _, target := range []bmc.BootTarget{bmc.BootPxe, bmc.BootUefiHTTP, bmc.BootHdd, bmc.BootCd, bmc.BootBiosSetup} {
		out = append(out, bootOnce(t, target))
	}

	return append(out, deed{
		name: "Clear", do: func(c *redfish.Client, s redfish.System) error { return c.ClearBoot(t.Context(), s, "") },
		came: func(r *rig, id string) bool {
			target, enabled := r.Override(id)

			return target == "" || target == "None" || enabled == "Disabled"
		},
	})
}

// TestTreesObey tells the host of every tree all that the client can tell: what
// the machine offers comes true, and what it doesn't is refused without a write.
func TestTreesObey(t *testing.T) {
	for name, dir := range captured(t) {
		t.Run(name, func(t *testing.T) {
			r := serve(t, dir)
			c := connect(t, settings(r.Server))
			for _, id := range r.Systems() {
				for _, d := range deeds(t) {
					r.later()
					s, err := c.System(t.Context(), redfish.Selector{ID: id})
					if redfish.IsNotFound(err) { // The capture has no list of Systems.
						s, err = c.SystemAt(t.Context(), r.SystemURI(id))
					}
					if err != nil {
						t.Fatalf("System(%q): %v", id, err)
					}
					writes := len(r.FullWrites())
					err = d.do(c, s)
					wrote := r.FullWrites()[writes:]
					switch {
					case redfish.IsUnsupported(err) && len(wrote) > 0:
						t.Errorf("%s %s: refused (%v) after writing %v", id, d.name, err, wrote)
					case redfish.IsUnsupported(err):
						t.Logf("%s %s: %v", id, d.name, err)
						r.settle(d.name, id)
					case err != nil:
						t.Errorf("%s %s: %v, having written %v", id, d.name, err, wrote)
					case !d.came(r, id):
						target, enabled := r.Override(id)
						t.Errorf("%s %s: accepted, but powered %v, override %s %s; written %v", id, d.name, r.machines[id].Powered(), target, enabled, wrote)
					case len(wrote) > 1:
						t.Logf("%s %s: works with %d writes: %v", id, d.name, len(wrote), wrote)
					}
				}
			}
		})
	}
}

// settle brings a machine where a refused power action would have.
func (r *rig) settle(name, id string) {
	if name == string(redfish.ActGracefulOff) || name == string(redfish.ActForceOff) {
		_ = r.machines[id].Off(false)
	}
}
