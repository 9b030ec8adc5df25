package e2e

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-baremetal/cluster/local/programs"
	"github.com/crossplane-contrib/provider-baremetal/test/lab"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/machine"
)

// standStill runs f while nobody but the API server and bootd works.
func (e *env) standStill(f func()) {
	e.t.Helper()
	crossplane := e.Plane.Process(programs.Crossplane)
	e.Provider.Kill()
	crossplane.Kill()
	f()
	e.must(crossplane.Start())
	e.must(e.HealProvider(e.t.Context()))
}

// vanish takes an object away as if it had never been: nobody does what its finalizers wait for.
func (e *env) vanish(u *unstructured.Unstructured) {
	e.t.Helper()
	forced := `{"metadata":{"finalizers":null}}`
	if u.GetKind() == "RedfishHost" { // A bound host isn't deleted.
		forced = `{"metadata":{"finalizers":null},"spec":{"claimRef":null}}`
	}
	e.must(e.Client().Patch(e.t.Context(), u.DeepCopy(), client.RawPatch("application/merge-patch+json", []byte(forced))))
	e.must(client.IgnoreNotFound(e.Client().Delete(e.t.Context(), u.DeepCopy())))
	e.gone(lab.RefOf(u))
}

// restore makes an object again from what was saved, with who owns which field, as backup tools do.
func (e *env) restore(u *unstructured.Unstructured) {
	e.t.Helper()
	fresh := saved(u)
	if u.GetKind() == "BootSession" {
		// It follows its BootEntry, of which there is another now: Kubernetes takes it away again.
		fresh.SetOwnerReferences(u.GetOwnerReferences())
		e.must(e.Client().Create(e.t.Context(), fresh))
		return
	}
	e.must(e.Client().Create(e.t.Context(), fresh))
	fresh.SetManagedFields(u.GetManagedFields())
	e.must(e.Client().Update(e.t.Context(), fresh))
}

// makeAnew makes all objects of a node and its host again from a backup, with other UIDs and without status.
func (e *env) makeAnew(node lab.Ref, h *lab.Host) {
	e.t.Helper()
	e.standStill(func() {
		backup := e.whole(node, h)
		for _, u := range backup {
			e.vanish(u)
		}
		for _, u := range backup {
			e.restore(u)
		}
	})
	e.gone(lab.Kind("BootSession", e.Tenant, node.Name))
}

// testRestoredWithNewUIDs holds that a backup that was restored elsewhere, where everything has other UIDs and no status, touches no
// machine: the claim asks, an answer from before doesn't count, and an answered question adopts the machine as it runs. After
// that it's an ordinary one.
func testRestoredWithNewUIDs(t *testing.T) {
	t.Helper()
	e := newEnv(t)
	node, h := e.newInstalled()
	e.confirm(node, h)
	e.await(lab.Kind("BootEntry", e.Tenant, node.Name), "confirmed beforehand", lab.Field(h.Serial, "spec", "forProvider", "confirm", "serial"))
	e.await(lab.Kind("HostClaim", e.Tenant, node.Name), "confirmed beforehand", lab.Field(h.Serial, "spec", "confirm", "serial"))
	ip := lab.Kind("NetBoxIPAddress", e.Tenant, node.Name+"-boot-ipv4")
	address, want := lab.StringOf(e.ready(ip), "status", "atProvider", "address"), actsOf(h)
	e.makeAnew(node, h)
	e.asked(node, h, "remove it first")
	// Nobody serves a machine that isn't known to be the claim's: its firmware finds no network boot and goes on to the disk.
	disk := h.Machine.Status().DiskBoots
	e.must(h.Machine.Restart(""))
	e.reaches(h, "a boot from its disk", func(s machine.Status) bool { return s.DiskBoots > disk })
	e.wantActs(h, "restored", want)
	e.unconfirm(node, h)
	e.wantActs(h, "its old confirmation", want)
	e.confirm(node, h)
	e.runs(node, 1)
	e.wantActs(h, "adopted", want)
	e.bootsFromDisk(h)
	if got := lab.StringOf(e.ready(ip), "status", "atProvider", "address"); got != address || e.addressesOf(e.Tenant) != 1 {
		t.Errorf("want its one address %s, got %s of %d", address, got, e.addressesOf(e.Tenant))
	}

	e.patch(node, `{"spec":{"installGeneration":2}}`)
	e.runs(node, 2)
	want.Installs, want.Erased, want.Ons, want.Offs = want.Installs+1, want.Erased+1, want.Ons+1, want.Offs+1
	e.wantActs(h, "installGeneration raised after the restore", want)
	e.deleted(node)
	e.releasedWhole(h)
}

// testRestoredAndDeleted holds that a claim of such a backup, deleted before anybody confirmed its machine, leaves that alone: it
// goes on running, its address stays its own, and nobody else gets it unseen.
func testRestoredAndDeleted(t *testing.T) {
	t.Helper()
	e := newEnv(t)
	node, h := e.newInstalled()
	address, want := firstAddress(e.ready(node)), actsOf(h)
	e.makeAnew(node, h)
	e.asked(node, h)
	e.deleted(node)
	e.nothingLeft() // Until then nobody has had a reason to touch the machine.
	e.wantActs(h, "a deleted claim that nobody confirmed", want)
	e.wantHeld(address)
	host, err := e.Get(t.Context(), hostRef(h))
	e.must(err)
	if !h.Machine.Powered() || lab.StringOf(host, "spec", "claimRef", "name") != node.Name {
		t.Errorf("want the machine on and its host not free: on %t, traces %v", h.Machine.Powered(), traces(host))
	}
	e.patch(hostRef(h), `{"spec":{"claimRef":null}}`) // An operator has looked.
}
