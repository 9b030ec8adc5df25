package e2e

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-baremetal/cluster/local/programs"
	"github.com/crossplane-contrib/provider-baremetal/test/lab"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/machine"
)

// netFirst is a machine whose firmware asks the network at each boot, so that a bootd must send it to its disk. What runs there
// reports nothing: no report can be recorded while the API is away.
func netFirst(s *lab.HostSpec) {
	s.Change = func(c *machine.Config) {
		c.BootOrder = []machine.Device{machine.Network, machine.LocalDisk}
		c.CallRetry, c.TimeScale, c.SilentOS = 10*time.Minute, 0.2, true
	}
}

// outage takes the API away and returns what brings it back, which happens at the latest when the case ends.
func (e *env) outage() (end func()) {
	e.t.Helper()
	back, err := e.Plane.Outage()
	e.must(err)
	over := false
	end = func() {
		if over {
			return
		}
		over = true
		ctx, cancel := context.WithTimeout(context.Background(), 3*soon)
		defer cancel()
		if err := back(ctx); err != nil {
			e.t.Fatalf("the API doesn't come back: %v", err)
		}
		if e.Provider.PID() != 0 {
			return
		}
		// One that lost the API may have ended; its Deployment would start it again.
		if err := e.HealProvider(ctx); err != nil {
			e.t.Fatal(err)
		}
	}
	e.t.Cleanup(end)
	return end
}

// bootsByNetwork resets a machine, waits until it runs from its disk again, where a bootd has sent it, and fails the case where it
// didn't keep its address.
func (e *env) bootsByNetwork(h *lab.Host, address string) {
	e.t.Helper()
	before := h.Machine.Status()
	e.must(h.Machine.Restart(""))
	after := e.machineIs(h, "a boot from disk by way of the network", func(s machine.Status) bool {
		return s.DiskBoots > before.DiskBoots && s.Stage == machine.StageRunning
	})
	if after.DHCP["pxe"] == before.DHCP["pxe"] || after.Scripts["local"] == before.Scripts["local"] {
		e.t.Errorf("the machine was not sent to its disk by a bootd: %+v", after.Counters)
	}
	if got := after.Lease.Address.String(); got != address {
		e.t.Errorf("want address %s kept, got %s", address, got)
	}
}

// entryOf is the BootEntry of a node.
func (e *env) entryOf(node lab.Ref) *unstructured.Unstructured {
	e.t.Helper()
	u, err := e.Get(e.t.Context(), lab.Kind("BootEntry", e.Tenant, node.Name))
	e.must(err)
	return u
}

// keptByBootds waits until all bootds have a text in the snapshot that they start from where there's no API: they write it soon, not at once.
func (e *env) keptByBootds(text string) {
	e.t.Helper()
	e.until("snapshots with "+text, func(context.Context) error {
		for _, b := range e.Bootds {
			kept, err := os.ReadFile(filepath.Join(b.State, "snapshot"))
			if err != nil || !bytes.Contains(kept, []byte(text)) {
				return fmt.Errorf("that of %s lacks it: %w", b.Name, err)
			}
		}
		return nil
	})
}

// testAPIOutage: machines that run keep their address and boot their disk, also when bootd is started anew from its snapshot; a
// granted install waits, and goes on when the API is back.
func testAPIOutage(t *testing.T) {
	t.Helper()
	e := newEnv(t)
	runs, waits := e.newHost(netFirst), e.newHost(netFirst)
	e.healsBootds()
	first := e.newNode("runs", runs)
	e.ready(first)
	address := runs.Machine.Status().Lease.Address.String()

	script := make(chan struct{})
	waits.Machine.Inject(machine.Fault{Stage: machine.StageScript, Action: machine.Hang, Until: script, Times: 1})
	second := e.newNode("waits", waits)
	e.machineAt(waits, machine.StageScript)
	e.synced() // Only the API will be missing.
	grant, _ := e.grantOf(e.entryOf(second))
	e.keptByBootds(grant)

	end := e.outage()
	e.bootsByNetwork(runs, address)
	close(script)
	e.machineIs(waits, "a hold", func(s machine.Status) bool { return s.Scripts["hold"] > 0 })
	for _, b := range e.Bootds {
		e.must(e.HealBootd(t.Context(), b)) // kill -9, and a start that finds no API.
	}
	e.bootsByNetwork(runs, address)
	held := waits.Machine.Status().Scripts["hold"]
	s := e.machineIs(waits, "more holds", func(s machine.Status) bool { return s.Scripts["hold"] > held+1 })
	if s.Kernels != 0 || s.Erased != 0 {
		t.Errorf("an install began without the API: %+v", s.Counters)
	}
	if e.Plane.Process(programs.APIServer).PID() != 0 {
		t.Error("the API was there: the case shows nothing")
	}

	end()
	e.ready(second)
	e.installs(waits, 1)
	e.ready(first)
	e.bootsByNetwork(runs, address)
	e.installs(runs, 1)
}
