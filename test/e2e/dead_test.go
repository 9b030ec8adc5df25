package e2e

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-baremetal/test/lab"
)

// TestDeadBMC holds that a machine that can't be seen off keeps its claim, which says so with the way out; and that the way out
// leaves the host in quarantine and its address held.
func TestDeadBMC(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	h := e.newHost()
	node := e.newNode("web", h)
	address := firstAddress(e.ready(node))
	e.must(h.BMC.SetDead(true))
	e.must(e.Delete(t.Context(), node))
	claim := lab.Kind("HostClaim", e.Tenant, "web")
	waits := e.await(claim, "waiting, with the way out", func(u *unstructured.Unstructured) bool {
		return strings.Contains(lab.StringOf(u, "status", "message"), annotation("force-release"))
	})
	if phase, reason := lab.StringOf(waits, "status", "phase"), lab.StringOf(waits, "status", "reason"); phase != "Releasing" || reason != "WaitingForPowerOff" {
		t.Errorf("it waits in phase %q for reason %q", phase, reason)
	}
	if left, err := e.leftovers(t.Context()); err != nil || len(left) == 0 {
		t.Errorf("nothing is held: %v %v", left, err)
	}

	e.patch(claim, `{"metadata":{"annotations":{"`+annotation("force-release")+`":"the BMC burnt down"}}}`)
	e.gone(node)
	e.nothingLeft()
	host := e.await(hostRef(h), "in quarantine", lab.Field("Error", "status", "phase"))
	if why := host.GetAnnotations()[annotation("quarantined")]; why != "the BMC burnt down" {
		t.Errorf("its quarantine says %q", why)
	}
	e.wantHeld(address)

	other := e.newNode("db", h)
	e.await(other, "refused", lab.Field("Quarantined", "status", "reason"))
	e.wantActs(h, "a machine that was given up", acts{Installs: 1, Erased: 1, Ons: 1})
	e.deleted(other)
	e.must(h.BMC.SetDead(false))
}

// TestOwnDeadBMC holds that a namespace whose machine can't be seen off waits and says so, also where the claim made the host, and that
// the way out ends it with the address held.
func TestOwnDeadBMC(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	node, h := e.newOwn("own")
	address := firstAddress(e.ready(node))
	e.must(h.BMC.SetDead(true))
	e.must(e.Delete(t.Context(), lab.Ref{APIVersion: "v1", Kind: "Namespace", Name: e.Tenant}))
	claim := lab.Kind("HostClaim", e.Tenant, "own")
	e.says(claim, "WaitingForPowerOff", "host own", "BMC doesn't answer", annotation("force-release"))
	e.patch(claim, `{"metadata":{"annotations":{"`+annotation("force-release")+`":"stolen"}}}`)
	e.nothingLeft()
	e.wantHeld(address)
	e.wantActs(h, "a machine that was given up", acts{Installs: 1, Erased: 1, Ons: 1})
}

// wantHeld fails the case where an address isn't in NetBox any more, and takes it out: the operator who looked after the machine.
func (e *env) wantHeld(address string) {
	e.t.Helper()
	for _, a := range e.NetBox.Addresses() {
		if a.Address.String() == address {
			e.NetBox.RemoveAddress(a.ID)
			return
		}
	}
	e.t.Errorf("address %s isn't held in NetBox", address)
}
