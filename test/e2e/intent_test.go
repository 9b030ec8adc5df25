package e2e

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-baremetal/test/lab"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/machine"
)

// acts are what was done to a machine so far, by whoever: what an intent leads to, and nothing else may.
type acts struct {
	// Installs that were acknowledged, and Erased: how often a first byte was written to the disk.
	Installs, Erased int
	// Ons, Offs and Resets that its BMC carried out.
	Ons, Offs, Resets int
}

func actsOf(h *lab.Host) acts {
	s, r := h.Machine.Status(), h.BMC.Counters().Resets
	a := acts{Installs: s.Installs, Erased: s.Erased, Ons: r["On"], Offs: r["ForceOff"] + r["GracefulShutdown"]}
	for kind, n := range r {
		if kind != "On" && kind != "ForceOff" && kind != "GracefulShutdown" {
			a.Resets += n
		}
	}
	return a
}

// wantActs fails the case where something else was done to a machine.
func (e *env) wantActs(h *lab.Host, when string, want acts) {
	e.t.Helper()
	if diff := cmp.Diff(want, actsOf(h)); diff != "" {
		e.t.Errorf("%s: -want what was done to %s, +got:\n%s%v", when, h.Name, diff, h.Machine.Events())
	}
}

// on is the same environment for a subtest.
func (e *env) on(t *testing.T) *env {
	t.Helper()
	sub := *e
	sub.t = t
	return &sub
}

// changed is nodeManifest with other words in it: pairs of old and new.
func changed(pairs ...string) string { return strings.NewReplacer(pairs...).Replace(nodeManifest) }

// reaches waits until a machine is as wanted.
func (e *env) reaches(h *lab.Host, what string, ok func(machine.Status) bool) machine.Status {
	e.t.Helper()
	ctx, cancel := context.WithTimeout(e.t.Context(), soon)
	defer cancel()
	s, err := h.Machine.Wait(ctx, what, ok)
	if err != nil {
		e.told = true
		e.t.Fatalf("%v\n%s", err, e.Describe(e.Tenant))
	}
	return s
}

// networkFirst is a machine whose firmware asks the network at each boot, as most in a data centre do: its boot plane must send it
// to its disk.
func networkFirst(s *lab.HostSpec) {
	s.Change = func(c *machine.Config) { c.BootOrder = []machine.Device{machine.Network, machine.LocalDisk} }
}

// bootsFromDisk resets a machine by hand and waits until it runs from its disk, where the boot plane sent it.
func (e *env) bootsFromDisk(h *lab.Host) {
	e.t.Helper()
	before := h.Machine.Status()
	e.must(h.Machine.Restart(""))
	e.reaches(h, "a boot from its disk", func(s machine.Status) bool {
		return s.DiskBoots > before.DiskBoots && s.Stage == machine.StageRunning
	})
}

// TestNothingAsked holds that generation 0 never installs: the machine is on, has its plan, and is sent to its disk.
func TestNothingAsked(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	h := e.newHost(networkFirst)
	e.apply(changed("installGeneration: 1", "installGeneration: 0"), "name", "web", "host", h.Name)
	e.ready(e.node("web"))
	e.reaches(h, "a script that sends it to its disk", func(s machine.Status) bool { return s.Scripts["local"] > 0 })
	e.wantActs(h, "generation 0", acts{Ons: 1})
	if k := h.Machine.Status().Kernels; k != 0 {
		t.Errorf("the machine started %d kernels from the network", k)
	}
}

// TestLive holds that a live profile boots from the network each time, with no grant, and leaves the disk alone.
func TestLive(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.must(e.ApplyExample(t.Context(), "kinds/bootprofile.yaml"))
	h := e.newHost()
	e.apply(nodeManifest, "name", "web", "host", h.Name, "profile", "rescue")
	node := e.node("web")
	e.ready(node)
	running := func(s machine.Status) bool { return s.Stage == machine.StageRunning }
	if s := e.reaches(h, "a system in RAM", running); s.Kernels != 1 || s.DiskBoots != 0 {
		t.Errorf("want one kernel from the network and no boot from disk, got %+v", s.Counters)
	}
	e.must(h.Machine.Restart(""))
	e.reaches(h, "a second boot from the network", func(s machine.Status) bool { return s.Kernels == 2 && running(s) })
	e.ready(node)
	e.wantActs(h, "a live profile", acts{Ons: 1})
	if s := e.await(lab.Kind("BootSession", e.Tenant, "web"), "there", func(*unstructured.Unstructured) bool { return true }); lab.StringOf(s, "spec", "grant", "id") != "" {
		t.Error("something was granted to a machine that never installs")
	}
}

// TestStoppedAndStarted holds that user data arrives, that a machine can be switched off for a weekend without losing host,
// address or Ready, and that switching it on again installs nothing.
func TestStoppedAndStarted(t *testing.T) {
	t.Parallel()
	const data = "#cloud-config\npackages: [htop, only-for-web]\n"
	e := newEnv(t)
	h := e.newHost(networkFirst)
	e.apply(`
apiVersion: v1
kind: Secret
metadata: {namespace: «tenant», name: web}
stringData: {userData: "` + strings.ReplaceAll(data, "\n", `\n`) + `"}
`)
	e.apply(changed("installGeneration: 1", "installGeneration: 1\n  userDataSecretRef: {name: web, key: userData}"), "name", "web", "host", h.Name)
	node := e.node("web")
	address := firstAddress(e.ready(node))
	s := h.Machine.Status()
	if s.Disk.UserData != data {
		t.Errorf("the machine got other user data: %q", s.Disk.UserData)
	}
	if strings.Contains(s.Script+s.Command, "only-for-web") {
		t.Error("user data is in the boot script, which anybody on the segment can read")
	}

	e.patch(node, `{"spec":{"power":"PoweredOff"}}`)
	e.await(node, "Stopped and still Ready", lab.All(lab.Field("Stopped", "status", "phase"), lab.Is("Ready", "True")))
	if h.Machine.Powered() || e.addressesOf(e.Tenant) != 1 {
		t.Errorf("want the machine off and its address held; on: %t, addresses: %d", h.Machine.Powered(), e.addressesOf(e.Tenant))
	}
	e.patch(node, `{"spec":{"power":"PoweredOn"}}`)
	again := e.await(node, "Ready again", lab.All(lab.Field("Ready", "status", "phase"), lab.Is("Ready", "True")))
	e.reaches(h, "its second boot from disk", func(s machine.Status) bool { return s.DiskBoots == 2 && s.Stage == machine.StageRunning })
	e.wantActs(h, "a weekend", acts{Installs: 1, Erased: 1, Ons: 2, Offs: 1})
	if firstAddress(again) != address {
		t.Errorf("want its address %s kept, got %s", address, firstAddress(again))
	}
}

// firstAddress of a node.
func firstAddress(node *unstructured.Unstructured) string {
	as, _, _ := unstructured.NestedSlice(node.Object, "status", "addresses")
	if len(as) == 0 {
		return ""
	}
	a, _ := as[0].(map[string]any)
	return fmt.Sprint(a["address"])
}

// TestNamespacedFlavour is the main job with a composite that has no claim in front.
func TestNamespacedFlavour(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	h := e.newHost()
	e.apply(changed("platform.baremetal.crossplane.io", "platform.baremetal.m.crossplane.io"), "name", "web", "host", h.Name)
	node := lab.Ref{APIVersion: lab.PlatformV2, Kind: "BareMetalNode", Namespace: e.Tenant, Name: "web"}
	if phase := lab.StringOf(e.ready(node), "status", "phase"); phase != "Ready" {
		t.Errorf("it's Ready in phase %q", phase)
	}
	e.wantActs(h, "the namespaced flavour", acts{Installs: 1, Erased: 1, Ons: 1})
	e.must(e.Delete(t.Context(), node))
	e.releasedWhole(h)
}

// TestSecondBoot holds that an installed machine whose firmware asks the network first is sent to its disk, whoever resets it.
func TestSecondBoot(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	h := e.newHost(networkFirst)
	node := e.newNode("web", h)
	e.ready(node)
	session, err := e.Get(t.Context(), lab.Kind("BootSession", e.Tenant, "web"))
	e.must(err)
	boot := nestedMap(session, "status", "boot")
	sent, _ := boot["bytes"].(int64)
	if boot["firmware"] != "BIOS" || boot["arch"] != "amd64" || !strings.HasPrefix(lab.StringOf(session, "status", "boot", "server"), "bootd-") || sent == 0 {
		t.Errorf("its session doesn't say what its boot was: %v", boot)
	}
	before, scripts := actsOf(h), maps.Clone(h.Machine.Status().Scripts)
	e.bootsFromDisk(h)
	e.wantActs(h, "a second boot", before)
	if got := h.Machine.Status().Scripts; got["local"] != scripts["local"]+1 || got["kernel"] != scripts["kernel"] {
		t.Errorf("want one more script, which says disk; before %v, after %v", scripts, got)
	}
	e.ready(node)
}
