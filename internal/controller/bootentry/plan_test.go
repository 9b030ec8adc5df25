package bootentry

import (
	"strings"
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootspec"
)

// TestSentences is the table of what a person reads when an entry has no plan: what, on which input, why, and what to do.
func TestSentences(t *testing.T) {
	rival := func(namespace string, bound bool) func(*inputs) {
		return func(in *inputs) {
			in.others = []v1alpha1.BootEntry{{
				ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "other", UID: "other", CreationTimestamp: metav1.NewTime(noon.Add(-1e9))},
				Status: v1alpha1.BootEntryStatus{AtProvider: v1alpha1.BootEntryObservation{
					Plan: &v1alpha1.Plan{Bound: bound, MACs: []string{"52:54:00:00:00:01"}},
				}},
			}}
		}
	}
	cases := map[string]struct {
		reason string
		in     inputs
		word   xpv2.ConditionReason
		says   []string
	}{
		"ProfileMissing":    {"A profile that isn't there.", world(func(in *inputs) { in.profile = nil }), v1alpha1.ReasonNotFound, []string{`BootProfile "infra/debian-12"`, "profileRef"}},
		"ProfileNotAllowed": {"A profile that isn't for this namespace.", world(func(in *inputs) { in.profile.Spec.AllowedNamespaces = nil }), v1alpha1.ReasonNotAllowed, []string{`namespace "team-a"`, "spec.allowedNamespaces"}},
		"ProfileElsewhere":  {"A profile of a namespace that the network doesn't trust.", world(func(in *inputs) { in.profile.Namespace = "team-a" }), v1alpha1.ReasonNotAllowed, []string{"allowedProfileNamespaces"}},
		"NetworkMissing":    {"A network that isn't there.", world(func(in *inputs) { in.network = nil }), v1alpha1.ReasonNotFound, []string{`BootNetwork "infra/rack-7"`, "networkRef"}},
		"NetworkNotAllowed": {"A network that isn't for this namespace.", world(func(in *inputs) { in.network.Spec.AllowedNamespaces = nil }), v1alpha1.ReasonNotAllowed, []string{`namespace "team-a"`}},
		"SecretMissing":     {"User data that isn't there.", world(withUserData, func(in *inputs) { in.secrets["web-1"] = nil }), v1alpha1.ReasonNotFound, []string{`Secret "web-1"`, "userDataSecretRef"}},
		"SecretKeyMissing":  {"A key that isn't there.", world(withUserData, func(in *inputs) { in.secrets["web-1"].Data = nil }), v1alpha1.ReasonNotFound, []string{`no key "userData"`}},
		"KeysWithoutInit":   {"SSH keys that nothing would bring to the machine.", world(withKeys), v1alpha1.ReasonInvalid, []string{"sshAuthorizedKeys", `BootProfile "infra/debian-12"`, "userDataFormat None", "CloudInit"}},
		"KeysByInit":        {"cloud-init brings them.", world(withKeys, func(in *inputs) { in.profile.Spec.UserDataFormat = v1alpha1.UserDataCloudInit }), "", nil},
		"ClaimMissing":      {"A claim that isn't there.", world(func(in *inputs) { in.claim = nil }), v1alpha1.ReasonNotFound, []string{`HostClaim "web-1"`}},
		"NotBound":          {"A claim without a host.", world(func(in *inputs) { in.host.Spec.ClaimRef = nil }), v1alpha1.ReasonWaitingForBinding, []string{"isn't bound"}},
		"BoundToOther":      {"A host that names another claim isn't ours.", world(func(in *inputs) { in.host.Spec.ClaimRef.UID = "other" }), v1alpha1.ReasonWaitingForBinding, []string{"isn't bound"}},
		"NoAddressYet":      {"An address that is on its way.", world(func(in *inputs) { in.addresses[0].Status.AtProvider.Address = "" }), v1alpha1.ReasonWaitingForAddress, []string{`"web-1-boot-ipv4"`}},
		"PrefixFull": {"The allocator's own word and sentence are handed on.", world(func(in *inputs) {
			in.addresses[0].Status.AtProvider.Address = ""
			in.addresses[0].SetConditions(xpv2.Condition{Type: xpv2.TypeReady, Status: "False", Reason: v1alpha1.ReasonExhausted, Message: "prefix 10.77.0.0/24 is full"})
		}), v1alpha1.ReasonExhausted, []string{"prefix 10.77.0.0/24 is full"}},
		"AddressIsV6":      {"An IPv6 address boots where its network has a subnet for it.", world(func(in *inputs) { in.addresses[0].Status.AtProvider.Address = "2001:db8::1/64" }), v1alpha1.ReasonInvalid, []string{"2001:db8::1/64", "infra/rack-7"}},
		"OffSegment":       {"An address of another segment.", world(func(in *inputs) { in.addresses[0].Status.AtProvider.Address = "10.78.0.1/24" }), v1alpha1.ReasonInvalid, []string{"10.78.0.1/24", "infra/rack-7"}},
		"SecondMissing":    {"The second address is waited for as well.", world(alsoSix(nil)), v1alpha1.ReasonWaitingForAddress, []string{`"web-1-boot-ipv6"`, "isn't there yet"}},
		"SecondOnItsWay":   {"Until NetBox has given it.", world(alsoSix(new(""))), v1alpha1.ReasonWaitingForAddress, []string{`"web-1-boot-ipv6"`, "no address yet"}},
		"Both":             {"One of each family is one plan.", world(alsoSix(new("fd00:77::11/64"))), "", nil},
		"OneFamily":        {"Two of one family aren't.", world(alsoSix(new("10.77.0.12/24"))), v1alpha1.ReasonInvalid, []string{"10.77.0.11/24", "10.77.0.12/24", "one of IPv4 and one of IPv6"}},
		"SecondOffSegment": {"Nor one of another segment.", world(alsoSix(new("fd00:78::11/64"))), v1alpha1.ReasonInvalid, []string{"fd00:78::11/64", "infra/rack-7"}},
		"Port":             {"A port is known by what the host's BMC calls it.", world(wired("NIC.1")), "", nil},
		"PortByMAC":        {"Or by its MAC.", world(wired("52-54-00-00-00-01")), "", nil},
		"PortForeign":      {"A MAC that isn't the bound host's is nobody's.", world(wired("52:54:00:00:00:09")), v1alpha1.ReasonInvalid, []string{`port "52:54:00:00:00:09"`, `"NIC.1" (52:54:00:00:00:01)`}},
		"PortMissing":      {"What the host has is said, to choose from.", world(wired("eno1")), v1alpha1.ReasonInvalid, []string{`port "eno1", which the machine doesn't have`, `"NIC.1" (52:54:00:00:00:01)`}},
		"RawMACsOfTenant": {"A tenant can't name a machine by its MAC.", world(func(in *inputs) {
			in.entry.Spec.ForProvider.Machine = v1alpha1.MachineSelector{MACs: []string{"52:54:00:00:00:09"}}
		}), v1alpha1.ReasonNotAllowed, []string{"machine.macs", `"infra"`, "hostClaimRef"}},
		"RawAddressOfTenant": {"Nor take an address past the allocator.", world(func(in *inputs) {
			in.entry.Spec.ForProvider.Networks[0].Addresses[0] = v1alpha1.EntryAddress{Address: "10.77.0.99/24"}
		}), v1alpha1.ReasonNotAllowed, []string{"use ref"}},
		"MalformedMAC":      {"A MAC that is none.", world(func(in *inputs) { in.host.Spec.ForProvider.MACs = []string{"52:54"} }), v1alpha1.ReasonInvalid, []string{`"52:54"`, "malformed"}},
		"MulticastMAC":      {"A multicast MAC.", world(func(in *inputs) { in.host.Spec.ForProvider.MACs = []string{"01:00:5e:00:00:01"} }), v1alpha1.ReasonInvalid, []string{"multicast"}},
		"NoMAC":             {"A host without NICs.", world(func(in *inputs) { in.host.Spec.ForProvider.MACs = nil }), v1alpha1.ReasonWaitingForHost, []string{"no MAC"}},
		"DuplicateMAC":      {"A MAC that an entry of this namespace has: it's named.", world(rival("team-a", true)), v1alpha1.ReasonConflict, []string{"52:54:00:00:00:01", `BootEntry "team-a/other"`}},
		"DuplicateMACOther": {"One of another tenant: it isn't.", world(rival("team-b", true)), v1alpha1.ReasonConflict, []string{"a machine of another namespace"}},
		"Parameter":         {"A parameter that isn't declared.", world(func(in *inputs) { in.entry.Spec.ForProvider.Parameters = map[string]string{"x": "y"} }), v1alpha1.ReasonInvalid, []string{`"x"`, "isn't declared"}},
		"RawRivalLoses":     {"A bound machine beats an earlier entry of raw MACs.", world(rival("infra", false)), "", nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, prob := resolve(tc.in)
			if tc.word == "" {
				if prob != nil {
					t.Errorf("%s\nresolve(...): %v", tc.reason, prob)
				}
				return
			}
			if prob == nil || prob.reason != tc.word {
				t.Fatalf("%s\nresolve(...): problem %+v, want reason %s", tc.reason, prob, tc.word)
			}
			for _, s := range tc.says {
				if !strings.Contains(prob.message, s) {
					t.Errorf("%s\n%q doesn't say %q", tc.reason, prob.message, s)
				}
			}
		})
	}
}

// alsoSix has the entry name a second NetBoxIPAddress, whose address is six; nil: it isn't there.
func alsoSix(six *string) func(*inputs) {
	return func(in *inputs) {
		n := &in.entry.Spec.ForProvider.Networks[0]
		n.Addresses = append(n.Addresses, v1alpha1.EntryAddress{Ref: &v1alpha1.LocalReference{Name: "web-1-boot-ipv6"}})
		in.network.Spec.Subnets = append(in.network.Spec.Subnets, v1alpha1.Subnet{CIDR: "fd00:77::/64", Gateway: "fd00:77::1", DNS: []string{"fd00:77::53"}})
		in.addresses = append(in.addresses, nil)
		if six != nil {
			in.addresses[1] = &v1alpha1.NetBoxIPAddress{Status: v1alpha1.NetBoxIPAddressStatus{AtProvider: v1alpha1.NetBoxIPAddressObservation{Address: *six}}}
		}
	}
}

// TestBothAddresses: an entry's plan has both, in one order however they're named, and one that had its one address keeps its digest.
func TestBothAddresses(t *testing.T) {
	one, prob := resolve(world())
	if prob != nil {
		t.Fatal(prob.message)
	}
	var digests []string
	for _, change := range []func(*inputs){func(*inputs) {}, func(in *inputs) {
		n := in.entry.Spec.ForProvider.Networks[0].Addresses
		n[0], n[1] = n[1], n[0]
		in.addresses[0], in.addresses[1] = in.addresses[1], in.addresses[0]
	}} {
		p, prob := resolve(world(alsoSix(new("fd00:77::11/64")), change))
		if prob != nil {
			t.Fatal(prob.message)
		}
		six := p.Network.Six
		if p.Network.Address != one.Network.Address || p.Network.Gateway != one.Network.Gateway || six == nil || six.Address.String() != "fd00:77::11/64" || six.Gateway.String() != "fd00:77::1" {
			t.Fatalf("%+v, %+v", p.Network, six)
		}
		digests = append(digests, p.Digest())
		st := bootspec.PlanStatus(*p)
		again, ok, err := bootspec.PlanOf(&v1alpha1.BootEntry{
			ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "web-1", UID: "entry"},
			Status:     v1alpha1.BootEntryStatus{AtProvider: v1alpha1.BootEntryObservation{Plan: st}},
		})
		if err != nil || !ok || again.Digest() != p.Digest() || st.Network.IPv6.Address != "fd00:77::11/64" {
			t.Errorf("as bootd reads it: %v, %v, %+v", ok, err, again.Network)
		}
	}
	if digests[0] != digests[1] || digests[0] == one.Digest() {
		t.Errorf("digests %q, and of one address %s", digests, one.Digest())
	}
}

func TestOperatorsRawEntry(t *testing.T) {
	in := world(func(in *inputs) {
		in.entry.Namespace = "infra"
		in.entry.Spec.ForProvider.Machine = v1alpha1.MachineSelector{MACs: []string{"52:54:00:00:00:09"}}
		in.entry.Spec.ForProvider.Networks[0].Addresses[0] = v1alpha1.EntryAddress{Address: "10.77.0.99/24"}
		in.claim, in.host, in.addresses = nil, nil, nil
	})
	p, prob := resolve(in)
	if prob != nil {
		t.Fatal(prob.message)
	}
	if p.Bound || !strings.HasPrefix(p.HostUID, "macs-") || p.Network.Address.String() != "10.77.0.99/24" {
		t.Errorf("an operator's raw entry gives %+v", p)
	}
}

// wired gives the entry an interface on that port, and the host's BMC a name for the port that there is.
func wired(port string) func(*inputs) {
	return func(in *inputs) {
		in.entry.Spec.ForProvider.Networks[0].Interface = &v1alpha1.EntryInterface{Ports: []string{port}}
		in.host.Status.AtProvider.MACs = []v1alpha1.HostMAC{{Address: "52:54:00:00:00:01", Port: "NIC.1", Source: "EthernetInterfaces"}}
	}
}

// TestPortsOfThePlan holds that a plan has MACs in the place of names, and that the entry's own spec stays as it is.
func TestPortsOfThePlan(t *testing.T) {
	in := world(wired("NIC.1"))
	plan, prob := resolve(in)
	if prob != nil {
		t.Fatal(prob)
	}
	if i := plan.Network.Interface; i == nil || len(i.MACs) != 1 || i.MACs[0] != "52:54:00:00:00:01" {
		t.Errorf("want the port's MAC, got %+v", i)
	}
	if i := in.entry.Spec.ForProvider.Networks[0].Interface; len(i.Ports) != 1 || len(i.MACs) != 0 {
		t.Errorf("the entry was changed: %+v", i)
	}
}
