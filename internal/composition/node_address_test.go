package composition

import (
	"slices"
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	platform "github.com/crossplane-contrib/provider-baremetal/apis/platform/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// dual is a network that has addresses of both families.
func dual() *v1alpha1.BootNetwork {
	n := network(subnet("10.77.0.0/24", netbox, source("10.77.0.0/24", prod)), subnet("fd00:77::/64", netbox, source("fd00:77::/64", lab)))
	n.Spec.Domain = "rack7.example"
	return n
}

// givenTo adds an address object with that address and those conditions.
func givenTo(f v1alpha1.IPFamily, address string, cs ...xpv2.Condition) change {
	return func(n *node) {
		a := &v1alpha1.NetBoxIPAddress{}
		a.Status.AtProvider.Address = address
		a.Status.Conditions = cs
		if n.addresses == nil {
			n.addresses = map[v1alpha1.IPFamily]*v1alpha1.NetBoxIPAddress{}
		}
		n.addresses[f] = a
	}
}

// wants asks for addresses of those families.
func wants(fs ...v1alpha1.IPFamily) change {
	return func(n *node) {
		n.spec.Networks[0].Addresses = nil
		for _, f := range fs {
			n.spec.Networks[0].Addresses = append(n.spec.Networks[0].Addresses, platform.AddressRequest{Family: f})
		}
	}
}

// heldBack are the node's addresses, the first of which a problem holds, if there is one.
func heldBack(n *node, held *problem) []nodeAddress {
	all := n.addressing()
	all[0].held = held
	return all
}

// TestAddressing is what becomes of each address that a node asks for: an object of its own, from its family's sources.
func TestAddressing(t *testing.T) {
	const four, six = v1alpha1.IPv4, v1alpha1.IPv6
	type want struct {
		Key, Name, From, Address string
		Held                     xpv2.ConditionReason
	}
	fromFour := want{Key: "address-boot-ipv4", Name: "web-1-boot-ipv4", From: "10.77.0.0/24"}
	fromSix := want{Key: "address-boot-ipv6", Name: "web-1-boot-ipv6", From: "fd00:77::/64"}
	cases := map[string]struct {
		reason string
		node   *node
		want   []want
	}{
		"One":   {"one address has the name that it always had", aNode(fetched(dual())), []want{fromFour}},
		"Six":   {"a machine may have IPv6 alone", aNode(fetched(dual()), wants(six)), []want{fromSix}},
		"Both":  {"each family has an object", aNode(fetched(dual()), wants(four, six)), []want{fromFour, fromSix}},
		"Other": {"the order that the claim has changes nothing", aNode(fetched(dual()), wants(six, four)), []want{fromFour, fromSix}},
		"Given": {
			"a given address of one family, any of the other",
			aNode(fetched(dual()), wants(four, six), func(n *node) { n.spec.Networks[0].Addresses[1].Address = "fd00:77::40" }),
			[]want{fromFour, {Key: fromSix.Key, Name: fromSix.Name, Address: "fd00:77::40/64"}},
		},
		"HalfANetwork": {
			"a family that the network has no addresses of is told, and the other is asked for",
			aNode(fetched(network(subnet("10.77.0.0/24", netbox, source("10.77.0.0/24", prod)))), wants(four, six)),
			[]want{fromFour, {Key: fromSix.Key, Held: v1alpha1.ReasonInvalid}},
		},
		"Kept": {
			"what NetBox gave of one family stays where the network is gone, and the other is told",
			aNode(fetched(nil), observedAddress("4711"), wants(four, six)),
			[]want{{Key: fromFour.Key, Name: fromFour.Name, From: "10.99.0.0/24"}, {Key: fromSix.Key, Held: v1alpha1.ReasonNotFound}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var got []want
			for _, a := range tc.node.addressing() {
				w := want{Key: tc.node.addressKey(a.want.Family)}
				if a.object != nil {
					w.Name, w.Address = a.object.GetName(), a.object.Spec.ForProvider.Address
					for _, s := range a.object.Spec.ForProvider.From {
						w.From += s.Prefix.CIDR
					}
				}
				if a.held != nil {
					w.Held = a.held.reason
				}
				got = append(got, w)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			var refs []string
			for _, a := range tc.node.bootEntryObject().Spec.ForProvider.Networks[0].Addresses {
				refs = append(refs, a.Ref.Name)
			}
			if len(refs) != len(got) || !slices.IsSorted(refs) {
				t.Errorf("%s: the entry names %v", tc.reason, refs)
			}
		})
	}
}

// TestAddressedByBoth is what is told of two addresses: that both are there, or what one lacks.
func TestAddressedByBoth(t *testing.T) {
	const four, six = v1alpha1.IPv4, v1alpha1.IPv6
	const no, yes = corev1.ConditionFalse, corev1.ConditionTrue
	ready := func(minute int) xpv2.Condition { return is(xpv2.TypeReady, yes, xpv2.ReasonAvailable, "", minute) }
	full := func(where string) xpv2.Condition {
		return is(xpv2.TypeReady, no, v1alpha1.ReasonExhausted, where+" is full", 3)
	}
	gaveFour, gaveSix := givenTo(four, "10.77.0.11/24", ready(1)), givenTo(six, "fd00:77::11/64", ready(2))
	type want struct {
		Status    corev1.ConditionStatus
		Reason    xpv2.ConditionReason
		Message   string
		Minute    int
		Addresses []string
		Phase     platform.NodePhase
	}
	cases := map[string]struct {
		reason string
		change []change
		want   want
	}{
		"Neither": {
			"both are on their way", nil,
			want{no, v1alpha1.ReasonWaitingForAddress, "NetBox is being asked for an IPv4 address", 0, nil, platform.PhaseAddressing},
		},
		"Four": {
			"what is still missing is named by its family", []change{gaveFour},
			want{no, v1alpha1.ReasonWaitingForAddress, "NetBox is being asked for an IPv6 address", 0, []string{"10.77.0.11/24"}, platform.PhaseAddressing},
		},
		"Six": {
			"whichever came first", []change{gaveSix},
			want{no, v1alpha1.ReasonWaitingForAddress, "NetBox is being asked for an IPv4 address", 0, []string{"fd00:77::11/64"}, platform.PhaseAddressing},
		},
		"SixExhausted": {
			"a prefix that is full is told though the other address is there", []change{gaveFour, givenTo(six, "", full("fd00:77::/64"))},
			want{no, v1alpha1.ReasonExhausted, "fd00:77::/64 is full", 3, []string{"10.77.0.11/24"}, platform.PhaseAddressing},
		},
		"SixExhaustedFourOnItsWay": {
			"what a person must mend is told before what is only waited for", []change{givenTo(six, "", full("fd00:77::/64"))},
			want{no, v1alpha1.ReasonExhausted, "fd00:77::/64 is full", 3, nil, platform.PhaseAddressing},
		},
		"BothExhausted": {
			"of two troubles the first is told", []change{givenTo(four, "", full("10.77.0.0/24")), givenTo(six, "", full("fd00:77::/64"))},
			want{no, v1alpha1.ReasonExhausted, "10.77.0.0/24 is full", 3, nil, platform.PhaseAddressing},
		},
		"Both": {
			"both are there since the second is, and that of IPv4 stands first", []change{gaveSix, gaveFour},
			want{yes, v1alpha1.ReasonAvailable, "10.77.0.11/24, fd00:77::11/64", 2, []string{"10.77.0.11/24", "fd00:77::11/64"}, platform.PhaseReady},
		},
		"OneLost": {
			"a machine that lost one of its addresses isn't as asked", []change{gaveFour, givenTo(six, "fd00:77::11/64", is(xpv2.TypeReady, no, v1alpha1.ReasonLost, "gone", 4))},
			want{no, v1alpha1.ReasonLost, "gone", 4, []string{"10.77.0.11/24", "fd00:77::11/64"}, platform.PhaseReady},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			phase := v1alpha1.ClaimPreparing
			if tc.want.Phase == platform.PhaseReady {
				phase = v1alpha1.ClaimReady
			}
			n := aNode(append([]change{claims(phase, v1alpha1.ReasonBound, ""), holds, installed(1, v1alpha1.BootModeInstall), wants(six, four)}, tc.change...)...)
			all := n.addressing()
			c, s := addressedCondition(all), tell(n, all)
			got := want{Status: c.Status, Reason: c.Reason, Message: c.Message, Phase: s.status.Phase}
			if !c.LastTransitionTime.IsZero() {
				got.Minute = c.LastTransitionTime.Minute()
			}
			for _, a := range s.status.Addresses {
				got.Addresses = append(got.Addresses, a.Address)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if whole := tc.want.Status == yes; s.addressed != whole || s.ready != whole {
				t.Errorf("%s: addressed %t, ready %t", tc.reason, s.addressed, s.ready)
			}
		})
	}
}

// TestOneOfEach holds what is composed at all, also of a composite that was made before a rule was.
func TestOneOfEach(t *testing.T) {
	const four, six = v1alpha1.IPv4, v1alpha1.IPv6
	for name, tc := range map[string]struct {
		reason   string
		families []v1alpha1.IPFamily
		want     bool
	}{
		"None":    {"a machine has an address", nil, false},
		"Four":    {"one is enough", []v1alpha1.IPFamily{four}, true},
		"Six":     {"of either family", []v1alpha1.IPFamily{six}, true},
		"Both":    {"one of each", []v1alpha1.IPFamily{six, four}, true},
		"Twice":   {"no two of one", []v1alpha1.IPFamily{four, four}, false},
		"Three":   {"no third", []v1alpha1.IPFamily{four, six, six}, false},
		"Unnamed": {"a family that is left out is IPv4, as admission has it", []v1alpha1.IPFamily{"", six}, true},
		"Unknown": {"there are two families", []v1alpha1.IPFamily{"IPX"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			n := aNode(wants(tc.families...))
			if err := n.complete(); (err == nil) != tc.want {
				t.Errorf("%s: %v", tc.reason, err)
			}
		})
	}
}

// TestDualPool: a pool's own network says for both families where addresses come from, and how they are let go.
func TestDualPool(t *testing.T) {
	p := aPool(nil)
	p.spec.Network = &dual().Spec
	p.spec.Reclaim = &platform.Reclaim{Addresses: &v1alpha1.ReleasePolicy{Policy: v1alpha1.ReleaseKeep}}
	want := dual().Spec
	for i := range want.Subnets {
		want.Subnets[i].AddressesFrom.Release = p.spec.Reclaim.Addresses
	}
	if diff := cmp.Diff(&want, p.releasing(p.spec.Network)); diff != "" {
		t.Errorf("network (-want +got):\n%s", diff)
	}
}
