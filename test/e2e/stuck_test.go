package e2e

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-baremetal/test/lab"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/machine"
)

// TestInstalledIsSeenBooting holds that a machine's own word that it's installed makes nothing Ready: it must be seen booting from
// its disk.
func TestInstalledIsSeenBooting(t *testing.T) {
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
