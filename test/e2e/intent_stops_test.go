package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-baremetal/test/lab"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/netbox"
)

// TestProtectionRefuses holds that a protected node isn't deleted by mistake, and that the refusal says why.
func TestProtectionRefuses(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	h := e.newHost()
	e.apply(changed("installGeneration: 1", "installGeneration: 0\n  protection: {reason: production database}"), "name", "web", "host", h.Name)
	node := e.node("web")
	e.ready(node)
	err := e.Delete(t.Context(), node)
	if !kerrors.IsForbidden(err) || !strings.Contains(err.Error(), "production database") {
		t.Errorf("want a refusal that gives the reason, got %v", err)
	}
	if u := e.ready(node); u.GetDeletionTimestamp() != nil || !h.Machine.Powered() {
		t.Error("it was deleted all the same")
	}
	e.patch(node, `{"spec":{"protection":null}}`)
	e.deleted(node)
	e.releasedWhole(h)
}

// upToDate accepts an object whose controller has looked at its newest spec, and did what it may.
func upToDate(reason string) lab.Check {
	return func(u *unstructured.Unstructured) bool {
		all, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
		for _, c := range all {
			m, _ := c.(map[string]any)
			seen, _ := m["observedGeneration"].(int64)
			if m["type"] == "Synced" && m["reason"] == reason && seen >= u.GetGeneration() {
				return true
			}
		}
		return false
	}
}

// stops are the two ways in which a person stops all writes to what an object stands for: how it's said, what Synced then says,
// and how it's taken back.
var stops = map[string]struct{ stop, synced, resume string }{
	"Observe": {`{"spec":{"managementPolicies":["Observe"]}}`, "ReconcileSuccess", `{"spec":{"managementPolicies":["*"]}}`},
	"Paused": {
		`{"metadata":{"annotations":{"crossplane.io/paused":"true"}}}`, "ReconcilePaused",
		`{"metadata":{"annotations":{"crossplane.io/paused":null}}}`,
	},
}

// TestStopsWritesToNetBox holds that an address that is observed or paused isn't written to NetBox, and is once it may be.
func TestStopsWritesToNetBox(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	address := lab.Kind("NetBoxIPAddress", e.Tenant, "vip")
	e.apply(`
apiVersion: baremetal.m.crossplane.io/v1alpha1
kind: NetBoxIPAddress
metadata: {namespace: «tenant», name: vip}
spec:
  providerConfigRef: {kind: ClusterProviderConfig, name: netbox}
  forProvider: {from: [{prefix: {cidr: ` + lab.Prefix + `}}], description: first}
`)
	id := recordOf(e.ready(address))
	for name, s := range stops {
		t.Run(name, func(t *testing.T) {
			e := e.on(t)
			e.patch(address, s.stop)
			e.await(address, "stopped", upToDate(s.synced))
			before := len(e.writesTo(id))
			e.patch(address, `{"spec":{"forProvider":{"description":"changed while `+name+`"}}}`)
			e.await(address, "looked at", upToDate(s.synced))
			if n := len(e.writesTo(id)) - before; n != 0 {
				t.Errorf("%d writes to NetBox", n)
			}
			e.patch(address, s.resume)
			e.until("the write that was held back", func(context.Context) error {
				if n := len(e.writesTo(id)) - before; n != 1 {
					return fmt.Errorf("%d writes to NetBox", n)
				}
				return nil
			})
		})
	}
	e.deleted(address)
}

// recordOf is the number of an address's record in NetBox.
func recordOf(address *unstructured.Unstructured) int64 {
	id, _, _ := unstructured.NestedInt64(address.Object, "status", "atProvider", "id")
	return id
}

// writesTo are the requests by which a record in NetBox was changed or deleted so far.
func (e *env) writesTo(record int64) (out []netbox.Request) {
	for _, r := range e.NetBox.Requests() {
		if r.Writes() && strings.HasSuffix(r.Path, fmt.Sprintf("/ip-addresses/%d/", record)) {
			out = append(out, r)
		}
	}
	return out
}

// TestStopsWritesToBMC holds that a host that is observed or paused isn't switched, and is once it may be.
func TestStopsWritesToBMC(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	h := e.newHost()
	for name, s := range stops {
		t.Run(name, func(t *testing.T) {
			e := e.on(t)
			e.patch(hostRef(h), s.stop)
			e.await(hostRef(h), "stopped", upToDate(s.synced))
			before := h.BMC.Counters().Writes
			wanted := map[bool]string{true: "PoweredOff", false: "PoweredOn"}[h.Machine.Powered()]
			e.patch(hostRef(h), `{"spec":{"forProvider":{"power":"`+wanted+`"}}}`)
			e.await(hostRef(h), "looked at", upToDate(s.synced))
			if n := h.BMC.Counters().Writes - before; n != 0 {
				t.Errorf("%d writes to the BMC", n)
			}
			e.patch(hostRef(h), s.resume)
			e.await(hostRef(h), wanted, lab.Field(wanted, "status", "atProvider", "power"))
			if n := h.BMC.Counters().Writes - before; n != 1 {
				t.Errorf("want the one write that was held back, got %d", n)
			}
		})
	}
	e.patch(hostRef(h), `{"spec":{"forProvider":{"power":null}}}`)
}
