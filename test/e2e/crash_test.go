package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/cluster/local/proc"
	"github.com/crossplane-contrib/provider-baremetal/test/lab"
)

// providerDies starts the provider so that it dies as by kill -9 at a failpoint, does what leads there, and waits for its death.
// Nobody starts it again but the next such call or providerReturns.
func (e *env) providerDies(failpoint string, cause func()) {
	e.t.Helper()
	e.must(e.FailProvider(failpoint))
	if cause != nil {
		cause()
	}
	e.dies(e.Provider, failpoint)
}

// dies waits for the end of a process that was started to die.
func (e *env) dies(p *proc.Process, failpoint string) {
	e.t.Helper()
	select {
	case <-p.Done():
	case <-time.After(soon):
		e.must(fmt.Errorf("%s doesn't come to failpoint %q within %s\n%s", p.Name(), failpoint, soon, e.Describe(e.Tenant)))
	}
}

// providerReturns starts the provider again, as its Deployment would.
func (e *env) providerReturns() {
	e.t.Helper()
	e.must(e.HealProvider(e.t.Context()))
}

// healsProvider brings the provider back when the case ends, however it does: before the case's own objects go.
func (e *env) healsProvider() {
	e.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), soon)
		defer cancel()
		if err := e.HealProvider(ctx); err != nil {
			e.t.Error(err)
		}
	})
}

// allocations are the requests by which NetBox gave this tenant an address.
func (e *env) allocations() int {
	n := 0
	for _, r := range e.NetBox.Requests() {
		if r.Method == http.MethodPost && r.Status == http.StatusCreated && strings.Contains(r.Body, "/"+e.Tenant+"/") {
			n++
		}
	}
	return n
}

// listOf are the tenant's objects of a kind.
func (e *env) listOf(kind string) []unstructured.Unstructured {
	e.t.Helper()
	all := &unstructured.UnstructuredList{}
	all.SetAPIVersion(lab.Baremetal)
	all.SetKind(kind + "List")
	e.must(e.Client().List(e.t.Context(), all, client.InNamespace(e.Tenant)))
	return all.Items
}

// only is the one object of a kind in the tenant.
func (e *env) only(kind string) *unstructured.Unstructured {
	e.t.Helper()
	all := e.listOf(kind)
	if len(all) != 1 {
		e.must(fmt.Errorf("want one %s, got %d", kind, len(all)))
	}
	return &all[0]
}

// grantOf reads the record of a grant from an object's annotations; "" where there is none.
func (e *env) grantOf(u *unstructured.Unstructured) (id, state string) {
	e.t.Helper()
	raw := u.GetAnnotations()[v1alpha1.AnnotationGranted]
	if raw == "" {
		return "", ""
	}
	r := v1alpha1.GrantRecord{}
	e.must(json.Unmarshal([]byte(raw), &r))
	return r.GrantID, r.State
}

// switches are what a BMC did to its machine's power.
type switches struct{ on, off, other int }

func switchesOf(h *lab.Host) switches {
	s := switches{}
	for kind, n := range h.BMC.Counters().Resets {
		switch kind {
		case "On":
			s.on += n
		case "ForceOff", "GracefulShutdown":
			s.off += n
		default:
			s.other += n
		}
	}
	return s
}

// oneOfEach fails the case where anything was done twice: an address, a reset, an install.
func (e *env) oneOfEach(h *lab.Host) {
	e.t.Helper()
	if n := e.addressesOf(e.Tenant); n != 1 {
		e.t.Errorf("want one address in NetBox, got %d", n)
	}
	if n := e.allocations(); n != 1 {
		e.t.Errorf("want one POST that made an address, got %d", n)
	}
	if got, want := switchesOf(h), (switches{on: 1}); got != want {
		e.t.Errorf("want the machine switched on once and nothing else, got %+v", got)
	}
	e.installs(h, 1)
}

// installs fails the case where a machine's disk wasn't written exactly so often.
func (e *env) installs(h *lab.Host, want int) {
	e.t.Helper()
	if s := h.Machine.Status(); s.Erased != want || s.Installs != want {
		e.t.Errorf("want %d installs, got %d, with %d erased disks: %v", want, s.Installs, s.Erased, h.Machine.Events())
	}
}

// testProviderDiesAroundNetBoxPOST: the marker travels in the POST and is looked for before another one.
func testProviderDiesAroundNetBoxPOST(t *testing.T) {
	t.Helper()
	e := newEnv(t)
	h := e.newHost()
	e.healsProvider()
	var node lab.Ref
	e.providerDies("netboxipaddress.create.before", func() { node = e.newNode("web", h) })
	if n := e.allocations(); n != 0 {
		t.Errorf("an address was made before the provider was about to ask for it: %d", n)
	}
	e.providerDies("netbox-after-post", nil)
	if n := e.allocations(); n != 1 {
		t.Errorf("want one address made by a provider that died before it knew, got %d", n)
	}
	if name := e.only("NetBoxIPAddress").GetAnnotations()["crossplane.io/external-name"]; name != "" {
		t.Errorf("the address was recorded already, as %q: the case shows nothing", name)
	}
	e.providerReturns()
	e.ready(node)
	e.oneOfEach(h)
}

// testProviderDiesAroundGrant: a grant is decided by a record with its id, and written with that id by whoever comes back.
func testProviderDiesAroundGrant(t *testing.T) {
	t.Helper()
	e := newEnv(t)
	h := e.newHost()
	e.healsProvider()
	var node lab.Ref
	e.providerDies("grant-before-write", func() { node = e.newNode("web", h) })
	decided, state := e.grantOf(e.only("BootEntry"))
	if decided == "" || state != v1alpha1.GrantIssuing {
		t.Errorf("want a grant that is decided and not written, got %q, %q", decided, state)
	}
	if id := lab.StringOf(e.only("BootSession"), "spec", "grant", "id"); id != "" {
		t.Errorf("grant %q was written before the provider was about to", id)
	}
	e.providerDies("grant-after-write", nil)
	if id := lab.StringOf(e.only("BootSession"), "spec", "grant", "id"); id != decided {
		t.Errorf("want grant %q, which was decided, got %q", decided, id)
	}
	if _, state := e.grantOf(e.only("BootEntry")); state != v1alpha1.GrantIssuing {
		t.Errorf("the grant was recorded as written already: the case shows nothing, state %q", state)
	}
	e.providerReturns()
	e.ready(node)
	if used := lab.StringOf(e.only("BootSession"), "status", "consumed", "grantID"); used != decided {
		t.Errorf("want the one grant %q used, got %q", decided, used)
	}
	e.oneOfEach(h)
}

// maxCalls of a BMC are more than a boot or a reset takes.
const maxCalls = 8

// testProviderDiesAroundBMCCalls: what is about to be done stands in the journal, and what was done is seen.
func testProviderDiesAroundBMCCalls(t *testing.T) {
	t.Helper()
	e := newEnv(t)
	h := e.newHost()
	e.healsProvider()
	host := lab.Kind("RedfishHost", lab.InfraNamespace, h.Name)
	node := e.node("web")

	// The install: the provider dies after each call, until the machine was switched on.
	e.providerDies("redfish-before-call", func() { e.newNode("web", h) })
	if c := h.BMC.Counters(); c.Patches != 0 || len(c.Resets) != 0 {
		t.Errorf("the BMC was asked before the provider was about to: %+v", c)
	}
	e.diesAfterCalls(h, func(s switches) bool { return s.on == 1 })
	e.providerReturns()
	e.ready(node)
	e.oneOfEach(h)

	// One reset that the operator asks for: off, and on again.
	e.providerDies("redfish-before-call", func() { e.patch(host, `{"spec":{"forProvider":{"resetGeneration":1}}}`) })
	if got, want := switchesOf(h), (switches{on: 1}); got != want {
		t.Errorf("the machine was reset before the provider was about to: %+v", got)
	}
	e.diesAfterCalls(h, func(s switches) bool { return s.on == 2 })
	e.providerReturns()
	e.await(host, "reset", func(u *unstructured.Unstructured) bool {
		n, _, err := unstructured.NestedInt64(u.Object, "status", "atProvider", "boot", "resetGeneration")
		return err == nil && n == 1
	})
	if got, want := switchesOf(h), (switches{on: 2, off: 1}); got != want {
		t.Errorf("want one reset, got %+v", got)
	}
	e.until("the machine to run from its disk again", func(context.Context) error {
		if s := h.Machine.Status(); s.DiskBoots != 2 {
			return fmt.Errorf("%d boots from disk", s.DiskBoots)
		}
		return nil
	})
	e.ready(node)
	e.installs(h, 1)
}

// diesAfterCalls lets the provider die after each call to the BMC, before its result is recorded, until enough was done.
func (e *env) diesAfterCalls(h *lab.Host, enough func(switches) bool) {
	e.t.Helper()
	for range maxCalls {
		e.providerDies("redfish-after-call", nil)
		if enough(switchesOf(h)) {
			return
		}
	}
	e.must(fmt.Errorf("%d calls of the BMC led to %+v", maxCalls, switchesOf(h)))
}
