package e2e

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-baremetal/cluster/local"
	"github.com/crossplane-contrib/provider-baremetal/test/lab"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/machine"
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
	t.Parallel()
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
	t.Parallel()
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
	node := e.node("burglar")

	e.says(node, "Duplicate", "another host object is the same machine")
	e.silentAbout(e.tenantReads(node), map[string]string{"the operator's host": h.Name + `"`, "the machine's serial": h.Serial})
	if c := h.BMC.Counters(); c.FailedLogins != 0 || c.Unauthorized != 0 {
		t.Errorf("want the guessed password not tried, got %+v", c)
	}
	e.untouched(h)
}

// TestTenantNamesOthersMAC holds that a tenant who claims a machine of his own by its BMC can't have another's machine served by
// naming its MAC.
func TestTenantNamesOthersMAC(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	victim := e.newHost(func(s *lab.HostSpec) { s.Change = func(c *machine.Config) { c.DHCPTimeout, c.DHCPTries = 250e6, 2 } })
	own, err := e.AddHost(lab.HostSpec{Name: fmt.Sprintf("own-%d", numbers.Add(1))})
	e.must(err)
	e.hosts = append(e.hosts, own.Name)
	e.apply(ownBMC)
	e.apply(strings.ReplaceAll(namedBMC, "name: «config»}}", "name: «config»}, macs: [\"«mac»\"]}"),
		"name", "thief", "address", own.BMC.Addr(), "kind", "ProviderConfig", "config", "own-bmc", "mac", victim.MAC.String())
	node := e.node("thief")
	e.says(node, "Conflict", victim.MAC.String(), "a machine of another namespace")
	e.silentAbout(e.tenantReads(node), map[string]string{"the operator's host": victim.Name + `"`, "the machine's serial": victim.Serial})

	e.must(victim.Machine.On(bmc.BootPxe))
	s := e.reaches(victim, "a boot that failed", func(s machine.Status) bool { return s.Errors > 0 })
	if len(s.DHCP) != 0 || s.FirstLoads != 0 {
		t.Errorf("want silence for a machine that isn't the tenant's, got %+v", s.Counters)
	}
	e.must(victim.Machine.Off(false))
	e.untouched(own)
}

// TestOneClaimWins holds that of many claims at once for one host exactly one has it.
func TestOneClaimWins(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	h := e.newHost()
	const rivals = 8
	var all strings.Builder
	for i := range rivals {
		all.WriteString("---" + e.fill(powerClaim, "name", fmt.Sprintf("rival-%d", i), "host", h.Name))
	}
	e.apply(all.String())
	e.until("every claim to be told", func(context.Context) error {
		told := map[string]int{}
		for _, c := range e.listOf("HostClaim") {
			told[lab.StringOf(&c, "status", "reason")]++
		}
		if diff := cmp.Diff(map[string]int{"Stopped": 1, "Reserved": rivals - 1}, told); diff != "" {
			return errors.New(diff)
		}
		return nil
	})
}

// TestUserDataOfOthers holds that a claim can't name a Secret of another namespace: the field isn't there, and a name alone means
// the tenant's own.
func TestUserDataOfOthers(t *testing.T) {
	t.Parallel()
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
	o.says(o.node("reader"), "NotFound", `Secret "`+o.id+`"`, "isn't there")
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
