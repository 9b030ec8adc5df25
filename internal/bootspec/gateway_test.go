package bootspec

import (
	"testing"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// TestGateway: it's near, or of IPv6 the router's address on the link, which the schema says as well (test/examples).
func TestGateway(t *testing.T) {
	cases := map[string]struct {
		reason        string
		cidr, gateway string
		wrong         bool
	}{
		"Inside":     {"as ever", "10.77.0.0/24", "10.77.0.1", false},
		"Outside":    {"nobody reaches it", "10.77.0.0/24", "10.78.0.1", true},
		"LinkLocal4": {"of IPv4 nobody's router is called so", "10.77.0.0/24", "169.254.0.1", true},
		"OfSix":      {"nor has IPv4 one of IPv6", "10.77.0.0/24", "fe80::1", true},
		"Inside6":    {"as IPv4's", "fd00:77::/64", "fd00:77::1", false},
		"Outside6":   {"nobody reaches it", "fd00:77::/64", "fd00:78::1", true},
		"LinkLocal6": {"as routers call themselves", "fd00:77::/64", "fe80::1", false},
		"Zone":       {"each machine has names of its own for its links", "fd00:77::/64", "fe80::1%eth0", true},
		"OfFour":     {"nor has IPv6 one of IPv4", "fd00:77::/64", "169.254.0.1", true},
		"Mapped":     {"in whatever way it's written", "fd00:77::/64", "::ffff:169.254.0.1", true},
	}
	for name, tc := range cases {
		n := &v1alpha1.BootNetwork{}
		n.Namespace, n.Name = "infra", "rack"
		n.Spec.Subnets = []v1alpha1.Subnet{{CIDR: tc.cidr, Gateway: tc.gateway}}
		if got := ValidNetwork(n); (len(got) > 0) != tc.wrong {
			t.Errorf("%s: %s: %v", name, tc.reason, got)
		}
	}
}
