package composition

import (
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	platform "github.com/crossplane-contrib/provider-baremetal/apis/platform/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// asksNetBoxForAll has the claim's system have the network that NetBox has of its machine.
func asksNetBoxForAll(n *node) {
	n.spec.Networks[0].Interface = &platform.NodeInterface{From: v1alpha1.InterfaceFromNetBox}
}

// rackOn is a network that says where in NetBox its machines' addresses are; nil: it doesn't.
func rackOn(a *v1alpha1.MachineAssignment) *v1alpha1.BootNetwork {
	n := network(subnet("10.77.0.0/24", netbox, source("10.77.0.0/24", prod)))
	n.Spec.Subnets[0].AddressesFrom.AssignTo = a
	return n
}

// assigned puts the observed address, which was added before, on an interface of a host.
func assigned(host, iface string) change {
	return func(n *node) {
		n.addresses[v1alpha1.IPv4].Spec.ForProvider.AssignTo = assignmentTo(host, iface, v1alpha1.UseAdditional)
	}
}

// assignmentTo is that of an address to an interface of a host of infra's.
func assignmentTo(host, iface string, use v1alpha1.AddressUse) *v1alpha1.Assignment {
	out := &v1alpha1.Assignment{HostRef: &xpv2.NamespacedReference{Namespace: "infra", Name: host}, Use: use}
	if iface != "" {
		out.Interface = &v1alpha1.NetBoxInterface{Name: iface}
	}
	return out
}

// TestAssignment is where in NetBox a node's address is put.
func TestAssignment(t *testing.T) {
	bound := func(n *node) {
		claims(v1alpha1.ClaimBound, v1alpha1.ReasonBound, "")(n)
		holds(n)
	}
	bond := &v1alpha1.MachineAssignment{InterfaceName: "bond0.120", Use: v1alpha1.UsePrimary}
	type want struct {
		Made     bool
		AssignTo *v1alpha1.Assignment
		Held     xpv2.ConditionReason
	}
	onAny, onBond := assignmentTo("r7-u12", "", v1alpha1.UseAdditional), assignmentTo("r7-u12", "bond0.120", v1alpha1.UsePrimary)
	cases := map[string]struct {
		reason string
		node   *node
		want   want
	}{
		"NobodyAsks": {"an address that nobody wants on an interface is made at once", aNode(fetched(rackOn(nil))), want{Made: true}},
		"Asked":      {"the interface with a MAC address of the host that is bound", aNode(fetched(rackOn(nil)), bound, asksNetBoxForAll), want{true, onAny, ""}},
		"Network":    {"a network says so of all its machines", aNode(fetched(rackOn(bond)), bound), want{true, onBond, ""}},
		"Both":       {"which interface the claim means its network says", aNode(fetched(rackOn(bond)), bound, asksNetBoxForAll), want{true, onBond, ""}},
		"NoUse":      {"what an older object leaves out is Additional", aNode(fetched(rackOn(&v1alpha1.MachineAssignment{})), bound), want{true, onAny, ""}},
		"Fixed": {
			"a given address is put there, too",
			aNode(fetched(rackOn(bond)), bound, func(n *node) { n.spec.Networks[0].Addresses[0].Address = "10.77.0.40" }), want{true, onBond, ""},
		},
		"Unbound": {
			"before a host is bound there's no device: it may be another claim's", aNode(fetched(rackOn(bond)), asksNetBoxForAll),
			want{Held: v1alpha1.ReasonWaitingForHost},
		},
		"NotAllowed": {
			"what is wrong with the network is told first",
			aNode(fetched(func() *v1alpha1.BootNetwork {
				n := rackOn(bond)
				n.Spec.AllowedNamespaces = &v1alpha1.AllowedNamespaces{From: v1alpha1.AllowedFromNone}
				return n
			}()), asksNetBoxForAll),
			want{Held: v1alpha1.ReasonNotAllowed},
		},
		"Later":   {"an address that was given is put there where it's asked for later", aNode(fetched(rackOn(nil)), bound, observedAddress("4711"), asksNetBoxForAll), want{true, onAny, ""}},
		"NoMore":  {"and taken away where nobody asks any more", aNode(fetched(rackOn(nil)), bound, observedAddress("4711"), assigned("r7-u12", "")), want{Made: true}},
		"Another": {"another host's device is another place", aNode(fetched(rackOn(nil)), bound, observedAddress("4711"), assigned("r7-u13", ""), asksNetBoxForAll), want{true, onAny, ""}},
		"Released": {
			"it stays where it was while no host is bound",
			aNode(fetched(rackOn(nil)), observedAddress("4711"), assigned("r7-u13", ""), asksNetBoxForAll), want{true, assignmentTo("r7-u13", "", v1alpha1.UseAdditional), ""},
		},
		"NoNetwork": {
			"or while the network is gone, whose doing it was",
			aNode(fetched(nil), bound, observedAddress("4711"), assigned("r7-u12", "bond0")), want{true, assignmentTo("r7-u12", "bond0", v1alpha1.UseAdditional), ""},
		},
		"NotFetched": {
			"or isn't known yet",
			aNode(bound, observedAddress(""), assigned("r7-u12", "bond0")), want{true, assignmentTo("r7-u12", "bond0", v1alpha1.UseAdditional), ""},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			a := tc.node.addressing()[0]
			got := want{Made: a.object != nil}
			if a.object != nil {
				got.AssignTo = a.object.Spec.ForProvider.AssignTo
			}
			if a.held != nil {
				got.Held = a.held.reason
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			i := tc.node.bootEntryObject().Spec.ForProvider.Networks[0].Interface
			if asks := i != nil && i.From == v1alpha1.InterfaceFromNetBox; asks != tc.node.fromNetBox() {
				t.Errorf("%s: the entry's interface is %v", tc.reason, i)
			}
		})
	}
}

// TestWhoseInterface is what a claim is told of its machine's interface in NetBox: the address's own sentence, and who corrects it.
func TestWhoseInterface(t *testing.T) {
	const who = "; where it's put an operator says, by netboxDevice of the host and addressesFrom.assignTo of BootNetwork infra/rack-7"
	cases := map[string]struct {
		reason  string
		on      string
		because xpv2.ConditionReason
		message string
		want    string
	}{
		"Device":    {"a device that isn't there", "bond0", v1alpha1.ReasonNotFound, `cannot find device "r7-u12": NetBox has none`, who},
		"Interface": {"an interface that isn't there", "bond0", v1alpha1.ReasonNotFound, `cannot find on device "r7-u12" the interface "bond0": NetBox has none`, who},
		"Several":   {"several with the host's MAC addresses", "", v1alpha1.ReasonAmbiguous, "it has several interfaces: say which in assignTo.interface", who},
		"Seat":      {"a primary address that is another's", "bond0", v1alpha1.ReasonConflict, `the primary IPv4 address of device "r7-u12" in NetBox is 10.77.0.9/24 already`, who},
		"Taken":     {"an address that another record has isn't that", "bond0", v1alpha1.ReasonConflict, "address 10.77.0.40/24 is record 7's already", ""},
		"Prefix":    {"a source is no interface", "bond0", v1alpha1.ReasonNotFound, "cannot find a prefix", ""},
		"Full":      {"nor is one that is full", "bond0", v1alpha1.ReasonExhausted, "the interface", ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			n := aNode(observedAddress(""), assigned("r7-u12", tc.on))
			n.addresses[v1alpha1.IPv4].Status.Conditions = []xpv2.Condition{is(xpv2.TypeReady, corev1.ConditionFalse, tc.because, tc.message, 1)}
			if got := addressedCondition(n.addressing()); got.Message != tc.message+tc.want || got.Reason != tc.because {
				t.Errorf("%s: %s, %q, want %q", tc.reason, got.Reason, got.Message, tc.message+tc.want)
			}
		})
	}
	plain := aNode(observedAddress(""))
	plain.addresses[v1alpha1.IPv4].Status.Conditions = []xpv2.Condition{is(xpv2.TypeReady, corev1.ConditionFalse, v1alpha1.ReasonNotFound, "the interface", 1)}
	if got := addressedCondition(plain.addressing()).Message; got != "the interface" {
		t.Errorf("an address that nobody assigns: %q", got)
	}
}
