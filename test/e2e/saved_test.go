package e2e

import (
	"context"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-baremetal/cluster/local"
	"github.com/crossplane-contrib/provider-baremetal/test/lab"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/machine"
)

// writer is who may write the status of an object; anybody else is refused.
func (e *env) writer(u *unstructured.Unstructured) client.Client {
	e.t.Helper()
	switch u.GetKind() {
	case "BootSession":
		return e.serviceAccount(lab.BootNamespace, lab.BootdName)
	case "XBareMetalNode", "BareMetalNode":
		return e.Client()
	}
	return e.serviceAccount(local.CrossplaneNamespace, lab.ProviderName)
}

// putBack replaces objects by what was saved of them: whatever was written down since is gone, as after "kubectl replace", and of their status, too, where
// that's to be replaced. The provider leaves entries alone meanwhile: it would write down again, from what wasn't replaced yet, just what is to be gone.
func (e *env) putBack(backup []*unstructured.Unstructured, status bool) {
	e.t.Helper()
	const key = meta.AnnotationKeyReconciliationPaused
	var paused []lab.Ref
	for _, u := range backup {
		if r := lab.RefOf(u); u.GetKind() == "BootEntry" {
			e.patch(r, `{"metadata":{"annotations":{"`+key+`":"true"}}}`)
			e.await(r, "left alone", func(u *unstructured.Unstructured) bool {
				return lab.ConditionOf(u, "Synced").Reason == "ReconcilePaused"
			})
			paused = append(paused, r)
		}
	}
	for _, u := range backup {
		r, old := lab.RefOf(u), saved(u)
		if u.GetKind() == "BootEntry" {
			meta.AddAnnotations(old, map[string]string{key: "true"})
		}
		e.until(r.String()+" to be replaced", func(ctx context.Context) error {
			now, err := e.Get(ctx, r)
			if err != nil {
				return err
			}
			old.SetResourceVersion(now.GetResourceVersion())
			old.SetOwnerReferences(now.GetOwnerReferences())
			return e.Client().Update(ctx, old)
		})
	}
	if status {
		e.putStatusBack(backup)
	}
	for _, r := range paused {
		e.patch(r, `{"metadata":{"annotations":{"`+key+`":null}}}`)
	}
}

// putStatusBack does the same to their status.
func (e *env) putStatusBack(backup []*unstructured.Unstructured) {
	e.t.Helper()
	for _, u := range backup {
		e.writeStatus(u, u.Object["status"])
	}
}

// writeStatus replaces an object's status, as the only one who may. Without one, there's none any more.
func (e *env) writeStatus(u *unstructured.Unstructured, status any) {
	e.t.Helper()
	r := lab.RefOf(u)
	writer := e.writer(u)
	e.until("the status of "+r.String()+" to be replaced", func(ctx context.Context) error {
		now, err := e.Get(ctx, r)
		if err != nil {
			return err
		}
		delete(now.Object, "status")
		if status != nil {
			now.Object["status"] = status
		}
		return writer.Status().Update(ctx, now)
	})
}

// TestAppliedAsSaved holds that objects which were saved when an install was granted and not used yet, and are applied after it, lead
// to no second one: without their status, and with it.
func TestAppliedAsSaved(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	h := e.newHost(networkFirst)
	kernel := make(chan struct{})
	h.Machine.Inject(machine.Fault{Stage: machine.StageKernel, Action: machine.Hang, Until: kernel, Times: 1})
	e.apply(profileManifest)
	e.apply(nodeManifest, "name", "web", "host", h.Name, "profiles", e.Tenant, "profile", "own")
	node := e.node("web")
	e.reaches(h, "its installer's kernel", func(s machine.Status) bool { return s.Stage == machine.StageKernel })
	session := e.await(lab.Kind("BootSession", e.Tenant, "web"), "opened", func(u *unstructured.Unstructured) bool {
		return lab.StringOf(u, "status", "openedGrantID") != ""
	})
	if lab.StringOf(session, "spec", "grant", "id") == "" || lab.StringOf(session, "status", "consumed", "grantID") != "" {
		t.Error("what is saved isn't an install that is granted and not used: the case shows nothing")
	}
	backup := e.whole(node, h)
	close(kernel)
	e.runs(node, 1)
	want := acts{Installs: 1, Erased: 1, Ons: 1}

	e.putBack(backup, false)
	e.looked(node)
	e.bootsFromDisk(h)
	e.runs(node, 1)
	e.wantActs(h, "applied without status", want)

	e.putBack(backup, true)
	e.await(lab.Kind("BootSession", e.Tenant, "web"), "told again that its grant was used", func(u *unstructured.Unstructured) bool {
		return lab.StringOf(u, "status", "consumed", "grantID") != ""
	})
	e.looked(node)
	e.bootsFromDisk(h)
	e.says(node, "Interrupted", "raise installGeneration to 2")
	e.wantActs(h, "applied with status", want)

	e.patch(node, `{"spec":{"installGeneration":2}}`)
	e.runs(node, 2)
	e.wantActs(h, "installGeneration raised after it", acts{Installs: 2, Erased: 2, Ons: 2, Offs: 1})
}
