package e2e

import (
	"path/filepath"
	"strconv"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-baremetal/test/lab"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/machine"
)

// revision is a resourceVersion as a number; those of one cluster are comparable.
func revision(s string) uint64 {
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// testEtcdGoesBack holds that a control plane that is put back to before a grant was used doesn't install again: bootd's own log
// knows better, the machine is sent to its disk, and the claim says what a person can do.
func testEtcdGoesBack(t *testing.T) {
	t.Helper()
	e := newEnv(t)
	h := e.newHost(networkFirst)
	resume := make(chan struct{})
	h.Machine.Inject(machine.Fault{Stage: machine.StageKernel, Action: machine.Hang, Until: resume, Times: 1})
	node := e.newNode("web", h)
	e.reaches(h, "its installer's kernel", func(s machine.Status) bool { return s.Stage == machine.StageKernel })
	session := lab.Kind("BootSession", e.Tenant, "web")
	e.await(session, "opened, not consumed", func(u *unstructured.Unstructured) bool {
		return lab.StringOf(u, "status", "openedGrantID") != "" && lab.StringOf(u, "status", "consumed", "grantID") == ""
	})
	backup := filepath.Join(t.TempDir(), "etcd")
	e.must(e.Plane.Snapshot(t.Context(), backup))
	close(resume)
	e.runs(node, 1)
	want := acts{Installs: 1, Erased: 1, Ons: 1}
	e.wantActs(h, "the install", want)

	e.must(e.Plane.Restore(t.Context(), backup))
	e.restartPrograms()
	told := e.await(session, "told again that its grant was used", func(u *unstructured.Unstructured) bool {
		return lab.StringOf(u, "status", "consumed", "grantID") != ""
	})
	for _, b := range e.Bootds {
		e.await(lab.Kind("BootServer", lab.BootNamespace, b.Name), "up to date", func(u *unstructured.Unstructured) bool {
			return revision(lab.StringOf(u, "status", "syncedRevision")) >= revision(told.GetResourceVersion())
		})
	}
	e.bootsFromDisk(h)
	e.await(node, "honest about it", func(u *unstructured.Unstructured) bool {
		return lab.Field("Interrupted", "status", "reason")(u) || lab.Field("NeedsConfirmation", "status", "phase")(u)
	})
	e.wantActs(h, "etcd's return to before the consumption", want)

	e.patch(node, `{"spec":{"installGeneration":2}}`)
	e.runs(node, 2)
	e.wantActs(h, "installGeneration raised after it", acts{Installs: 2, Erased: 2, Ons: 2, Offs: 1})
}
