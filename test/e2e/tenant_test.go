package e2e

import (
	"net/netip"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-baremetal/test/lab"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/machine"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/netbox"
)

// A way is one in which a tenant's claim reaches for what isn't the tenant's.
type way struct {
	reason string
	// change of nodeManifest.
	old, now string
	// condition that says no, with which reason and which words; empty: the claim's own reason and message.
	condition, refused string
	words              []string
}

// ways that need no host of the tenant's own: they're refused before one is looked at.
func ways() map[string]way {
	const addresses = "addresses: [{family: IPv4}]"
	return map[string]way{
		"host-of-others": {
			"A host may be claimed by the namespaces that it lists.",
			"name: «host»}", "name: «others»}", "", "NotAllowed", []string{"may not be claimed from namespace", "spec.allowedNamespaces"},
		},
		"host-of-its-own-namespace": {
			"A host that lists none is its own namespace's.",
			"name: «host»}", "name: «unlisted»}", "", "NotAllowed", []string{"may not be claimed from namespace"},
		},
		"network-of-others": {
			"A network serves the namespaces that it lists.",
			"name: «network»}", "name: «id»}", "Addressed", "NotAllowed", []string{"does not allow machines of namespace", "spec.allowedNamespaces"},
		},
		"address-elsewhere": {
			"A given address is one of the network's.",
			addresses, "addresses: [{family: IPv4, address: 10.99.0.9}]", "Addressed", "NotAllowed", []string{`"10.99.0.9"`, "is in no subnet"},
		},
		"address-of-gateway": {
			"The gateway's address would catch the whole segment's traffic.",
			addresses, "addresses: [{family: IPv4, address: 10.77.0.1}]", "Addressed", "Invalid", []string{`"10.77.0.1"`, "the gateway"},
		},
		"address-of-others": {
			"An address that NetBox has for somebody else stays theirs.",
			addresses, "addresses: [{family: IPv4, address: 10.77.0.250}]", "Addressed", "Conflict", []string{"10.77.0.250"},
		},
		"profile-of-others": {
			"A profile, with what it boots, is for the namespaces that it lists.",
			"name: «profile»}", "name: «id»}", "", "NotAllowed", []string{"BootProfile", "doesn't allow namespace", "spec.allowedNamespaces"},
		},
		"profile-on-closed-network": {
			"A network says whose profiles may boot there: a profile is code that runs on it.",
			"namespace: «profiles», name: «profile»}", "namespace: «tenant», name: mine}", "", "NotAllowed", []string{"doesn't boot profiles of namespace"},
		},
	}
}

// TestTenantClaims tries each way by a claim. Each is refused in the claim's own status, takes nothing and touches no machine.
func TestTenantClaims(t *testing.T) {
	t.Parallel()
	o := newOwnEnv(t)
	record := o.NetBox.AddAddress(netbox.Address{Address: netip.MustParsePrefix("10.77.0.250/24"), Status: "active", Description: "somebody else's"})
	t.Cleanup(func() { o.NetBox.RemoveAddress(record) })
	others, unlisted := o.newHost(), o.newHost()
	o.patch(lab.Kind("RedfishHost", lab.InfraNamespace, others.Name), `{"spec":{"allowedNamespaces":{"names":["somebody-else"]}}}`)
	o.patch(lab.Kind("RedfishHost", lab.InfraNamespace, unlisted.Name), `{"spec":{"allowedNamespaces":null}}`)
	o.own(closed)
	o.own(mine(o))
	hosts := map[string]*lab.Host{"profile-of-others": o.newHost(), "profile-on-closed-network": o.newHost()}

	for name, w := range ways() {
		manifest, host := strings.ReplaceAll(nodeManifest, w.old, w.now), "nowhere"
		if h := hosts[name]; h != nil {
			host = h.Name
		}
		if name == "profile-on-closed-network" {
			manifest = strings.ReplaceAll(manifest, "name: «network»}", "name: «id»-open}")
		}
		o.apply(manifest, "name", name, "host", host, "others", others.Name, "unlisted", unlisted.Name, "id", o.id)
	}
	for name, w := range ways() {
		t.Run(name, func(t *testing.T) {
			u, err := o.Await(t.Context(), o.node(name), "refused", soon, w.seen)
			if err != nil {
				t.Fatalf("%s\n%v", w.reason, err)
			}
			if h := nestedMap(u, "status", "timeline"); h != nil {
				t.Errorf("%s\nwant nothing begun, got %v", w.reason, h)
			}
		})
	}
	o.nothingTaken([]*lab.Host{others, unlisted, hosts["profile-of-others"], hosts["profile-on-closed-network"]})
	for _, h := range []*lab.Host{others, unlisted} {
		if u, err := o.Get(t.Context(), lab.Kind("RedfishHost", lab.InfraNamespace, h.Name)); err != nil || nestedMap(u, "spec", "claimRef") != nil {
			t.Errorf("host %s of others is bound: %v", h.Name, err)
		}
	}
}

// seen says whether a claim tells that the way is closed.
func (w way) seen(u *unstructured.Unstructured) bool {
	reason, message := lab.StringOf(u, "status", "reason"), lab.StringOf(u, "status", "message")
	if w.condition != "" {
		c := lab.ConditionOf(u, w.condition)
		reason, message = c.Reason, c.Message
	}
	return reason == w.refused && containsAll(message, w.words)
}

// nothingTaken fails the case if refused claims have anything: a grant, or a machine that moved. An address is a profile's
// claim's good right.
func (o *ownEnv) nothingTaken(hosts []*lab.Host) {
	o.t.Helper()
	for _, h := range hosts {
		o.untouched(h)
	}
	if n := o.count("BootSession"); n != 0 {
		o.t.Errorf("want no BootSession, and so no grant, got %d", n)
	}
	for marker := range o.NetBox.Markers("crossplane_claim") {
		for _, name := range []string{"network-of-others", "address-elsewhere", "address-of-gateway", "address-of-others"} {
			if strings.Contains(marker, "/"+o.Tenant+"/"+name) {
				o.t.Errorf("claim %s has an address in NetBox", name)
			}
		}
	}
}

// closed are a profile and a network of the operator's that the tenant may not use, and one network that doesn't boot the
// tenant's own profiles.
const closed = `
apiVersion: baremetal.m.crossplane.io/v1alpha1
kind: BootNetwork
metadata: {namespace: infra, name: «id»}
spec:
  allowedNamespaces: {from: Names, names: [somebody-else]}
  allowedProfileNamespaces: {from: All}
  subnets:
  - cidr: 10.77.0.0/24
    gateway: 10.77.0.1
    addressesFrom:
      netboxProviderConfigRef: {kind: ClusterProviderConfig, name: netbox}
      sources: [{prefix: {cidr: 10.77.0.0/24}}]
  dhcp: {mode: Authoritative, relays: [127.0.0.0/8], leaseDuration: 12h}
---
apiVersion: baremetal.m.crossplane.io/v1alpha1
kind: BootNetwork
metadata: {namespace: infra, name: «id»-open}
spec:
  allowedNamespaces: {from: All}
  subnets:
  - cidr: 10.77.0.0/24
    gateway: 10.77.0.1
    addressesFrom:
      netboxProviderConfigRef: {kind: ClusterProviderConfig, name: netbox}
      sources: [{prefix: {cidr: 10.77.0.0/24}}]
  dhcp: {mode: Authoritative, relays: [127.0.0.0/8], leaseDuration: 12h}
---
apiVersion: baremetal.m.crossplane.io/v1alpha1
kind: BootProfile
metadata: {namespace: infra, name: «id»}
spec:
  mode: Install
  method: DiskImage
  artifacts:
  - arch: amd64
    kernel: {url: "https://images.example/vmlinuz", digest: "sha256:6923dd1bc0460082c5d55a831908c24a282860b7f1cd6c2b79cf1bc8857c639c"}
    initrds: [{url: "https://images.example/initrd", digest: "sha256:09e6c018d2c8c4903308613dd1b72484d57eadf12ec50ddc8f52e5accce470f2"}]
    image: {url: "https://images.example/disk", digest: "sha256:6105d6cc76af400325e94d588ce511be5bfdbb73b437dc51eca43917d7a43e3d", format: Raw, compression: None}
`

// mine is the profile of closed, as the tenant's own.
func mine(o *ownEnv) string {
	_, p, _ := strings.Cut(closed, "kind: BootProfile\n")
	p = "apiVersion: baremetal.m.crossplane.io/v1alpha1\nkind: BootProfile\n" + p
	return strings.ReplaceAll(p, "{namespace: infra, name: «id»}", "{namespace: "+o.Tenant+", name: mine}")
}

// rawEntry names a machine by its MAC, which only the network's own namespace may.
const rawEntry = `
apiVersion: baremetal.m.crossplane.io/v1alpha1
kind: BootEntry
metadata: {namespace: «tenant», name: «name»}
spec:
  forProvider:
    machine: «machine»
    profileRef: {namespace: infra, name: «profile»}
    networks: [{name: boot, networkRef: {namespace: infra, name: «network»}, addresses: [{address: 10.77.0.66/24}]}]
    install: {generation: 1}
`

// TestTenantNamesNoMachine holds that a BootEntry of a tenant's can name neither a machine by its MAC nor an address of its
// choice, and that no boot server answers for it: whoever may write such entries would boot others' machines.
func TestTenantNamesNoMachine(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	h := e.newHost(func(s *lab.HostSpec) { s.Change = func(c *machine.Config) { c.DHCPTimeout, c.DHCPTries = 250e6, 2 } })
	e.apply(rawEntry, "name", "by-mac", "machine", `{macs: ["`+h.MAC.String()+`"]}`)
	entry := e.await(lab.Kind("BootEntry", e.Tenant, "by-mac"), "refused", lab.Because("Planned", "NotAllowed"))
	if m := lab.ConditionOf(entry, "Planned").Message; !containsAll(m, []string{"machine.macs", "BootNetwork's own namespace", "hostClaimRef"}) {
		t.Errorf("want the sentence to say what to do, got %q", m)
	}

	own := e.newHost()
	e.apply(`
apiVersion: baremetal.m.crossplane.io/v1alpha1
kind: HostClaim
metadata: {namespace: «tenant», name: held}
spec: {hostRef: {kind: RedfishHost, namespace: infra, name: «host»}, power: PoweredOff}
`, "host", own.Name)
	e.await(lab.Kind("HostClaim", e.Tenant, "held"), "bound", lab.Field("Stopped", "status", "phase"))
	e.apply(rawEntry, "name", "by-address", "machine", "{hostClaimRef: {name: held}}")
	entry = e.await(lab.Kind("BootEntry", e.Tenant, "by-address"), "refused", lab.Because("Planned", "NotAllowed"))
	if m := lab.ConditionOf(entry, "Planned").Message; !containsAll(m, []string{"addresses[0].address", "use ref"}) {
		t.Errorf("want the sentence to say what to do, got %q", m)
	}

	e.must(h.Machine.On(bmc.BootPxe))
	s, err := h.Machine.Wait(t.Context(), "a boot that failed", func(s machine.Status) bool { return s.Errors > 0 })
	e.must(err)
	if len(s.DHCP) != 0 || s.FirstLoads != 0 || len(s.Scripts) != 0 {
		t.Errorf("want silence for a machine that isn't bound, got %+v", s.Counters)
	}
	e.must(h.Machine.Off(false))
	if n := e.count("BootSession"); n != 0 {
		t.Errorf("want no BootSession, and so no grant, got %d", n)
	}
	for _, name := range []string{"by-mac", "by-address"} {
		e.deleted(lab.Kind("BootEntry", e.Tenant, name))
	}
}
