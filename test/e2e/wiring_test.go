package e2e

import (
	"fmt"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-baremetal/test/lab"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/netbox"
)

// TestEntryWithNetBoxInterface: an entry that asks NetBox for its network has the ports, bond, VLAN and MTU that NetBox has of the interface which
// its address is assigned to. What somebody breaks there is said, and takes neither plan nor address away; once it's mended the plan is as before.
func TestEntryWithNetBoxInterface(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	n := numbers.Add(1)
	name, macs := fmt.Sprintf("wired-%d", n), []string{fmt.Sprintf("52:54:00:03:00:%02x", n%256), fmt.Sprintf("52:54:00:04:00:%02x", n%256)}
	device := e.NetBox.AddMachine(netbox.Machine{Name: name})
	lag := netbox.Object{Type: "dcim.interface", ID: e.NetBox.AddInterface(netbox.Interface{Machine: device, Name: "bond0", Type: "lag", MTU: 9000})}
	for i, mac := range macs {
		e.NetBox.AddInterface(netbox.Interface{Machine: device, Name: fmt.Sprintf("eno%d", i+1), LAG: lag.ID}, mac)
	}
	vlan := e.NetBox.AddVLAN(netbox.VLAN{VID: 120, Name: name})
	e.NetBox.AddInterface(netbox.Interface{Machine: device, Name: "bond0.120", Type: "virtual", Parent: lag.ID, Mode: "access", Untagged: vlan})
	e.apply(`
apiVersion: baremetal.m.crossplane.io/v1alpha1
kind: NetBoxIPAddress
metadata: {namespace: infra, name: «name»}
spec:
  providerConfigRef: {kind: ClusterProviderConfig, name: netbox}
  forProvider:
    from: [{prefix: {cidr: 10.77.0.0/24}}]
    assignTo: {device: {name: «name»}, interface: {name: bond0.120}}
---
apiVersion: baremetal.m.crossplane.io/v1alpha1
kind: BootEntry
metadata: {namespace: infra, name: «name»}
spec:
  forProvider:
    machine: {macs: ["«one»", "«two»"]}
    profileRef: {namespace: «profiles», name: «profile»}
    networks: [{name: boot, networkRef: {name: «network»}, addresses: [{ref: {name: «name»}}], interface: {from: NetBox}}]
    install: {generation: 0}
`, "name", name, "one", macs[0], "two", macs[1])
	entry, address := lab.Kind("BootEntry", lab.InfraNamespace, name), lab.Kind("NetBoxIPAddress", lab.InfraNamespace, name)
	before := networkOf(t, e.ready(entry))
	i, _, _ := unstructured.NestedMap(before, "interface")
	got, _, _ := unstructured.NestedStringSlice(i, "macs")
	bond, _, _ := unstructured.NestedString(i, "bond", "name")
	if !slices.Equal(got, macs) || bond != "bond0" || i["vlanID"] != int64(120) || i["mtu"] != int64(9000) {
		t.Errorf("the plan has %v", i)
	}
	look := func(at string) {
		e.patch(address, `{"metadata":{"annotations":{"crossplane.io/reconcile-requested-at":"`+at+`"}}}`)
	}
	e.NetBox.ChangeInterface(lag, func(i *netbox.Interface) { i.Type = "bridge" })
	look("1")
	broken := e.await(entry, "told what is wrong in NetBox", func(u *unstructured.Unstructured) bool {
		c := lab.ConditionOf(u, "Planned")
		return c.Status == "False" && containsAll(c.Message, []string{`"bond0"`, name, "of type bridge"})
	})
	if now := networkOf(t, broken); now["address"] != before["address"] || fmt.Sprint(now["interface"]) != fmt.Sprint(before["interface"]) {
		t.Errorf("the plan before was %v, and is %v", before, now)
	}
	e.NetBox.ChangeInterface(lag, func(i *netbox.Interface) { i.Type = "lag" })
	look("2")
	if now := networkOf(t, e.await(entry, "planned again", lab.Is("Planned", "True"))); fmt.Sprint(now) != fmt.Sprint(before) {
		t.Errorf("the plan before was %v, and is %v", before, now)
	}
	e.deleted(entry)
	e.deleted(address)
}

// networkOf is that of the plan which an entry serves.
func networkOf(t *testing.T, u *unstructured.Unstructured) map[string]any {
	t.Helper()
	n, ok, err := unstructured.NestedMap(u.Object, "status", "atProvider", "plan", "network")
	if !ok || err != nil {
		t.Fatalf("there's no plan: %v %v", err, allMessages(u))
	}
	return n
}
