package vm_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/test/lab"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
	"github.com/crossplane-contrib/provider-baremetal/test/vm"
)

// rack is a rack of a test.
type rack struct {
	*vm.Rack

	t *testing.T
}

// machine is a host and the claim that asks for it.
type machine struct {
	*vm.Host

	claim lab.Ref
}

func newRack(t *testing.T) *rack {
	t.Helper()
	a := artifacts(t)
	r, err := vm.New(t.Context(), vm.Options{StateDir: stateDir(t), Say: func(s string) { t.Log(s) }, Artifacts: &a})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Stop)
	return &rack{r, t}
}

func (r *rack) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatalf("%v\n%s", err, r.SerialPorts())
	}
}

// TestClaimToReadyOnRealFirmware is the main job, by the demo's own examples, with SeaBIOS and iPXE, and with OVMF's own PXE
// client. Both machines go their way at once.
func TestClaimToReadyOnRealFirmware(t *testing.T) {
	needMachines(t)
	t.Parallel()
	r := newRack(t)
	r.must(r.Fill(t.Context()))
	r.must(r.ApplyExample(t.Context(), vm.Claims))
	claimed := time.Now()
	bios := machine{r.Host("r7-bios"), lab.Node("team-a", "web-1")}
	uefi := machine{r.Host("r7-uefi"), lab.Node("team-b", "db-1")}
	machines := []machine{bios, uefi}
	for _, m := range machines {
		_, err := r.Await(t.Context(), m.claim, "Ready", patience, lab.Is("Ready", "True"))
		r.must(err)
		t.Logf("%s: Ready %.0f s after the last claim", m.Name, time.Since(claimed).Seconds())
		r.installedOnce(m, 1)
		if !strings.Contains(m.Machine.Serial(), "GUEST user data: ") {
			t.Errorf("%s: the installer fetched no user data", m.Name)
		}
		if got := diskDigest(t, m.Machine, r.Image.Size); got != r.Image.Digest {
			t.Errorf("%s: the disk holds %s, the image is %s", m.Name, got, r.Image.Digest)
		}
	}
	// As an operator would at the machines; the one with BIOS asks bootd, which sends it to its disk.
	r.must(uefi.Machine.Restart(bmc.BootNormal))
	r.must(bios.Machine.Restart(bmc.BootPxe))
	r.runsItsDisk(machines, 2)
	for _, m := range machines {
		r.must(r.Delete(t.Context(), m.claim))
	}
	for _, m := range machines {
		r.must(r.AwaitGone(t.Context(), m.claim, patience))
		// A claim may be gone before what was made for it: the garbage collector of a young cluster doesn't know these kinds yet.
		r.must(r.Until(t.Context(), m.Name+" to be off", patience, func(context.Context) error {
			if m.Machine.Powered() {
				return errors.New("it's still on after its claim has gone")
			}
			return nil
		}))
	}
}

// installedOnce counts on the serial port what the machine did.
func (r *rack) installedOnce(m machine, diskBoots int) {
	r.t.Helper()
	s := m.Machine.Serial()
	installs, boots := strings.Count(s, "GUEST installed\n"), strings.Count(s, "GUEST running from disk")
	if installs != 1 || boots != diskBoots || m.Machine.Starts() != 1 {
		r.t.Errorf("%s: %d installs, %d boots from disk, %d power-ons; want 1, %d, 1", m.Name, installs, boots, m.Machine.Starts(), diskBoots)
	}
}

// runsItsDisk waits until each machine has run from its disk that often, and still was installed once.
func (r *rack) runsItsDisk(machines []machine, diskBoots int) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), patience)
	defer cancel()
	for _, m := range machines {
		r.must(m.Machine.WaitSerial(ctx, "GUEST running from disk", diskBoots))
		r.installedOnce(m, diskBoots)
	}
}
