package composition

import (
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	platform "github.com/crossplane-contrib/provider-baremetal/apis/platform/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// fetched adds the network, as Crossplane fetched it.
func fetched(bn *v1alpha1.BootNetwork) change {
	return func(n *node) { n.network, n.networkFetched = bn, true }
}

// observedAddress adds an address object of another source than the network's, and with an external name where there is one.
func observedAddress(externalName string) change {
	return func(n *node) {
		a := &v1alpha1.NetBoxIPAddress{}
		a.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: "ClusterProviderConfig", Name: "old"}
		a.Spec.ForProvider.From = []v1alpha1.AddressSource{source("10.99.0.0/24", nil)}
		a.Spec.ForProvider.DNSName = new("old.example")
		a.Spec.ForProvider.Tags = []string{"by-somebody-else"}
		if externalName != "" {
			a.SetAnnotations(map[string]string{"crossplane.io/external-name": externalName})
		}
		n.addresses = map[v1alpha1.IPFamily]*v1alpha1.NetBoxIPAddress{v1alpha1.IPv4: a}
	}
}

func TestAddressObject(t *testing.T) {
	rack := network(subnet("10.77.0.0/24", netbox, source("10.77.0.0/24", prod)))
	rack.Spec.Domain = "rack7.example"
	others := network(subnet("10.77.0.0/24", netbox, source("10.77.0.0/24", prod)))
	others.Spec.AllowedNamespaces = &v1alpha1.AllowedNamespaces{From: v1alpha1.AllowedFromNone}
	type want struct {
		Config, From, DNSName string
		Tags                  int
		Held                  xpv2.ConditionReason
	}
	cases := map[string]struct {
		reason string
		node   *node
		want   want
	}{
		"NotFetched": {
			reason: "before Crossplane answered there is neither an address nor a problem",
			node:   aNode(),
		},
		"NoNetwork": {
			reason: "a network that doesn't exist is a problem",
			node:   aNode(fetched(nil)),
			want:   want{Held: v1alpha1.ReasonNotFound},
		},
		"Forbidden": {
			reason: "a network that doesn't allow us is a problem",
			node:   aNode(fetched(others)),
			want:   want{Held: v1alpha1.ReasonNotAllowed},
		},
		"New": {
			reason: "the address comes from the network",
			node:   aNode(fetched(rack), named("web-1")),
			want:   want{Config: "netbox", From: "10.77.0.0/24", DNSName: "web-1.rack7.example"},
		},
		"NotYetAllocated": {
			reason: "a source that an operator corrected counts as long as nothing was allocated",
			node:   aNode(fetched(rack), named("web-1"), observedAddress("")),
			want:   want{Config: "netbox", From: "10.77.0.0/24", DNSName: "web-1.rack7.example"},
		},
		"Allocated": {
			reason: "an allocated address keeps its source; its name follows the host name",
			node:   aNode(fetched(rack), named("renamed"), observedAddress("4711")),
			want:   want{Config: "old", From: "10.99.0.0/24", DNSName: "renamed.rack7.example"},
		},
		"AllocatedThenForbidden": {
			reason: "a running machine doesn't lose its address by an edit of the network",
			node:   aNode(fetched(others), named("web-1"), observedAddress("4711")),
			want:   want{Config: "old", From: "10.99.0.0/24"},
		},
		"AllocatedThenNoNetwork": {
			reason: "nor by its deletion",
			node:   aNode(fetched(nil), observedAddress("4711")),
			want:   want{Config: "old", From: "10.99.0.0/24", DNSName: "old.example"},
		},
		"ForbiddenBeforeAllocated": {
			reason: "an address that nobody gave yet isn't taken back for a moment's trouble, and the trouble is told",
			node:   aNode(fetched(others), observedAddress("")),
			want:   want{Config: "old", From: "10.99.0.0/24", Held: v1alpha1.ReasonNotAllowed},
		},
		"NoNetworkBeforeAllocated": {
			reason: "nor for a network that is made anew",
			node:   aNode(fetched(nil), observedAddress("")),
			want:   want{Config: "old", From: "10.99.0.0/24", DNSName: "old.example", Held: v1alpha1.ReasonNotFound},
		},
		"NotFetchedAgain": {
			reason: "nor while Crossplane hasn't answered",
			node:   aNode(observedAddress("")),
			want:   want{Config: "old", From: "10.99.0.0/24", DNSName: "old.example"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			first := tc.node.addressing()[0]
			a, held := first.object, first.held
			got := want{}
			if a != nil {
				got = want{
					Config: a.Spec.ProviderConfigReference.Name,
					From:   a.Spec.ForProvider.From[0].Prefix.CIDR,
					Tags:   len(a.Spec.ForProvider.Tags),
				}
				if name := a.Spec.ForProvider.DNSName; name != nil {
					got.DNSName = *name
				}
			}
			if held != nil {
				got.Held = held.reason
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// named gives the node a host name.
func named(hostname string) change {
	return func(n *node) { n.spec.Hostname = hostname }
}

func TestHostClaimObject(t *testing.T) {
	confirm := &v1alpha1.Confirmation{Serial: "ABC123"}
	cases := map[string]struct {
		reason string
		node   *node
		want   v1alpha1.HostReference
	}{
		"Named": {
			reason: "a host of another namespace",
			node:   aNode(),
			want:   v1alpha1.HostReference{Kind: "RedfishHost", Namespace: "infra", Name: "r7-u12"},
		},
		"NamedNearby": {
			reason: "a host without a namespace is of the claim's",
			node:   aNode(func(n *node) { n.spec.Host.Ref.Namespace = "" }),
			want:   v1alpha1.HostReference{Kind: "RedfishHost", Namespace: "team-a", Name: "r7-u12"},
		},
		"OwnBMC": {
			reason: "a host of the claim's own has its name",
			node: aNode(func(n *node) {
				n.spec.Host = platform.HostSource{BMC: &platform.HostBMC{Address: "10.0.9.21", ProviderConfigRef: v1alpha1.ProviderConfigRef{Name: "x"}}}
			}),
			want: v1alpha1.HostReference{Kind: "RedfishHost", Namespace: "team-a", Name: "web-1"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			tc.node.spec.Confirm = confirm
			want := &v1alpha1.HostClaim{
				ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "web-1"},
				Spec: v1alpha1.HostClaimSpec{
					HostRef: &tc.want, BootEntryRef: &v1alpha1.LocalReference{Name: "web-1"},
					Power: v1alpha1.PoweredOn, Confirm: confirm,
				},
			}
			if diff := cmp.Diff(want, tc.node.hostClaimObject()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestBootEntryObject(t *testing.T) {
	n := aNode(named("web"), func(n *node) {
		n.spec.SSHAuthorizedKeys = []platform.SSHPublicKey{"ssh-ed25519 AAAA"}
		n.spec.Parameters = map[string]string{"role": "web"}
		n.spec.UserDataSecretRef = &v1alpha1.LocalKeyReference{Name: "web-1", Key: "userData"}
		n.spec.NetworkDataSecretRef = &v1alpha1.LocalKeyReference{Name: "web-1", Key: "network"}
		n.spec.VendorDataSecretRef = &v1alpha1.LocalKeyReference{Name: "ours", Key: "vendorData"}
		n.spec.Confirm = &v1alpha1.Confirmation{Serial: "ABC123"}
	})
	want := v1alpha1.BootEntryParameters{
		Machine:    v1alpha1.MachineSelector{HostClaimRef: &v1alpha1.LocalReference{Name: "web-1"}},
		ProfileRef: v1alpha1.NamespacedReference{Namespace: "infra", Name: "debian-12"},
		Parameters: map[string]string{"role": "web"},
		Networks: []v1alpha1.EntryNetwork{{
			Name:       "boot",
			NetworkRef: v1alpha1.NamespacedReference{Namespace: "infra", Name: "rack-7"},
			Addresses:  []v1alpha1.EntryAddress{{Ref: &v1alpha1.LocalReference{Name: "web-1-boot-ipv4"}}},
		}},
		Hostname:             "web",
		UserDataSecretRef:    &v1alpha1.LocalKeyReference{Name: "web-1", Key: "userData"},
		NetworkDataSecretRef: &v1alpha1.LocalKeyReference{Name: "web-1", Key: "network"},
		VendorDataSecretRef:  &v1alpha1.LocalKeyReference{Name: "ours", Key: "vendorData"},
		SSHAuthorizedKeys:    []string{"ssh-ed25519 AAAA"},
		Install:              v1alpha1.EntryInstall{Generation: 1},
		Confirm:              &v1alpha1.Confirmation{Serial: "ABC123"},
	}
	if diff := cmp.Diff(want, n.bootEntryObject().Spec.ForProvider); diff != "" {
		t.Errorf("entry (-want +got):\n%s", diff)
	}
}

// TestEntryInterface: what a claim says of its network's ports is an entry's, and names stay names, since only the bound host knows its MACs.
func TestEntryInterface(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		in     *platform.NodeInterface
		want   *v1alpha1.EntryInterface
	}{
		"None": {"nothing said is nothing said", nil, nil},
		"Only": {
			"the machine's only port", &platform.NodeInterface{Addressing: v1alpha1.AddressingStatic},
			&v1alpha1.EntryInterface{Addressing: v1alpha1.AddressingStatic},
		},
		"Port": {
			"one port, with a VLAN", &platform.NodeInterface{Addressing: v1alpha1.AddressingDHCP, Name: "NIC.1", VLANID: new(int32(77)), MTU: 9000},
			&v1alpha1.EntryInterface{Addressing: v1alpha1.AddressingDHCP, Ports: []string{"NIC.1"}, VLANID: 77, MTU: 9000},
		},
		"Bond": {
			"several ports", &platform.NodeInterface{Bond: &platform.Bond{Name: "bond0", Mode: platform.BondLACP, Members: []platform.PortName{"NIC.1", "52:54:00:00:00:02"}}},
			&v1alpha1.EntryInterface{Ports: []string{"NIC.1", "52:54:00:00:00:02"}, Bond: &v1alpha1.EntryBond{Name: "bond0", Mode: v1alpha1.BondLACP}},
		},
		"AllOfThem": {
			"a bond that names none has all", &platform.NodeInterface{Bond: &platform.Bond{Name: "bond0", Mode: platform.BondActiveBackup}},
			&v1alpha1.EntryInterface{Bond: &v1alpha1.EntryBond{Name: "bond0", Mode: v1alpha1.BondActiveBackup}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			n := aNode(func(n *node) { n.spec.Networks[0].Interface = tc.in })
			if diff := cmp.Diff(tc.want, n.bootEntryObject().Spec.ForProvider.Networks[0].Interface); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestComplete proves that references without a namespace are of the claim's own, and that the host name is the claim's name.
func TestComplete(t *testing.T) {
	n := aNode(func(n *node) {
		n.spec.ProfileRef.Namespace = ""
		n.spec.Networks[0].NetworkRef.Namespace = ""
	})
	if err := n.complete(); err != nil {
		t.Fatal(err)
	}
	got := []string{n.spec.ProfileRef.Namespace, n.spec.Networks[0].NetworkRef.Namespace, n.spec.Hostname}
	if diff := cmp.Diff([]string{"team-a", "team-a", "web-1"}, got); diff != "" {
		t.Errorf("profile's namespace, network's namespace, host name (-want +got):\n%s", diff)
	}
}

// TestOwnHost proves that the host of a claim's own BMC is for its namespace alone.
func TestOwnHost(t *testing.T) {
	n := aNode(func(n *node) {
		n.spec.Host = platform.HostSource{BMC: &platform.HostBMC{
			Address: "10.0.9.21", ProviderConfigRef: v1alpha1.ProviderConfigRef{Kind: "ProviderConfig", Name: "mine"},
			System: &v1alpha1.SystemSelector{Serial: "LAB1"}, MACs: []string{"52:54:00:00:00:01"}, FirstStage: v1alpha1.FirstStageShim,
		}}
	})
	out, err := composeNode(n)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"apiVersion": "baremetal.m.crossplane.io/v1alpha1",
		"kind":       "RedfishHost",
		"metadata":   map[string]any{"namespace": "team-a", "name": "web-1"},
		"spec": map[string]any{
			"providerConfigRef": map[string]any{"kind": "ProviderConfig", "name": "mine"},
			"allowedNamespaces": map[string]any{"from": "Same"},
			"forProvider": map[string]any{
				"address": "10.0.9.21",
				"system":  map[string]any{"serial": "LAB1"},
				"macs":    []any{"52:54:00:00:00:01"}, "firstStage": "Shim",
			},
		},
	}
	if diff := cmp.Diff(want, out.resources["host"].object); diff != "" {
		t.Errorf("host (-want +got):\n%s", diff)
	}
}
