package e2e

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-baremetal/cluster/local/programs"
	"github.com/crossplane-contrib/provider-baremetal/test/lab"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/machine"
)

// profileManifest is a profile of the case's own, to edit.
const profileManifest = `
apiVersion: baremetal.m.crossplane.io/v1alpha1
kind: BootProfile
metadata: {namespace: «tenant», name: own}
spec:
  mode: Install
  method: DiskImage
  userDataFormat: CloudInit
  artifacts:
  - arch: amd64
    kernel: {url: "https://images.example/vmlinuz", digest: "sha256:6923dd1bc0460082c5d55a831908c24a282860b7f1cd6c2b79cf1bc8857c639c"}
    initrds: [{url: "https://images.example/initrd.img", digest: "sha256:6923dd1bc0460082c5d55a831908c24a282860b7f1cd6c2b79cf1bc8857c639c"}]
    image: {url: "https://images.example/disk.raw", digest: "sha256:6923dd1bc0460082c5d55a831908c24a282860b7f1cd6c2b79cf1bc8857c639c", format: Raw, compression: None}
  commandLine: ["role={{ .role }}"]
  parameters: [{name: role, default: none, pattern: "^[a-z0-9-]{1,32}$"}]
`

// newInstalled is a claimed and installed machine whose firmware asks the network first, with a profile of its own.
func (e *env) newInstalled() (lab.Ref, *lab.Host) {
	e.t.Helper()
	h := e.newHost(networkFirst)
	e.apply(profileManifest)
	e.apply(nodeManifest, "name", "web", "host", h.Name, "profiles", e.Tenant, "profile", "own")
	node := e.node("web")
	e.ready(node)
	e.reaches(h, "its system to run", func(s machine.Status) bool { return s.DiskBoots == 1 && s.Stage == machine.StageRunning })
	return node, h
}

// looked waits until function and provider have worked on a node: they carried a new parameter into its plan, which by itself
// installs nothing.
func (e *env) looked(node lab.Ref) {
	e.t.Helper()
	role := fmt.Sprintf("look-%d", numbers.Add(1))
	e.patch(node, `{"spec":{"parameters":{"role":"`+role+`"}}}`)
	e.await(lab.Kind("BootEntry", e.Tenant, node.Name), "planned anew", func(u *unstructured.Unstructured) bool {
		words, _, _ := unstructured.NestedStringSlice(u.Object, "status", "atProvider", "plan", "commandLine")
		return len(words) > 0 && words[0] == "role="+role
	})
}

// runs waits until a node's machine runs what that generation installed. The HostClaim is asked: what happens here in a moment, and
// takes minutes on real machines, can open Crossplane's circuit breaker, and then the claim is told half a minute later.
func (e *env) runs(node lab.Ref, generation int64) {
	e.t.Helper()
	want := fmt.Sprintf("generation %d is installed and runs", generation)
	_, err := e.Await(e.t.Context(), lab.Kind("HostClaim", e.Tenant, node.Name), "Ready since "+want, soon, func(u *unstructured.Unstructured) bool {
		return lab.Field("Ready", "status", "phase")(u) && strings.HasPrefix(lab.StringOf(u, "status", "message"), want)
	})
	e.must(err)
}

// testOnlyRaisingInstalls holds that raising installGeneration by one leads to one reset and one install, and that nothing else
// leads to any: each disturbance is followed by a boot over the network, which ends on the disk.
func testOnlyRaisingInstalls(t *testing.T) {
	t.Helper()
	e := newEnv(t)
	node, h := e.newInstalled()
	e.wantActs(h, "the first install", acts{Installs: 1, Erased: 1, Ons: 1})
	e.patch(node, `{"spec":{"installGeneration":2}}`)
	e.runs(node, 2)
	want := acts{Installs: 2, Erased: 2, Ons: 2, Offs: 1}
	e.wantActs(h, "installGeneration raised by one", want)

	for _, disturbance := range []struct {
		name string
		do   func(*env, lab.Ref)
	}{
		{"ProfileEdited", (*env).editProfile},
		{"AllRestarted", (*env).restartAll},
		{"StatusLost", (*env).loseStatus},
		{"SessionDeleted", func(e *env, r lab.Ref) { e.deleted(lab.Kind("BootSession", e.Tenant, r.Name)) }},
	} {
		t.Run(disturbance.name, func(t *testing.T) {
			e := e.on(t)
			disturbance.do(e, node)
			e.looked(node)
			e.bootsFromDisk(h)
			e.runs(node, 2)
			e.wantActs(h, disturbance.name, want)
		})
	}
}

// editProfile changes what the node was installed from.
func (e *env) editProfile(node lab.Ref) {
	e.t.Helper()
	e.patch(lab.Kind("BootProfile", e.Tenant, "own"), `{"spec":{"commandLine":["role={{ .role }}","edited"]}}`)
	e.await(node, "outdated", lab.All(lab.Is("Current", "False"), lab.Because("Current", "Outdated")))
}

// restartAll kills everything and starts it again: control plane, function, provider and every bootd.
func (e *env) restartAll(lab.Ref) {
	e.t.Helper()
	e.Plane.Process(programs.Crossplane).Kill()
	e.Plane.Process(programs.Controllers).Kill()
	e.must(e.Plane.Snapshot(e.t.Context(), filepath.Join(e.t.TempDir(), "etcd"))) // It kills etcd and API server, and starts all.
	e.restartPrograms()
}

// restartPrograms does so to function, provider and bootds alone.
func (e *env) restartPrograms() {
	e.t.Helper()
	e.Function.Kill()
	e.must(e.Function.Start())
	e.must(e.HealProvider(e.t.Context()))
	for _, b := range e.Bootds {
		e.must(e.HealBootd(e.t.Context(), b))
	}
}

// whole are all objects of a node, the composed ones first: what a backup holds of it.
func (e *env) whole(node lab.Ref, host *lab.Host) (out []*unstructured.Unstructured) {
	e.t.Helper()
	claim, err := e.Get(e.t.Context(), node)
	e.must(err)
	refs := []lab.Ref{
		lab.Kind("BootSession", e.Tenant, node.Name), lab.Kind("BootEntry", e.Tenant, node.Name),
		lab.Kind("NetBoxIPAddress", e.Tenant, node.Name+"-boot-ipv4"), lab.Kind("HostClaim", e.Tenant, node.Name),
	}
	if composite := lab.StringOf(claim, "spec", "resourceRef", "name"); composite != "" {
		refs = append(refs, lab.Ref{APIVersion: lab.Platform, Kind: "XBareMetalNode", Name: composite})
	}
	if host != nil {
		refs = append(refs, hostRef(host))
	}
	for _, r := range refs {
		u, err := e.Get(e.t.Context(), r)
		e.must(err)
		out = append(out, u)
	}
	return append(out, claim)
}

// saved is an object as "kubectl get -o yaml" prints it, without status and without what only one cluster knows.
func saved(u *unstructured.Unstructured) *unstructured.Unstructured {
	c := u.DeepCopy()
	delete(c.Object, "status")
	for _, field := range []string{"uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "ownerReferences"} {
		unstructured.RemoveNestedField(c.Object, "metadata", field)
	}
	return c
}

// loseStatus empties the status of all objects of a node, as a backup without it does, and shows them to their controllers as new
// ones, which look at once. Only their writers may write it.
func (e *env) loseStatus(node lab.Ref) {
	e.t.Helper()
	for _, u := range e.whole(node, e.Host(e.hosts[0])) {
		e.writeStatus(u, nil)
		u.SetResourceVersion("")
		e.must(e.Client().Patch(e.t.Context(), u, client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"annotations":{"e2e/look":"again"}}}`))))
	}
}

// confirm answers the question whether this machine is the one that is meant.
func (e *env) confirm(node lab.Ref, h *lab.Host) {
	e.t.Helper()
	e.patch(node, `{"spec":{"confirm":{"serial":"`+h.Serial+`"}}}`)
}

// asked waits until a node needs a person's confirmation, and that names what to type.
func (e *env) asked(node lab.Ref, h *lab.Host, also ...string) {
	e.t.Helper()
	e.await(node, "in need of a confirmation", func(u *unstructured.Unstructured) bool {
		said := lab.StringOf(u, "status", "message")
		for _, words := range append(also, h.Serial) {
			if !strings.Contains(said, words) {
				return false
			}
		}
		return lab.Field("NeedsConfirmation", "status", "phase")(u)
	})
}

// unconfirm takes an old confirmation away and waits until the question knows it.
func (e *env) unconfirm(node lab.Ref, h *lab.Host) {
	e.t.Helper()
	e.patch(node, `{"spec":{"confirm":null}}`)
	e.await(node, "asked afresh", func(u *unstructured.Unstructured) bool {
		said := lab.StringOf(u, "status", "message")
		return lab.Field("NeedsConfirmation", "status", "phase")(u) && strings.Contains(said, h.Serial) && !strings.Contains(said, "remove it first")
	})
}

// TestFoundOn holds that a machine that runs something nobody remembers isn't installed until a person says so, and that a
// confirmation from before the question doesn't count.
func TestFoundOn(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	h := e.newHost(networkFirst)
	e.must(h.Machine.On(""))
	e.patch(hostRef(h), `{"metadata":{"annotations":{"e2e/look":"again"}}}`)
	e.await(hostRef(h), "seen on", lab.Field("PoweredOn", "status", "atProvider", "power"))
	e.apply(changed("installGeneration: 1", "installGeneration: 1\n  confirm: {serial: "+h.Serial+"}"), "name", "web", "host", h.Name)
	node := e.node("web")
	e.asked(node, h, "remove it first")
	e.wantActs(h, "found on", acts{})
	e.unconfirm(node, h)
	e.wantActs(h, "an old confirmation", acts{})
	e.confirm(node, h)
	e.runs(node, 1)
	e.wantActs(h, "its confirmation", acts{Installs: 1, Erased: 1, Ons: 1, Offs: 1})
}

// TestSessionLost holds that a granted install whose record is gone waits for a person: the machine is held meanwhile, and goes on
// without another reset.
func TestSessionLost(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	h := e.newHost(networkFirst)
	resume := make(chan struct{})
	h.Machine.Inject(machine.Fault{Stage: machine.StageDHCP, Action: machine.Hang, Until: resume, Times: 1})
	node := e.newNode("web", h)
	e.reaches(h, "its first DHCP request", func(s machine.Status) bool { return s.Stage == machine.StageDHCP })
	e.must(e.Delete(t.Context(), lab.Kind("BootSession", e.Tenant, "web")))
	e.asked(node, h)
	close(resume)
	e.reaches(h, "a script that holds it", func(s machine.Status) bool { return s.Scripts["hold"] > 0 })
	e.wantActs(h, "a lost session", acts{Ons: 1})
	e.confirm(node, h)
	e.runs(node, 1)
	e.wantActs(h, "its confirmation", acts{Installs: 1, Erased: 1, Ons: 1})
}
