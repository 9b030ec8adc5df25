package composition

import (
	"testing"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

func TestPlanAddressOfIPv6(t *testing.T) {
	rack := subnet("10.77.0.0/24", netbox, source("10.77.0.0/24", prod))
	six := subnet("fd00:77::/64", netbox, source("fd00:77::/64", lab))
	six.Gateway, six.DNS = "fd00:77:0::1", []string{"FD00:77::53"}
	for name, tc := range map[string]planCase{
		"IPv6": {
			reason:  "an address of IPv6 comes from the sources of the subnets of IPv6",
			network: network(rack, six), family: v1alpha1.IPv6,
			want: &addressPlan{configRef: netbox, from: []v1alpha1.AddressSource{source("fd00:77::/64", lab)}},
		},
		"IPv6OfAnotherNetBox": {
			reason:  "each family may have a NetBox of its own",
			network: network(rack, subnet("fd00:77::/64", v1alpha1.ProviderConfigRef{Name: "other"}, source("fd00:77::/64", nil))), family: v1alpha1.IPv6,
			want: &addressPlan{configRef: v1alpha1.ProviderConfigRef{Name: "other"}, from: []v1alpha1.AddressSource{source("fd00:77::/64", nil)}},
		},
		"NoSourceOfIPv6": {
			reason:  "where a network has none of a family, that is said",
			network: network(rack, v1alpha1.Subnet{CIDR: "fd00:77::/64"}), family: v1alpha1.IPv6,
			refused: v1alpha1.ReasonInvalid, says: "has no IPv6 subnet with addressesFrom",
		},
		"FilterOfIPv6": {
			reason: "whatever a filter of a subnet of IPv6 finds is IPv6",
			network: network(rack, subnet("fd00:77::/64", netbox,
				v1alpha1.AddressSource{Prefix: &v1alpha1.PrefixSource{Filter: &v1alpha1.PrefixFilter{Role: "nodes"}}},
				v1alpha1.AddressSource{Range: &v1alpha1.RangeSource{Filter: &v1alpha1.RangeFilter{Role: "nodes"}}})), family: v1alpha1.IPv6,
			want: &addressPlan{configRef: netbox, from: []v1alpha1.AddressSource{
				{Prefix: &v1alpha1.PrefixSource{Filter: &v1alpha1.PrefixFilter{Role: "nodes", Family: v1alpha1.IPv6}}},
				{Range: &v1alpha1.RangeSource{Filter: &v1alpha1.RangeFilter{Role: "nodes", Family: v1alpha1.IPv6}}},
			}},
		},
		"OtherFamily": {
			reason: "a source that says itself that it's of the other family is passed over, as one that was stored before that was refused",
			network: network(rack, subnet("fd00:77::/64", netbox, source("10.77.0.0/24", nil),
				v1alpha1.AddressSource{Range: &v1alpha1.RangeSource{Start: "10.77.0.100/24"}},
				v1alpha1.AddressSource{Prefix: &v1alpha1.PrefixSource{Filter: &v1alpha1.PrefixFilter{Family: v1alpha1.IPv4}}},
				v1alpha1.AddressSource{Range: &v1alpha1.RangeSource{Filter: &v1alpha1.RangeFilter{Family: v1alpha1.IPv4}}},
				source("fd00:77::/64", lab))), family: v1alpha1.IPv6,
			want: &addressPlan{configRef: netbox, from: []v1alpha1.AddressSource{source("fd00:77::/64", lab)}},
		},
		"OtherFamilyAlone": {
			reason:  "where there's no other, that is said",
			network: network(rack, subnet("fd00:77::/64", netbox, source("10.77.0.0/24", nil))), family: v1alpha1.IPv6,
			refused: v1alpha1.ReasonInvalid, says: "the sources of the IPv6 subnets of BootNetwork infra/rack-7 are all of the other family; its operator must name IPv6 ones",
		},
		"OtherFamilyOfIPv4": {
			reason:  "and so it is with IPv4",
			network: network(subnet("10.77.0.0/24", netbox, source("fd00:77::/64", nil))),
			refused: v1alpha1.ReasonInvalid, says: "must name IPv4 ones",
		},
		"FamilyOfANumber": {
			reason:  "of which family a number is NetBox alone knows: the address says which one it must be of",
			network: network(rack, subnet("fd00:77::/64", netbox, v1alpha1.AddressSource{Range: &v1alpha1.RangeSource{ID: new(int64(3))}})), family: v1alpha1.IPv6,
			want: &addressPlan{configRef: netbox, family: v1alpha1.IPv6, from: []v1alpha1.AddressSource{{Range: &v1alpha1.RangeSource{ID: new(int64(3))}}}},
		},
		"SixGiven": {
			reason:  "a given address of IPv6 gets its subnet's prefix length and its prefix's VRF, in one way to write it",
			network: network(rack, six), family: v1alpha1.IPv6, given: "FD00:77:0:0::40",
			want: &addressPlan{configRef: netbox, address: "fd00:77::40/64", vrf: lab},
		},
		"SixGivenWithOtherLength": {
			reason:  "another prefix length would be another subnet",
			network: network(rack, six), family: v1alpha1.IPv6, given: "fd00:77::40/48",
			refused: v1alpha1.ReasonInvalid, says: "must have the prefix length of subnet fd00:77::/64",
		},
		"SixGivenElsewhere": {
			reason:  "a tenant has the network's subnets alone",
			network: network(rack, six), family: v1alpha1.IPv6, given: "fd00:78::40",
			refused: v1alpha1.ReasonNotAllowed, says: "is in no subnet of BootNetwork infra/rack-7",
		},
		"SixGivenGateway": {
			reason:  "the gateway isn't for machines, however it is written",
			network: network(rack, six), family: v1alpha1.IPv6, given: "fd00:77::1",
			refused: v1alpha1.ReasonInvalid, says: "is the gateway",
		},
		"SixGivenDNS": {
			reason:  "a DNS server isn't either",
			network: network(rack, six), family: v1alpha1.IPv6, given: "fd00:77::53/64",
			refused: v1alpha1.ReasonInvalid, says: "is a DNS server",
		},
		"SixGivenAnycast": {
			reason:  "the first address of a subnet is its routers' (RFC 4291)",
			network: network(rack, six), family: v1alpha1.IPv6, given: "fd00:77::",
			refused: v1alpha1.ReasonInvalid, says: "is the routers' anycast address",
		},
		"SixGivenLast": {
			reason:  "IPv6 has no broadcast address",
			network: network(rack, six), family: v1alpha1.IPv6, given: "fd00:77::ffff:ffff:ffff:ffff",
			want: &addressPlan{configRef: netbox, address: "fd00:77::ffff:ffff:ffff:ffff/64", vrf: lab},
		},
		"SixPointToPoint": {
			reason:  "both addresses of a /127 are usable (RFC 6164)",
			network: network(subnet("fd00:77:1::/127", netbox, source("fd00:77:1::/127", nil))), family: v1alpha1.IPv6, given: "fd00:77:1::",
			want: &addressPlan{configRef: netbox, address: "fd00:77:1::/127"},
		},
		"SixGivenIPv4": {
			reason:  "an address of the other family isn't what was asked for",
			network: network(rack, six), family: v1alpha1.IPv6, given: "10.77.0.40",
			refused: v1alpha1.ReasonInvalid, says: "is not an IPv6 address",
		},
		"SixGivenWithZone": {
			reason:  "a zone is of one machine's own",
			network: network(rack, six), family: v1alpha1.IPv6, given: "fd00:77::40%eth0",
			refused: v1alpha1.ReasonInvalid, says: "is not an IPv6 address",
		},
		"SixGivenMapped": {
			reason:  "an address of IPv4 isn't one of IPv6, however it is written",
			network: network(rack, six), family: v1alpha1.IPv6, given: "::ffff:10.77.0.40",
			refused: v1alpha1.ReasonInvalid, says: "is not an IPv6 address",
		},
	} {
		t.Run(name, tc.test)
	}
}
