package e2e

import (
	"context"
	"fmt"
	"net"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/provider-baremetal/test/lab"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/netbox"
)

// newWired makes a BootNetwork of a case's own, which says on which interface its machines' addresses are, and a provider config of that name, whose
// policies leave to the tenant what they say.
func (e *env) newWired() (name, cidr string) {
	e.t.Helper()
	n := numbers.Add(1)
	name, cidr = fmt.Sprintf("wired-net-%d", n), fmt.Sprintf("10.81.%d.0/24", n%256)
	e.NetBox.AddCIDR(cidr)
	e.apply(`
apiVersion: baremetal.m.crossplane.io/v1alpha1
kind: ClusterProviderConfig
metadata: {name: «name»}
spec:
  netbox:
    url: «url»
    credentials: {source: Secret, secretRef: {namespace: crossplane-system, name: netbox, key: token}}
    policies: [{namespaces: [«tenant»], prefixes: [«cidr»]}]
---
apiVersion: baremetal.m.crossplane.io/v1alpha1
kind: BootNetwork
metadata: {namespace: infra, name: «name»}
spec:
  allowedNamespaces: {from: All}
  allowedProfileNamespaces: {from: All}
  subnets:
  - cidr: «cidr»
    addressesFrom:
      netboxProviderConfigRef: {kind: ClusterProviderConfig, name: «name»}
      sources: [{prefix: {cidr: «cidr»}}]
      assignTo: {interfaceName: bond0.120, use: Primary}
  dhcp: {mode: Authoritative, leaseDuration: 12h}
`, "name", name, "cidr", cidr, "url", e.NetBox.URL())
	e.t.Cleanup(func() {
		for _, r := range []lab.Ref{lab.Kind("BootNetwork", lab.InfraNamespace, name), lab.Kind("ClusterProviderConfig", "", name)} {
			if err := e.Delete(context.Background(), r); err != nil {
				e.t.Error(err)
			}
		}
	})
	return name, cidr
}

// wire gives a device in NetBox what newWired asks for: a LAG of ports with those MACs, and VLAN 120 on it.
func (e *env) wire(device int64, macs ...string) {
	e.t.Helper()
	lag := e.NetBox.AddInterface(netbox.Interface{Machine: device, Name: "bond0", Type: "lag", MTU: 9000})
	for i, mac := range macs {
		e.NetBox.AddInterface(netbox.Interface{Machine: device, Name: fmt.Sprintf("eno%d", i+1), LAG: lag}, mac)
	}
	vlan := e.NetBox.AddVLAN(netbox.VLAN{VID: 120, Name: fmt.Sprintf("wired-%d", device)})
	e.NetBox.AddInterface(netbox.Interface{Machine: device, Name: "bond0.120", Type: "virtual", Parent: lag, Mode: "access", Untagged: vlan})
}

// primaryOf is the number of the record that is a device's primary address of IPv4 in NetBox; 0 for none.
func (e *env) primaryOf(device int64) int64 {
	e.t.Helper()
	all := e.NetBox.Machines()
	i := slices.IndexFunc(all, func(m netbox.Machine) bool { return m.ID == device && !m.Virtual })
	if i < 0 {
		e.t.Fatalf("NetBox has no device %d", device)
	}
	return all[i].Primary4
}

// TestClaimFromNetBox is the main job of a claim whose system's network is what NetBox has of its machine: its address is given on the interface that
// its network names, of the device of the host that it's bound to, as far as policies let it, and not before that is there; its system has the ports, bond, VLAN and MTU that
// NetBox has of that; and the device is as it was, once the claim is gone.
func TestClaimFromNetBox(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	net4, cidr := e.newWired()
	second := net.HardwareAddr{0x52, 0x54, 0, 5, 0, byte(numbers.Add(1))} //nolint:gosec // There are few cases.
	h := e.newHost(func(s *lab.HostSpec) {
		s.More = []net.HardwareAddr{second}
		dualNetwork{four: cidr}.onIt(s)
	})
	device := e.NetBox.AddMachine(netbox.Machine{Name: h.Name})
	macs := []string{h.MAC.String(), second.String()}

	e.apply(changed("addresses: [{family: IPv4}]", "addresses: [{family: IPv4}], interface: {from: NetBox}"), "name", "wired", "host", h.Name, "network", net4)
	node := e.node("wired")
	e.await(node, "told that policies leave no assigning to it", func(u *unstructured.Unstructured) bool {
		c := lab.ConditionOf(u, "Addressed")
		return c.Status == "False" && c.Reason == "NotAllowed" && containsAll(c.Message, []string{"assignTo", net4, e.Tenant})
	})
	e.patch(lab.Kind("ClusterProviderConfig", "", net4), `{"spec":{"netbox":{"policies":[{"namespaces":["`+e.Tenant+`"],"prefixes":["`+cidr+`"],"assignTo":"OwnHosts"}]}}}`)
	e.await(node, "told which interface is missing", func(u *unstructured.Unstructured) bool {
		c := lab.ConditionOf(u, "Addressed")
		return c.Status == "False" && c.Reason == "NotFound" && containsAll(c.Message, []string{h.Name, "bond0.120", "addressesFrom.assignTo of BootNetwork infra/" + net4}) &&
			lab.StringOf(u, "status", "reason") == "NotFound"
	})
	e.wantActs(h, "an interface that is missing in NetBox", acts{})

	e.wire(device, macs...)
	e.until("the claim to be Ready on its interface", func(ctx context.Context) error {
		_, err := e.Await(ctx, node, "Ready", 2*soon, lab.Is("Ready", "True"))
		return err
	})
	e.wantActs(h, "an interface that was made", acts{Installs: 1, Erased: 1, Ons: 1})
	i := e.planned("wired")
	got, _, _ := unstructured.NestedStringSlice(i, "macs")
	bond, _, _ := unstructured.NestedString(i, "bond", "name")
	if !slices.Equal(got, macs) || bond != "bond0" || i["vlanID"] != int64(120) || i["mtu"] != int64(9000) {
		t.Errorf("the plan has %v", i)
	}
	a := e.ready(lab.Kind("NetBoxIPAddress", e.Tenant, "wired-boot-ipv4"))
	if on := lab.StringOf(a, "status", "atProvider", "assigned", "interface", "name"); on != "bond0.120" {
		t.Errorf("the address is on %q", on)
	}
	if p := e.primaryOf(device); p != recordOf(a) {
		t.Errorf("the device's primary address is record %d, want %d", p, recordOf(a))
	}
	e.deleted(node)
	e.releasedWhole(h)
	if p := e.primaryOf(device); p != 0 {
		t.Errorf("the device's primary address is record %d after the claim is gone", p)
	}
}

// TestClaimAsksNetBoxLater holds that a claim whose network says nothing of interfaces in NetBox may ask for its machine's and may take that back,
// while its machine runs: the address stays, and is put on the interface with the host's MAC address, and away from it.
func TestClaimAsksNetBoxLater(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	h := e.newHost()
	device := e.NetBox.AddMachine(netbox.Machine{Name: h.Name})
	e.NetBox.AddInterface(netbox.Interface{Machine: device, Name: "eno1", MTU: 1400}, h.MAC.String())
	e.apply(nodeManifest, "name", "later", "host", h.Name)
	node, address := e.node("later"), lab.Kind("NetBoxIPAddress", e.Tenant, "later-boot-ipv4")
	e.ready(node)
	before := lab.StringOf(e.ready(address), "status", "atProvider", "address")
	asks := func(i string) {
		patch, err := yaml.YAMLToJSON([]byte("{spec: {networks: [{name: boot, networkRef: {namespace: infra, name: " + network + "}, addresses: [{family: IPv4}]" + i + "}]}}"))
		e.must(err)
		e.patch(node, string(patch))
	}
	asks(", interface: {from: NetBox}")
	e.await(node, "Outdated", lab.All(lab.Because("Current", "Outdated"), lab.Is("Ready", "True")))
	if i := e.planned("later"); i["mtu"] != int64(1400) {
		t.Errorf("the plan has %v", i)
	}
	if on := lab.StringOf(e.ready(address), "status", "atProvider", "assigned", "interface", "name"); on != "eno1" {
		t.Errorf("the address is on %q", on)
	}
	asks("")
	a := e.await(address, "on no interface", func(u *unstructured.Unstructured) bool {
		_, asked, _ := unstructured.NestedMap(u.Object, "spec", "forProvider", "assignTo")
		_, assigned, _ := unstructured.NestedMap(u.Object, "status", "atProvider", "assigned")
		return !asked && !assigned && lab.Is("Ready", "True")(u)
	})
	if now := lab.StringOf(a, "status", "atProvider", "address"); now != before {
		t.Errorf("the address was %s and is %s", before, now)
	}
	e.await(node, "current again", lab.All(lab.Is("Current", "True"), lab.Is("Ready", "True")))
	e.wantActs(h, "an interface that came and went", acts{Installs: 1, Erased: 1, Ons: 1})
	e.deleted(node)
	e.releasedWhole(h)
}
