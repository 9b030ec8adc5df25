package e2e

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/test/lab"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/machine"
)

// TestBootLoop holds that a machine which never comes to begin its install gets so many scripts and no more: its claim says where it
// got to and what to raise, and it's held until somebody does.
func TestBootLoop(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	h := e.newHost(networkFirst)
	h.Machine.Inject(machine.Fault{Stage: machine.StageKernel, Action: machine.Reset})
	node := e.newNode("web", h)
	e.says(node, "BootLoop", "asked for its install script 5 times", "last stage Kernel", "raise installGeneration to 2")
	s := e.reaches(h, "a script that holds it", func(s machine.Status) bool { return s.Scripts["hold"] > 0 })
	if s.Kernels != boot.MaxOpens {
		t.Errorf("want %d boots of the installer by one grant, got %d", boot.MaxOpens, s.Kernels)
	}
	e.wantActs(h, "a boot loop", acts{Ons: 1})

	h.Machine.ClearFaults()
	e.patch(node, `{"spec":{"installGeneration":2}}`)
	e.runs(node, 2)
	e.wantActs(h, "installGeneration raised after it", acts{Installs: 1, Erased: 1, Ons: 2, Offs: 1})
}

// TestInstalledIsSeenBooting holds that a machine's own word that it's installed makes nothing Ready: it must be seen booting from
// its disk.
func TestInstalledIsSeenBooting(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	h := e.newHost()
	disk := make(chan struct{})
	h.Machine.Inject(machine.Fault{Stage: machine.StageDisk, Action: machine.Hang, Until: disk, Times: 1})
	node := e.newNode("web", h)
	e.says(node, "WaitingForDiskBoot", "generation 1 is installed", "boot from its disk")
	u := e.await(node, "installed, not Ready", lab.All(lab.Is("Installed", "True"), lab.Is("Booted", "False"), func(u *unstructured.Unstructured) bool {
		return lab.ConditionOf(u, "Ready").Status != "True"
	}))
	if phase := lab.StringOf(u, "status", "phase"); phase != "Installed" {
		t.Errorf("want phase Installed, got %q", phase)
	}
	close(disk)
	e.ready(node)
	e.installedOnce(h)
}
