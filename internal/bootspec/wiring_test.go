package bootspec

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

const (
	mac1, mac2 = "52:54:00:00:0a:01", "52:54:00:00:0a:02"
	upper1     = "52:54:00:00:0A:01"
	upper2     = "52:54:00:00:0A:02"
)

// seen is a NetBoxIPAddress whose interface in NetBox is known, and change makes it another.
func seen(change ...func(*v1alpha1.NetBoxIPAddressObservation)) *v1alpha1.NetBoxIPAddress {
	a := &v1alpha1.NetBoxIPAddress{}
	a.Name = "web-1-boot-ipv4"
	a.Spec.ForProvider.AssignTo = &v1alpha1.Assignment{}
	a.Status.AtProvider = v1alpha1.NetBoxIPAddressObservation{
		Prefix: &v1alpha1.PrefixObservation{CIDR: "10.77.0.0/24"},
		Interface: &v1alpha1.InterfaceObservation{
			Device: "r7-u12", InterfaceLink: v1alpha1.InterfaceLink{ID: 1, Name: "eno1", Type: "1000base-t", MACs: []string{upper1}},
		},
	}
	for _, c := range change {
		c(&a.Status.AtProvider)
	}
	return a
}

// lag has the address on a LAG of two ports.
func lag(o *v1alpha1.NetBoxIPAddressObservation) {
	o.Interface.InterfaceLink = v1alpha1.InterfaceLink{ID: 3, Name: "bond7", Type: "lag", Members: []v1alpha1.InterfaceMember{
		{ID: 1, Name: "eno1", MACs: []string{upper1}}, {ID: 2, Name: "eno2", MACs: []string{upper2}},
	}}
}

// part has the address on a VLAN's interface of what it was on.
func part(vid int32) func(*v1alpha1.NetBoxIPAddressObservation) {
	return func(o *v1alpha1.NetBoxIPAddressObservation) {
		base := o.Interface.InterfaceLink
		o.Interface.Parent = &base
		o.Interface.InterfaceLink = v1alpha1.InterfaceLink{ID: 4, Name: base.Name + ".120", Type: "virtual", UntaggedVLAN: vid}
	}
}

func trunk(mode string, untagged int32, tagged ...int32) func(*v1alpha1.NetBoxIPAddressObservation) {
	return func(o *v1alpha1.NetBoxIPAddressObservation) {
		o.Interface.Mode, o.Interface.UntaggedVLAN, o.Interface.TaggedVLANs = mode, untagged, tagged
	}
}

func inVLAN(vid int32) func(*v1alpha1.NetBoxIPAddressObservation) {
	return func(o *v1alpha1.NetBoxIPAddressObservation) { o.Prefix.VLAN = vid }
}

func bond(name string, mode v1alpha1.BondMode) *v1alpha1.EntryBond {
	return &v1alpha1.EntryBond{Name: name, Mode: mode}
}

type changes = []func(*v1alpha1.NetBoxIPAddressObservation)

func TestWired(t *testing.T) {
	type iface = v1alpha1.EntryInterface
	two := []string{mac1, mac2}
	cases := map[string]struct {
		reason string
		asked  iface
		netbox changes
		macs   []string
		want   iface
	}{
		"Port":      {"which of the machine's ports is meant is known by its MAC", iface{}, nil, two, iface{MACs: []string{mac1}}},
		"Unmarked":  {"a machine of one port needs no MAC in NetBox", iface{}, changes{func(o *v1alpha1.NetBoxIPAddressObservation) { o.Interface.MACs = nil }}, two[:1], iface{MACs: two[:1]}},
		"Secondary": {"of several MACs in NetBox it's the machine's", iface{}, changes{func(o *v1alpha1.NetBoxIPAddressObservation) { o.Interface.MACs = []string{"02:00:00:00:00:01", upper2} }}, two, iface{MACs: two[1:]}},
		"LAG":       {"each port of a LAG is one of the bond, which has its name", iface{}, changes{lag}, two, iface{MACs: two, Bond: bond("bond7", v1alpha1.BondLACP)}},
		"LAGPort": {"an address on a port of a LAG is the LAG's", iface{}, changes{func(o *v1alpha1.NetBoxIPAddressObservation) {
			lag(o)
			l := o.Interface.InterfaceLink
			*o = seen().Status.AtProvider
			o.Interface.LAG = &l
		}}, two, iface{MACs: two, Bond: bond("bond7", v1alpha1.BondLACP)}},
		"LAGName":     {"a name that no system has isn't taken", iface{}, changes{lag, func(o *v1alpha1.NetBoxIPAddressObservation) { o.Interface.Name = "Port-channel 1" }}, two, iface{MACs: two, Bond: bond("bond0", v1alpha1.BondLACP)}},
		"VLAN":        {"what is a part has its own VLAN", iface{}, changes{part(120), inVLAN(77)}, two, iface{MACs: two[:1], VLANID: 120}},
		"LAGTaken":    {"nor one that a port has", iface{}, changes{lag, func(o *v1alpha1.NetBoxIPAddressObservation) { o.Interface.Name = "port1" }}, two, iface{MACs: two, Bond: bond("bond0", v1alpha1.BondLACP)}},
		"LAGVLAN":     {"on a LAG, too", iface{}, changes{lag, part(120)}, two, iface{MACs: two, VLANID: 120, Bond: bond("bond7", v1alpha1.BondLACP)}},
		"VLANTagged":  {"a part may have it as a tagged one", iface{}, changes{part(0), trunk("tagged", 0, 121)}, two, iface{MACs: two[:1], VLANID: 121}},
		"VLANPrefix":  {"without its own it's the prefix's", iface{}, changes{part(0), inVLAN(77)}, two, iface{MACs: two[:1], VLANID: 77}},
		"Access":      {"an access port's VLAN has no tag", iface{}, changes{trunk("access", 77), inVLAN(77)}, two, iface{MACs: two[:1]}},
		"Native":      {"nor has a trunk's own", iface{}, changes{trunk("tagged", 77, 120, 121), inVLAN(77)}, two, iface{MACs: two[:1]}},
		"Trunk":       {"of a trunk's others it's that of the prefix", iface{}, changes{trunk("tagged", 77, 120, 121), inVLAN(121)}, two, iface{MACs: two[:1], VLANID: 121}},
		"TrunkAll":    {"which may carry all", iface{}, changes{trunk("tagged-all", 77), inVLAN(121)}, two, iface{MACs: two[:1], VLANID: 121}},
		"TrunkOne":    {"or the only one", iface{}, changes{trunk("tagged", 0, 120)}, two, iface{MACs: two[:1], VLANID: 120}},
		"TrunkUntold": {"without a word of the prefix's it's the one without a tag", iface{}, changes{trunk("tagged", 77, 120, 121)}, two, iface{MACs: two[:1]}},
		"MTU":         {"of what has the address", iface{}, changes{lag, func(o *v1alpha1.NetBoxIPAddressObservation) { o.Interface.MTU = 9000 }, part(120), func(o *v1alpha1.NetBoxIPAddressObservation) { o.Interface.MTU = 1500 }}, two, iface{MACs: two, VLANID: 120, MTU: 1500, Bond: bond("bond7", v1alpha1.BondLACP)}},
		"MTUBelow":    {"else of what that is on", iface{}, changes{lag, func(o *v1alpha1.NetBoxIPAddressObservation) { o.Interface.MTU = 9000 }, part(120)}, two, iface{MACs: two, VLANID: 120, MTU: 9000, Bond: bond("bond7", v1alpha1.BondLACP)}},
		"Explicit": {
			"what the entry says counts, and hides what NetBox lacks",
			iface{Addressing: v1alpha1.AddressingDHCP, MACs: two[1:], VLANID: 9, MTU: 1400, Bond: bond("b1", v1alpha1.BondActiveBackup)},
			changes{lag, func(o *v1alpha1.NetBoxIPAddressObservation) { o.Interface.Members, o.Interface.MTU = nil, 60000 }, part(0)}, two,
			iface{Addressing: v1alpha1.AddressingDHCP, MACs: two[1:], VLANID: 9, MTU: 1400, Bond: bond("b1", v1alpha1.BondActiveBackup)},
		},
		"ExplicitBond": {"of ports that NetBox has as single ones: all of the machine's, as without NetBox", iface{Bond: bond("b1", v1alpha1.BondActiveBackup)}, nil, two, iface{Bond: bond("b1", v1alpha1.BondActiveBackup)}},
		"ExplicitMode": {"of a LAG's ports", iface{Bond: bond("", v1alpha1.BondActiveBackup)}, changes{lag}, two, iface{MACs: two, Bond: bond("", v1alpha1.BondActiveBackup)}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			tc.asked.From = v1alpha1.InterfaceFromNetBox
			got, prob := Wired(&tc.asked, []*v1alpha1.NetBoxIPAddress{nil, seen(tc.netbox...)}, tc.macs)
			if prob != nil {
				t.Fatalf("%s: %+v", tc.reason, *prob)
			}
			if diff := cmp.Diff(tc.want, *got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestWiredProblems: what doesn't fit together is one sentence, which names it and says what to do.
func TestWiredProblems(t *testing.T) {
	two := []string{mac1, mac2}
	elsewhere := func(o *v1alpha1.NetBoxIPAddressObservation) { o.Interface.ID, o.Interface.Name = 9, "eno9" }
	cases := map[string]struct {
		reason string
		refs   []*v1alpha1.NetBoxIPAddress
		want   string
	}{
		"Nowhere": {"no address is assigned", []*v1alpha1.NetBoxIPAddress{{}, nil}, "none of the entry's NetBoxIPAddresses has assignTo"},
		"Unseen":  {"an interface that isn't there", []*v1alpha1.NetBoxIPAddress{seen(func(o *v1alpha1.NetBoxIPAddressObservation) { o.Interface = nil })}, `NetBoxIPAddress "web-1-boot-ipv4" shows no interface in NetBox yet`},
		"Two":     {"two addresses on two", []*v1alpha1.NetBoxIPAddress{seen(), seen(elsewhere)}, `is on interface "eno1" of "r7-u12" in NetBox, and "web-1-boot-ipv4" on interface "eno9" of "r7-u12"`},
		"Empty":   {"a LAG without ports", []*v1alpha1.NetBoxIPAddress{seen(lag, func(o *v1alpha1.NetBoxIPAddressObservation) { o.Interface.Members = nil })}, `interface "bond7" of "r7-u12" is a LAG in NetBox that no interface is a port of`},
		"NoMAC":   {"a port of a LAG without a MAC", []*v1alpha1.NetBoxIPAddress{seen(lag, func(o *v1alpha1.NetBoxIPAddressObservation) { o.Interface.Members[1].MACs = nil })}, `port "eno2" of interface "bond7" of "r7-u12" has no MAC address in NetBox`},
		"Foreign": {"a port that the machine doesn't have", []*v1alpha1.NetBoxIPAddress{seen(lag, func(o *v1alpha1.NetBoxIPAddressObservation) {
			o.Interface.Members[1].MACs = []string{"52:54:00:00:0A:99"}
		})}, `has MAC 52:54:00:00:0a:99 in NetBox, and the machine has 52:54:00:00:0a:01, 52:54:00:00:0a:02`},
		"Twice": {"two ports of one MAC", []*v1alpha1.NetBoxIPAddress{seen(lag, func(o *v1alpha1.NetBoxIPAddressObservation) {
			o.Interface.Members[1].MACs = []string{upper1}
		})}, `two ports of interface "bond7" of "r7-u12" have MAC 52:54:00:00:0a:01`},
		"Many": {"more ports than can be said", []*v1alpha1.NetBoxIPAddress{seen(lag, func(o *v1alpha1.NetBoxIPAddressObservation) {
			o.Interface.Members = make([]v1alpha1.InterfaceMember, 17)
		})}, "more than 16 ports"},
		"Unknown": {"a port of several without a MAC", []*v1alpha1.NetBoxIPAddress{seen(func(o *v1alpha1.NetBoxIPAddressObservation) { o.Interface.MACs = nil })}, `interface "eno1" of "r7-u12" has no MAC address in NetBox`},
		"NoVID":   {"a VLAN without a number", []*v1alpha1.NetBoxIPAddress{seen(part(0))}, `interface "eno1.120" of "r7-u12" is a part of "eno1" in NetBox, and neither has it a VLAN`},
		"Which":   {"a trunk of several", []*v1alpha1.NetBoxIPAddress{seen(trunk("tagged", 0, 120, 121))}, "carries several VLANs in NetBox, and the prefix of its address has none"},
		"Missing": {"a trunk that doesn't carry it", []*v1alpha1.NetBoxIPAddress{seen(trunk("tagged", 77, 120, 121), inVLAN(9))}, "doesn't carry VLAN 9 in NetBox"},
		"QinQ":    {"two tags", []*v1alpha1.NetBoxIPAddress{seen(trunk("q-in-q", 77))}, "q-in-q"},
		"Virtual": {"what's on no port", []*v1alpha1.NetBoxIPAddress{seen(func(o *v1alpha1.NetBoxIPAddressObservation) { o.Interface.Type = "virtual" })}, `is of type virtual in NetBox, which says no port`},
		"MTU":     {"one that nobody can be told", []*v1alpha1.NetBoxIPAddress{seen(func(o *v1alpha1.NetBoxIPAddressObservation) { o.Interface.MTU = 65536 })}, "has MTU 65536 in NetBox"},
		"Larger":  {"larger than what it's on", []*v1alpha1.NetBoxIPAddress{seen(func(o *v1alpha1.NetBoxIPAddressObservation) { o.Interface.MTU = 1500 }, part(120), func(o *v1alpha1.NetBoxIPAddressObservation) { o.Interface.MTU = 9000 })}, `has MTU 9000 in NetBox, and "eno1", which it's a part of, has 1500`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, prob := Wired(&v1alpha1.EntryInterface{From: v1alpha1.InterfaceFromNetBox}, tc.refs, two)
			if prob == nil || !strings.Contains(prob.Message, tc.want) || strings.Contains(prob.Message, "\n") {
				t.Errorf("%s: %+v, want %q", tc.reason, prob, tc.want)
			}
		})
	}
	if i, prob := Wired(&v1alpha1.EntryInterface{VLANID: 7}, nil, two); prob != nil || i.VLANID != 7 || len(i.MACs) != 0 {
		t.Errorf("an entry that doesn't ask NetBox is left as it is: %+v, %v", i, prob)
	}
}
