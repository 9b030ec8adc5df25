package composition

import (
	"cmp"
	"strings"
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	gocmp "github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	platform "github.com/crossplane-contrib/provider-baremetal/apis/platform/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

var (
	netbox = v1alpha1.ProviderConfigRef{Kind: v1alpha1.ClusterProviderConfigKind, Name: "netbox"}
	prod   = &v1alpha1.VRFSelector{Name: "prod"}
	lab    = &v1alpha1.VRFSelector{Name: "lab"}
)

// source is a prefix to allocate from.
func source(cidr string, vrf *v1alpha1.VRFSelector) v1alpha1.AddressSource {
	return v1alpha1.AddressSource{Prefix: &v1alpha1.PrefixSource{CIDR: cidr, VRF: vrf}}
}

// subnet has a NetBox to allocate from.
func subnet(cidr string, ref v1alpha1.ProviderConfigRef, sources ...v1alpha1.AddressSource) v1alpha1.Subnet {
	return v1alpha1.Subnet{CIDR: cidr, AddressesFrom: &v1alpha1.AddressesFrom{NetBoxProviderConfigRef: ref, Sources: sources}}
}

// network is infra/rack-7, which team-a may use.
func network(subnets ...v1alpha1.Subnet) *v1alpha1.BootNetwork {
	return &v1alpha1.BootNetwork{
		ObjectMeta: metav1.ObjectMeta{Namespace: "infra", Name: "rack-7"},
		Spec: v1alpha1.BootNetworkSpec{
			AllowedNamespaces: &v1alpha1.AllowedNamespaces{From: v1alpha1.AllowedFromNames, Names: []string{"team-a"}},
			Subnets:           subnets,
		},
	}
}

// A planCase is one way to ask a network for an address, of IPv4 where the case says none, by team-a where it says nobody.
type planCase struct {
	reason    string
	network   *v1alpha1.BootNetwork
	family    v1alpha1.IPFamily
	given     string
	namespace string
	want      *addressPlan
	refused   xpv2.ConditionReason
	says      string
}

func (tc planCase) test(t *testing.T) {
	t.Helper()
	want := platform.AddressRequest{Family: cmp.Or(tc.family, v1alpha1.IPv4), Address: tc.given}
	got, p := planAddress(tc.network, want, cmp.Or(tc.namespace, "team-a"))
	if diff := gocmp.Diff(tc.want, got, gocmp.AllowUnexported(addressPlan{})); diff != "" {
		t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
	}
	if tc.refused == "" {
		if p != nil {
			t.Errorf("%s: refused: %s", tc.reason, p.message)
		}
		return
	}
	if p == nil || p.reason != tc.refused || !strings.Contains(p.message, tc.says) {
		t.Errorf("%s: want %s with %q, got %+v", tc.reason, tc.refused, tc.says, p)
	}
}

func TestPlanAddress(t *testing.T) {
	rack := subnet("10.77.0.0/24", netbox, source("10.77.0.0/24", prod))
	rack.Gateway, rack.DNS = "10.77.0.1", []string{"10.77.0.2"}
	for name, tc := range map[string]planCase{
		"Any": {
			reason:  "an address comes from the network's sources",
			network: network(rack),
			want:    &addressPlan{configRef: netbox, from: []v1alpha1.AddressSource{source("10.77.0.0/24", prod)}},
		},
		"SourcesOfSeveralSubnets": {
			reason:  "the sources of all subnets are tried in order",
			network: network(rack, subnet("10.78.0.0/24", netbox, source("10.78.0.0/25", nil))),
			want:    &addressPlan{configRef: netbox, from: []v1alpha1.AddressSource{source("10.77.0.0/24", prod), source("10.78.0.0/25", nil)}},
		},
		"OneNetBox": {
			reason:  "one address comes from one NetBox",
			network: network(rack, subnet("10.78.0.0/24", v1alpha1.ProviderConfigRef{Name: "other"}, source("10.78.0.0/25", nil))),
			want:    &addressPlan{configRef: netbox, from: []v1alpha1.AddressSource{source("10.77.0.0/24", prod)}},
		},
		"SkipsIPv6": {
			reason:  "IPv4 is asked for",
			network: network(subnet("2001:db8::/64", netbox, source("2001:db8::/64", nil)), rack),
			want:    &addressPlan{configRef: netbox, from: []v1alpha1.AddressSource{source("10.77.0.0/24", prod)}},
		},
		"NoSource": {
			reason:  "an operator must say where addresses come from",
			network: network(v1alpha1.Subnet{CIDR: "10.77.0.0/24"}),
			refused: v1alpha1.ReasonInvalid, says: "has no IPv4 subnet with addressesFrom",
		},
		"OtherNamespace": {
			reason:  "a network allows namespaces",
			network: network(rack), namespace: "team-b",
			refused: v1alpha1.ReasonNotAllowed, says: `does not allow machines of namespace "team-b"`,
		},
		"OwnNamespaceByDefault": {
			reason: "a network that says nothing is its own namespace's",
			network: func() *v1alpha1.BootNetwork {
				n := network(rack)
				n.Spec.AllowedNamespaces = nil
				return n
			}(),
			refused: v1alpha1.ReasonNotAllowed, says: "does not allow",
		},
		"NamespacedConfigElsewhere": {
			reason:  "a ProviderConfig serves its own namespace alone, and would be looked up in the tenant's",
			network: network(subnet("10.77.0.0/24", v1alpha1.ProviderConfigRef{Kind: v1alpha1.ProviderConfigKind, Name: "x"}, source("10.77.0.0/24", nil))),
			refused: v1alpha1.ReasonInvalid, says: "must name a ClusterProviderConfig",
		},
		"Given": {
			reason:  "a given address gets its subnet's prefix length and its prefix's VRF",
			network: network(rack), given: "10.77.0.40",
			want: &addressPlan{configRef: netbox, address: "10.77.0.40/24", vrf: prod},
		},
		"GivenWithLength": {
			reason:  "a given prefix length must be the subnet's",
			network: network(rack), given: "10.77.0.40/24",
			want: &addressPlan{configRef: netbox, address: "10.77.0.40/24", vrf: prod},
		},
		"GivenWithOtherLength": {
			reason:  "another prefix length would be another subnet",
			network: network(rack), given: "10.77.0.40/16",
			refused: v1alpha1.ReasonInvalid, says: "must have the prefix length of subnet 10.77.0.0/24",
		},
		"GivenElsewhere": {
			reason:  "a tenant has the network's subnets alone",
			network: network(rack), given: "10.78.0.40",
			refused: v1alpha1.ReasonNotAllowed, says: "is in no subnet of BootNetwork infra/rack-7",
		},
		"GivenElsewhereByLength": {
			reason:  "a long prefix doesn't bring an address into a subnet",
			network: network(rack), given: "10.0.0.1/8",
			refused: v1alpha1.ReasonNotAllowed, says: "is in no subnet",
		},
		"GivenGateway": {
			reason:  "the gateway isn't for machines",
			network: network(rack), given: "10.77.0.1",
			refused: v1alpha1.ReasonInvalid, says: "is the gateway",
		},
		"GivenDNS": {
			reason:  "a DNS server isn't either",
			network: network(rack), given: "10.77.0.2/24",
			refused: v1alpha1.ReasonInvalid, says: "is a DNS server",
		},
		"GivenNetwork": {
			reason:  "nor the network itself",
			network: network(rack), given: "10.77.0.0",
			refused: v1alpha1.ReasonInvalid, says: "is the network address",
		},
		"GivenBroadcast": {
			reason:  "nor its broadcast address",
			network: network(rack), given: "10.77.0.255",
			refused: v1alpha1.ReasonInvalid, says: "is the broadcast address",
		},
		"PointToPoint": {
			reason:  "both addresses of a /31 are usable (RFC 3021)",
			network: network(subnet("10.77.1.0/31", netbox, source("10.77.1.0/31", nil))), given: "10.77.1.1",
			want: &addressPlan{configRef: netbox, address: "10.77.1.1/31"},
		},
		"GivenWithoutSource": {
			reason:  "a fixed address is recorded in NetBox too",
			network: network(v1alpha1.Subnet{CIDR: "10.77.0.0/24"}), given: "10.77.0.40",
			refused: v1alpha1.ReasonInvalid, says: "has no addressesFrom",
		},
		"GivenIPv6": {
			reason:  "an address of the other family isn't what was asked for",
			network: network(rack), given: "2001:db8::1",
			refused: v1alpha1.ReasonInvalid, says: "is not an IPv4 address",
		},
		"GivenNonsense": {
			reason:  "what can't be read is refused",
			network: network(rack), given: "10.77.0.400",
			refused: v1alpha1.ReasonInvalid, says: "is not an IPv4 address",
		},
		"VRFOfTheRightPrefix": {
			reason:  "the VRF is that of the prefix the address is in",
			network: network(subnet("10.77.0.0/24", netbox, source("10.77.0.0/25", prod), source("10.77.0.128/25", lab))), given: "10.77.0.200",
			want: &addressPlan{configRef: netbox, address: "10.77.0.200/24", vrf: lab},
		},
		"VRFOfTheFirstPrefix": {
			reason:  "outside of all prefixes the first one's VRF is the subnet's",
			network: network(subnet("10.77.0.0/24", netbox, source("10.77.0.0/26", prod))), given: "10.77.0.200",
			want: &addressPlan{configRef: netbox, address: "10.77.0.200/24", vrf: prod},
		},
		"FilterAndRange": {
			reason: "whatever a filter finds is IPv4, unless it says otherwise itself",
			network: network(subnet("10.77.0.0/24", netbox,
				v1alpha1.AddressSource{Prefix: &v1alpha1.PrefixSource{Filter: &v1alpha1.PrefixFilter{Role: "nodes", VRF: prod}}},
				v1alpha1.AddressSource{Range: &v1alpha1.RangeSource{Filter: &v1alpha1.RangeFilter{Tags: []string{"pool"}, Family: v1alpha1.IPv4}}},
				v1alpha1.AddressSource{Range: &v1alpha1.RangeSource{Start: "10.77.0.100/24"}})),
			want: &addressPlan{configRef: netbox, from: []v1alpha1.AddressSource{
				{Prefix: &v1alpha1.PrefixSource{Filter: &v1alpha1.PrefixFilter{Role: "nodes", VRF: prod, Family: v1alpha1.IPv4}}},
				{Range: &v1alpha1.RangeSource{Filter: &v1alpha1.RangeFilter{Tags: []string{"pool"}, Family: v1alpha1.IPv4}}},
				{Range: &v1alpha1.RangeSource{Start: "10.77.0.100/24"}},
			}},
		},
		"VRFOfAFilter": {
			reason:  "a filter's VRF is that of a given address, too",
			network: network(subnet("10.77.0.0/24", netbox, v1alpha1.AddressSource{Prefix: &v1alpha1.PrefixSource{Filter: &v1alpha1.PrefixFilter{VRF: lab}}})), given: "10.77.0.200",
			want: &addressPlan{configRef: netbox, address: "10.77.0.200/24", vrf: lab},
		},
		"VRFOfAStart": {
			reason:  "so is that of a range that is named by its start",
			network: network(subnet("10.77.0.0/24", netbox, v1alpha1.AddressSource{Range: &v1alpha1.RangeSource{Start: "10.77.0.100/24", VRF: lab}})), given: "10.77.0.200",
			want: &addressPlan{configRef: netbox, address: "10.77.0.200/24", vrf: lab},
		},
		"VRFOfARange": {
			reason:  "a range has no VRF of its own",
			network: network(subnet("10.77.0.0/24", netbox, v1alpha1.AddressSource{Range: &v1alpha1.RangeSource{ID: new(int64(12))}})), given: "10.77.0.200",
			want: &addressPlan{configRef: netbox, address: "10.77.0.200/24"},
		},
	} {
		t.Run(name, tc.test)
	}
}

// FuzzParseAddress proves that no tenant's words break the parser, and that what it takes is an address of one family.
func FuzzParseAddress(f *testing.F) {
	for _, s := range []string{"10.77.0.40", "10.77.0.40/24", "::1", "::ffff:10.0.0.1", "fd00::1%eth0", "fd00:77::40/64", "10.0.0.0/33", "", "/"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		addr, bits, err := parseAddress(s)
		if err == nil && (!addr.Is4() && !addr.Is6() || addr.Is4In6() || addr.Zone() != "" || bits < -1 || bits > addr.BitLen()) {
			t.Errorf("parseAddress(%q): %v/%d", s, addr, bits)
		}
	})
}
