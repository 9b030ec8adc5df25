package e2e

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-baremetal/cluster/local"
	"github.com/crossplane-contrib/provider-baremetal/test/lab"
)

// powerClaim holds a host without booting it.
const powerClaim = `
apiVersion: baremetal.m.crossplane.io/v1alpha1
kind: HostClaim
metadata: {namespace: «tenant», name: «name»}
spec: {hostRef: {kind: RedfishHost, namespace: infra, name: «host»}, power: PoweredOff}
`

// TestTenantTakesNoHeldHost holds that a host which two tenants may claim is one's alone while that one holds it, and that the
// other isn't told whose it is.
func TestTenantTakesNoHeldHost(t *testing.T) {
	holder, e := newEnv(t), newEnv(t)
	h := holder.newHost()
	e.patch(lab.Kind("RedfishHost", lab.InfraNamespace, h.Name),
		`{"spec":{"allowedNamespaces":{"names":["`+holder.Tenant+`","`+e.Tenant+`"]}}}`)
	holder.apply(powerClaim, "name", "keeper", "host", h.Name)
	held := holder.await(lab.Kind("HostClaim", holder.Tenant, "keeper"), "holding", lab.Field("Stopped", "status", "phase"))

	node := e.newNode("covetous", h)
	e.says(node, "Reserved", h.Name, "held by another claim", "wait until it's released")
	e.silentAbout(e.tenantReads(node), map[string]string{"the other tenant": holder.Tenant + `"`, "the other's claim": "keeper", "the machine's serial": h.Serial})
	e.untouched(h)
	host, err := e.Get(t.Context(), lab.Kind("RedfishHost", lab.InfraNamespace, h.Name))
	e.must(err)
	if got := lab.StringOf(host, "spec", "claimRef", "uid"); got != string(held.GetUID()) {
		t.Errorf("want the host held by %q still, it's held by %q", held.GetUID(), got)
	}

	// Once it's released, the one who waits has it: nothing else was wrong.
	holder.deleted(lab.Kind("HostClaim", holder.Tenant, "keeper"))
	e.readyAgain(node)
	e.installedOnce(h)
}

// TestTenantNamesOthersBMC holds that a tenant who knows the address of a BMC of the operator's, and brings a provider config and
// a password of his own, isn't connected to it: a second host object of one machine is refused before anything is asked, so that
// nobody can lock the account or guess.
func TestTenantNamesOthersBMC(t *testing.T) {
	e := newEnv(t)
	h := e.newHost()
	e.apply(`
apiVersion: v1
kind: Secret
metadata: {namespace: «tenant», name: guess}
stringData: {username: "«user»", password: guessed}
`, "user", lab.BMCUser)
	own := e.fill(`
apiVersion: baremetal.m.crossplane.io/v1alpha1
kind: ProviderConfig
metadata: {namespace: «tenant», name: mine}
spec:
  redfish:
    credentials: {source: Secret, secretRef: {namespace: «tenant», name: guess}}
    allowedAddresses: [127.0.0.0/8]
    tls: {verify: TrustOnFirstUse}
`)
	objects, err := local.Decode([]byte(own))
	e.must(err)
	e.must(e.Plane.Apply(t.Context(), objects...))
	e.apply(namedBMC, "name", "burglar", "address", h.BMC.Addr(), "kind", "ProviderConfig", "config", "mine")
	node := lab.Node(e.Tenant, "burglar")

	e.says(node, "Duplicate", "another host object is the same machine")
	e.silentAbout(e.tenantReads(node), map[string]string{"the operator's host": h.Name + `"`, "the machine's serial": h.Serial})
	if c := h.BMC.Counters(); c.FailedLogins != 0 || c.Unauthorized != 0 {
		t.Errorf("want the guessed password not tried, got %+v", c)
	}
	e.untouched(h)
}

// TestUserDataOfOthers holds that a claim can't name a Secret of another namespace: the field isn't there, and a name alone means
// the tenant's own.
func TestUserDataOfOthers(t *testing.T) {
	o := newOwnEnv(t)
	h := o.newHost()
	o.own("{apiVersion: v1, kind: Secret, metadata: {namespace: infra, name: «id»}, stringData: {userData: data-of-infra-1b3c}}")
	across := nodeManifest + "  userDataSecretRef: {namespace: infra, name: «id», key: userData}\n"
	objects, err := local.Decode([]byte(o.fill(across, "name", "reader", "host", h.Name, "id", o.id)))
	o.must(err)
	if err := o.Plane.Apply(t.Context(), objects...); err == nil || !strings.Contains(err.Error(), "userDataSecretRef.namespace") {
		t.Errorf("want the field refused by its name, got %v", err)
	}

	o.apply(nodeManifest+"  userDataSecretRef: {name: «id», key: userData}\n", "name", "reader", "host", h.Name, "id", o.id)
	o.says(lab.Node(o.Tenant, "reader"), "NotFound", `Secret "`+o.id+`"`, "isn't there")
	o.untouched(h)
	copies := &corev1.SecretList{}
	o.must(o.Client().List(t.Context(), copies, client.InNamespace(lab.BootNamespace)))
	for _, s := range copies.Items {
		for key, data := range s.Data {
			if strings.Contains(string(data), "data-of-infra-1b3c") {
				t.Errorf("want nothing copied for the machine, got Secret %q with key %q", s.Name, key)
			}
		}
	}
}
