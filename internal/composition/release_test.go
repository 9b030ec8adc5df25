package composition

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	platform "github.com/crossplane-contrib/provider-baremetal/apis/platform/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

func quarantine(d time.Duration) *v1alpha1.ReleasePolicy {
	return &v1alpha1.ReleasePolicy{Policy: v1alpha1.ReleaseQuarantine, After: &metav1.Duration{Duration: d}}
}

// TestReleaseOfAddress is what becomes of a node's address when the node goes.
func TestReleaseOfAddress(t *testing.T) {
	with := func(p *v1alpha1.ReleasePolicy) *v1alpha1.BootNetwork {
		n := network(subnet("10.77.0.0/24", netbox, source("10.77.0.0/24", nil)))
		n.Spec.Subnets[0].AddressesFrom.Release = p
		return n
	}
	held := func(p *v1alpha1.ReleasePolicy) change {
		return func(n *node) {
			observedAddress("4711")(n)
			n.addresses[v1alpha1.IPv4].Spec.ForProvider.Release = p
		}
	}
	fixed := func(n *node) { n.spec.Networks[0].Addresses[0].Address = "10.77.0.40" }
	cases := map[string]struct {
		reason string
		node   *node
		want   *v1alpha1.ReleasePolicy
	}{
		"None":      {"the network says nothing", aNode(fetched(with(nil))), nil},
		"Network":   {"it's what the network says", aNode(fetched(with(quarantine(time.Hour)))), quarantine(time.Hour)},
		"Fixed":     {"also of a given address", aNode(fetched(with(quarantine(time.Hour))), fixed), quarantine(time.Hour)},
		"Allocated": {"and of one that is there, which the network may change", aNode(fetched(with(quarantine(2*time.Hour))), held(quarantine(time.Hour))), quarantine(2 * time.Hour)},
		"Gone":      {"a network that is gone changes nothing", aNode(fetched(nil), held(quarantine(time.Hour))), quarantine(time.Hour)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			a := tc.node.addressing()[0].object
			if a == nil {
				t.Fatalf("%s: no address", tc.reason)
			}
			if diff := cmp.Diff(tc.want, a.Spec.ForProvider.Release); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestReleaseOfPool: a pool's own network lets addresses go as the pool says.
func TestReleaseOfPool(t *testing.T) {
	own := subnet("10.77.1.0/24", netbox, source("10.77.1.0/24", nil))
	own.AddressesFrom.Release = &v1alpha1.ReleasePolicy{Policy: v1alpha1.ReleaseKeep}
	p := aPool(nil)
	p.spec.Network = &v1alpha1.BootNetworkSpec{Subnets: []v1alpha1.Subnet{subnet("10.77.0.0/24", netbox, source("10.77.0.0/24", nil)), own, {CIDR: "10.77.2.0/24"}}}
	if diff := cmp.Diff(p.spec.Network, p.releasing(p.spec.Network)); diff != "" {
		t.Errorf("a pool that says nothing (-want +got):\n%s", diff)
	}
	p.spec.Reclaim = &platform.Reclaim{Addresses: quarantine(time.Hour)}
	got := p.releasing(p.spec.Network).Subnets
	if diff := cmp.Diff(quarantine(time.Hour), got[0].AddressesFrom.Release); diff != "" {
		t.Errorf("as the pool says (-want +got):\n%s", diff)
	}
	if got[1].AddressesFrom.Release.Policy != v1alpha1.ReleaseKeep || got[2].AddressesFrom != nil {
		t.Errorf("as a subnet says itself: %+v", got[1:])
	}
	if p.spec.Network.Subnets[0].AddressesFrom.Release != nil {
		t.Error("what is observed isn't written to")
	}
}
