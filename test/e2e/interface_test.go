package e2e

import (
	"net"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/provider-baremetal/test/lab"
)

// portsOf a machine, by the names that its BMC gives them, in the order of the MACs.
func (e *env) portsOf(h *lab.Host, macs ...string) []string {
	e.t.Helper()
	names := make([]string, len(macs))
	e.await(hostRef(h), "naming its ports", func(u *unstructured.Unstructured) bool {
		all, _, _ := unstructured.NestedSlice(u.Object, "status", "atProvider", "macs")
		for _, a := range all {
			m, _ := a.(map[string]any)
			mac, _ := m["address"].(string)
			if i := slices.Index(macs, mac); i >= 0 {
				names[i], _ = m["port"].(string)
			}
		}
		return !slices.Contains(names, "")
	})
	return names
}

// TestClaimWithInterface holds that a claim names ports of its own machine alone: one that this doesn't have keeps it off, and those that it
// has are said; a MAC of another machine is such a one. With the right ones the machine is installed, with a bond of the MACs that they are.
func TestClaimWithInterface(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	second := net.HardwareAddr{0x52, 0x54, 0, 2, 0, byte(numbers.Add(1))} //nolint:gosec // There are few cases.
	h := e.newHost(func(s *lab.HostSpec) { s.More = []net.HardwareAddr{second} })
	other := e.newHost()
	macs := []string{h.MAC.String(), second.String()}
	ports := e.portsOf(h, macs...)

	wired := func(i string) string {
		patch, err := yaml.YAMLToJSON([]byte("{spec: {networks: [{name: boot, networkRef: {namespace: infra, name: " + network + "}, addresses: [{family: IPv4}], interface: " + i + "}]}}"))
		e.must(err)
		return string(patch)
	}
	e.apply(changed("addresses: [{family: IPv4}]", "addresses: [{family: IPv4}], interface: {vlanID: 77, bond: {mode: ActiveBackup, members: [eno1]}}"), "name", "bonded", "host", h.Name)
	node := e.node("bonded")
	e.heldBy(node, "Invalid", `interface names port "eno1"`, ports[0], macs[0], ports[1], macs[1])
	e.patch(node, wired(`{vlanID: 77, bond: {mode: ActiveBackup, members: ["`+other.MAC.String()+`", "`+ports[0]+`"]}}`))
	e.heldBy(node, "Invalid", other.MAC.String(), "which the machine doesn't have")
	e.wantActs(h, "ports that it doesn't have", acts{})
	e.wantActs(other, "a claim of another machine", acts{})

	e.patch(node, wired(`{vlanID: 77, bond: {mode: ActiveBackup, members: ["`+ports[1]+`", "`+ports[0]+`"]}}`))
	e.ready(node)
	e.wantActs(h, "its own ports", acts{Installs: 1, Erased: 1, Ons: 1})
	plan := e.planned("bonded")
	if got, _, _ := unstructured.NestedStringSlice(plan, "macs"); !slices.Equal(got, []string{macs[1], macs[0]}) {
		t.Errorf("the plan's bond has %v, want the MACs of %s and %s", got, ports[1], ports[0])
	}
	if name, _, _ := unstructured.NestedString(plan, "bond", "name"); name != "bond0" {
		t.Errorf("the plan's bond is called %q", name)
	}

	// Another interface is nothing that is installed by itself.
	e.patch(node, wired(`{name: "`+ports[0]+`", vlanID: 78}`))
	e.await(node, "Outdated", lab.All(lab.Because("Current", "Outdated"), lab.Is("Ready", "True")))
	e.wantActs(h, "another interface", acts{Installs: 1, Erased: 1, Ons: 1})
	e.deleted(node)
	e.releasedWhole(h)
}

// heldBy waits until a claim says why there's no plan for its machine.
func (e *env) heldBy(claim lab.Ref, reason string, words ...string) {
	e.t.Helper()
	e.await(claim, "held by "+reason, func(u *unstructured.Unstructured) bool {
		c := lab.ConditionOf(u, "Served")
		return c.Status == "False" && c.Reason == reason && containsAll(c.Message, words)
	})
}

// planned is the interface of the plan that is served.
func (e *env) planned(entry string) map[string]any {
	e.t.Helper()
	u := e.ready(lab.Kind("BootEntry", e.Tenant, entry))
	i, ok, err := unstructured.NestedMap(u.Object, "status", "atProvider", "plan", "network", "interface")
	if !ok || err != nil {
		e.t.Fatalf("the plan has no interface: %v %v", err, allMessages(u))
	}
	return i
}
