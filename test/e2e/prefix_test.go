package e2e

import (
	"net/netip"
	"strconv"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-baremetal/test/lab"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/netbox"
)

// TestTenantTakesNoAddress tries, as somebody who may write the provider's own kinds in his namespace, each way to a prefix or an
// address of others. NetBox isn't even asked for what policies don't leave to a namespace, and no record of others changes.
func TestTenantTakesNoAddress(t *testing.T) {
	t.Parallel()
	o := newOwnEnv(t)
	theirs := netbox.Address{Address: netip.MustParsePrefix("10.77.0.251/24"), Status: "active", Description: "somebody else's"}
	id := o.NetBox.AddAddress(theirs)
	t.Cleanup(func() { o.NetBox.RemoveAddress(id) })
	o.own(netboxConfigs, "url", o.NetBox.URL())
	cases := map[string]struct {
		reason string
		// config of that name after the case's own, annotations, and what is asked for.
		config, annotations, want string
		refused                   string
		words                     []string
	}{
		"config-of-others": {
			"A config serves the namespaces that it lists.", o.id + "-others", "{}", "from: [{prefix: {cidr: 10.77.0.0/24}}]",
			"NotAllowed", []string{"doesn't allow namespace", "spec.allowedNamespaces"},
		},
		"no-policy": {
			"Where there are policies, who isn't named may ask for nothing.", o.id + "-unnamed", "{}", "from: [{prefix: {cidr: 10.77.0.0/24}}]",
			"NotAllowed", []string{"not allowed for namespace"},
		},
		"prefix-of-others": {
			"A policy's prefixes are all there are.", o.id + "-named", "{}", "from: [{prefix: {cidr: 10.77.0.0/24}}]",
			"NotAllowed", []string{"10.77.0.0/24", "not allowed for namespace"},
		},
		"address-in-prefix-of-others": {
			"Also for a given address.", o.id + "-named", "{}", "address: 10.77.0.252/24",
			"NotAllowed", []string{"10.77.0.252", "not allowed for namespace"},
		},
		"address-of-others": {
			"An address that somebody has stays theirs.", "netbox", "{}", "address: 10.77.0.251/24",
			"Conflict", []string{"10.77.0.251", "another record's"},
		},
		"record-of-others": {
			"A record without our marker isn't taken over by its number.", "netbox", `{crossplane.io/external-name: "` + strconv.FormatInt(id, 10) + `"}`,
			"from: [{prefix: {cidr: 10.77.0.0/24}}]", "Conflict", []string{"nothing is written to it"},
		},
		"prefix-that-is-none": {
			"What isn't in NetBox is named, with what to do.", "netbox", "{}", "from: [{prefix: {cidr: 10.98.0.0/24}}]",
			"NotFound", []string{"10.98.0.0/24", "create it in NetBox, or correct spec.forProvider"},
		},
	}
	for name, tc := range cases {
		o.apply(`
apiVersion: baremetal.m.crossplane.io/v1alpha1
kind: NetBoxIPAddress
metadata: {namespace: «tenant», name: «name», annotations: «annotations»}
spec:
  providerConfigRef: {kind: ClusterProviderConfig, name: «config»}
  forProvider: {«want»}
`, "name", name, "config", tc.config, "annotations", tc.annotations, "want", tc.want)
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := o.Await(t.Context(), lab.Kind("NetBoxIPAddress", o.Tenant, name), "refused", soon, func(u *unstructured.Unstructured) bool {
				return lab.ConditionOf(u, "Ready").Reason == tc.refused && containsAll(allMessages(u), tc.words)
			})
			if err != nil {
				t.Errorf("%s\n%v", tc.reason, err)
			}
		})
	}
	for name := range cases {
		o.deleted(lab.Kind("NetBoxIPAddress", o.Tenant, name))
	}
	if n := o.addressesOf(o.Tenant); n != 0 {
		t.Errorf("want no address of the tenant's in NetBox, got %d", n)
	}
	for _, a := range o.NetBox.Addresses() {
		if a.Address != theirs.Address {
			continue
		}
		got := netbox.Address{Address: a.Address, Status: a.Status, Description: a.Description}
		if diff := gocmp.Diff(theirs, got, gocmp.Comparer(func(x, y netip.Prefix) bool { return x == y })); diff != "" || a.ID != id {
			t.Errorf("somebody else's record was changed: -want, +got:\n%s", diff)
		}
		return
	}
	t.Error("somebody else's record was deleted")
}

// netboxConfigs are provider configs that leave nothing, or other prefixes, to the case's tenant.
const netboxConfigs = `
apiVersion: baremetal.m.crossplane.io/v1alpha1
kind: ClusterProviderConfig
metadata: {name: «id»-others}
spec:
  allowedNamespaces: {from: Names, names: [somebody-else]}
  netbox:
    url: «url»
    credentials: {source: Secret, secretRef: {namespace: crossplane-system, name: netbox, key: token}}
---
apiVersion: baremetal.m.crossplane.io/v1alpha1
kind: ClusterProviderConfig
metadata: {name: «id»-unnamed}
spec:
  netbox:
    url: «url»
    credentials: {source: Secret, secretRef: {namespace: crossplane-system, name: netbox, key: token}}
    policies: [{namespaces: [somebody-else]}]
---
apiVersion: baremetal.m.crossplane.io/v1alpha1
kind: ClusterProviderConfig
metadata: {name: «id»-named}
spec:
  netbox:
    url: «url»
    credentials: {source: Secret, secretRef: {namespace: crossplane-system, name: netbox, key: token}}
    policies: [{namespaces: [«tenant»], prefixes: [10.78.0.0/16]}]
`
