package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-baremetal/test/lab"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/machine"
)

// persistent is a machine whose installer goes on trying for longer than any case lasts, as real ones do for hours.
func persistent(s *lab.HostSpec) {
	s.Change = func(c *machine.Config) { c.CallRetry = 10 * time.Minute }
}

// late is how long a claim may take that changed more often in a few seconds than Crossplane's circuit breaker likes: it's then
// looked at every half minute.
const late = 3 * time.Minute

// machineIs waits until a machine is as wanted.
func (e *env) machineIs(h *lab.Host, what string, ok func(machine.Status) bool) machine.Status {
	e.t.Helper()
	ctx, cancel := context.WithTimeout(e.t.Context(), late)
	defer cancel()
	s, err := h.Machine.Wait(ctx, what, ok)
	if err != nil {
		e.must(fmt.Errorf("%w\n%s", err, e.Describe(e.Tenant)))
	}
	return s
}

// machineAt waits until a machine has come to a stage.
func (e *env) machineAt(h *lab.Host, at machine.Stage) {
	e.t.Helper()
	e.machineIs(h, "stage "+string(at), func(s machine.Status) bool { return s.Stage == at })
}

// serverOf is the bootd that gave a machine its address, and with it the addresses of all that it loads.
func (e *env) serverOf(h *lab.Host) *lab.Bootd {
	e.t.Helper()
	server := h.Machine.Status().Lease.Server
	i := slices.IndexFunc(e.Bootds, func(b *lab.Bootd) bool { return b.Address == server })
	if i < 0 {
		e.must(fmt.Errorf("no bootd is %s", server))
	}
	return e.Bootds[i]
}

// webOf is where a machine that got its address as iPXE finds its scripts and files.
func (e *env) webOf(h *lab.Host) netip.AddrPort {
	e.t.Helper()
	u, err := url.Parse(h.Machine.Status().Lease.BootFile)
	e.must(err)
	at, err := netip.ParseAddrPort(u.Host)
	e.must(err)
	return at
}

// bootdsReturn starts all bootds anew, without failpoints.
func (e *env) bootdsReturn() {
	e.t.Helper()
	for _, b := range e.Bootds {
		e.must(e.HealBootd(e.t.Context(), b))
	}
}

// healsBootds brings the bootds back when the case ends, however it does: before the case's own objects go.
func (e *env) healsBootds() {
	e.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), soon)
		defer cancel()
		for _, b := range e.Bootds {
			if err := e.HealBootd(ctx, b); err != nil {
				e.t.Error(err)
			}
		}
	})
}

// aBootdDies starts all bootds so that they die at a failpoint, does what leads one there, and waits for its death.
func (e *env) aBootdDies(failpoint string, cause func()) {
	e.t.Helper()
	for _, b := range e.Bootds {
		e.must(e.FailBootd(b, failpoint))
	}
	cause()
	e.until("a bootd to come to failpoint "+failpoint, func(context.Context) error {
		for _, b := range e.Bootds {
			if b.PID() == 0 {
				return nil
			}
		}
		return errors.New("all run")
	})
}

// openedScripts are how often the session's grant was opened: once a boot.
func (e *env) openedScripts() int {
	e.t.Helper()
	opened, _, err := unstructured.NestedSlice(e.only("BootSession").Object, "status", "opened")
	e.must(err)
	return len(opened)
}

// testBootdDiesAroundConsumption: the boot that began goes on by its token, whichever of log and API had heard of it.
func testBootdDiesAroundConsumption(t *testing.T) {
	t.Helper()
	cases := map[string]struct {
		reason string
		// consumed says that the API knows of the consumption when bootd dies.
		consumed bool
	}{
		"bootd-before-consume": {reason: "Nothing was written: the retried begin consumes."},
		"bootd-after-log":      {reason: "The log alone knows: it's written back, and the boot that it names goes on."},
		"bootd-after-consume":  {reason: "The API knows, the machine doesn't: it's told when it asks again.", consumed: true},
	}
	for failpoint, tc := range cases {
		t.Run(failpoint, func(t *testing.T) {
			e := newEnv(t)
			h := e.newHost(persistent)
			e.healsBootds()
			var node lab.Ref
			e.aBootdDies(failpoint, func() { node = e.newNode("web", h) })
			if got := lab.StringOf(e.only("BootSession"), "status", "consumed", "grantID") != ""; got != tc.consumed {
				t.Errorf("%s: consumed in the API: %t", tc.reason, got)
			}
			if s := h.Machine.Status(); s.Callbacks["begin"] != 0 || s.Erased != 0 {
				t.Errorf("the machine was told to begin: %+v", s.Counters)
			}
			e.bootdsReturn()
			e.ready(node)
			e.installs(h, 1)
			if s, n := h.Machine.Status(), e.openedScripts(); s.Kernels != 1 || n != 1 {
				t.Errorf("%s: want the same boot to go on, got %d kernels and %d scripts", tc.reason, s.Kernels, n)
			}
		})
	}
}

// bigProfile installs an image that no socket's buffer holds.
const bigProfile = `
apiVersion: baremetal.m.crossplane.io/v1alpha1
kind: BootProfile
metadata: {namespace: «tenant», name: big}
spec:
  mode: Install
  method: DiskImage
  userDataFormat: None
  artifacts:
  - arch: amd64
    kernel: {url: "«kernel»", digest: "«kernel-digest»"}
    initrds: [{url: "«initrd»", digest: "«initrd-digest»"}]
    image: {url: "«image»", digest: "«image-digest»", format: Raw, compression: None}
`

// newBigNode claims a host that installs an image of 32 MiB.
func (e *env) newBigNode(name string, h *lab.Host) lab.Ref {
	e.t.Helper()
	const image = "big.raw"
	a := e.Artifacts
	a.Put(image, bytes.Repeat([]byte("a big disk image"), 2<<20))
	e.apply(bigProfile, "kernel", a.URL(lab.KernelFile), "kernel-digest", a.Digest(lab.KernelFile),
		"initrd", a.URL(lab.InitrdFile), "initrd-digest", a.Digest(lab.InitrdFile), "image", a.URL(image), "image-digest", a.Digest(image))
	e.apply(nodeManifest, "name", name, "host", h.Name, "profiles", e.Tenant, "profile", "big")
	return e.node(name)
}

// testBootdDiesDuringTransfers: a machine that loads its kernel, or writes its image, goes on when its bootd is back.
func testBootdDiesDuringTransfers(t *testing.T) {
	t.Helper()
	e := newEnv(t)
	h := e.newHost(persistent)
	e.healsBootds()
	kernel, image := make(chan struct{}), make(chan struct{})
	h.Machine.Inject(machine.Fault{Stage: machine.StageArtifact, Action: machine.Hang, Until: kernel, Times: 1})
	h.Machine.Inject(machine.Fault{Stage: machine.StageWriting, Action: machine.Hang, Until: image, Times: 1})
	node := e.newBigNode("web", h)

	e.machineAt(h, machine.StageArtifact)
	b := e.serverOf(h)
	e.pauses(b) // What is asked of it now is under way until it dies.
	close(kernel)
	e.until("the kernel to be asked for", func(context.Context) error { return unread(e.webOf(h)) })
	b.Kill()
	e.until("the kernel's transfer to break", func(context.Context) error { return said(h, machine.StageScript, "echo: the boot failed") })
	e.must(e.HealBootd(t.Context(), b))

	e.machineAt(h, machine.StageWriting)
	b = e.serverOf(h)
	b.Kill()
	close(image)
	e.until("the image's transfer to break", func(context.Context) error { return said(h, machine.StageWriting, "again after") })
	e.must(e.HealBootd(t.Context(), b))
	e.ready(node)
	e.installs(h, 1)
	if n := h.Machine.Status().Kernels; n != 1 {
		t.Errorf("want the same boot to go on, got %d kernels", n)
	}
}

// said returns nil when a machine's log has an event that begins so.
func said(h *lab.Host, at machine.Stage, start string) error {
	for _, x := range h.Machine.Events() {
		if x.Stage == at && strings.HasPrefix(x.Detail, start) {
			return nil
		}
	}
	return fmt.Errorf("nothing at stage %s says %q", at, start)
}

// testMachineResetAfterConsumption: an install that was interrupted isn't repeated by itself, whoever died; a person raises the
// generation, which installs once.
func testMachineResetAfterConsumption(t *testing.T) {
	t.Helper()
	e := newEnv(t)
	h := e.newHost(persistent)
	e.healsBootds()
	var node lab.Ref
	e.aBootdDies("bootd-after-consume", func() { node = e.newNode("web", h) })
	e.must(h.Machine.Restart(""))
	e.bootdsReturn()
	e.interrupted(node, 2)
	if s := h.Machine.Status(); s.Erased != 0 || s.Installs != 0 {
		t.Errorf("the machine was installed all the same: %+v", s.Counters)
	}

	e.patch(node, `{"spec":{"installGeneration":2}}`)
	e.readyLate(node)
	e.installs(h, 1)
}

// readyLate waits until a claim is Ready.
func (e *env) readyLate(node lab.Ref) {
	e.t.Helper()
	_, err := e.Await(e.t.Context(), node, "Ready", late, lab.Is("Ready", "True"))
	e.must(err)
}

// interrupted waits until a claim says that its install was interrupted, and what to raise.
func (e *env) interrupted(node lab.Ref, raise int) {
	e.t.Helper()
	u, err := e.Await(e.t.Context(), node, "interrupted", late, lab.Field("Interrupted", "status", "reason"))
	e.must(err)
	if phase := lab.StringOf(u, "status", "phase"); phase != "Failed" {
		e.t.Errorf("want phase Failed, got %q", phase)
	}
	if msg := lab.StringOf(u, "status", "message"); !strings.Contains(msg, fmt.Sprintf("raise installGeneration to %d", raise)) {
		e.t.Errorf("the message doesn't say what to raise: %q", msg)
	}
}
