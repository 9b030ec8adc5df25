package main

import (
	"context"
	"fmt"

	"github.com/crossplane-contrib/provider-baremetal/test/lab"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/netbox"
)

// benchConfig is the provider config of the NetBox that is measured.
const benchConfig = "bench"

// slowNetBox starts a NetBox of its own, that takes its time, and a provider config of it.
func slowNetBox(ctx context.Context, l *lab.Lab, name string, o netbox.Options, cidrs ...string) (*netbox.Server, error) {
	s := netbox.New(o)
	s.AddToken(netbox.Token{Name: "provider", Secret: lab.NetBoxToken})
	for _, c := range cidrs {
		s.AddCIDR(c)
	}
	if err := s.Start(""); err != nil {
		return nil, fmt.Errorf("cannot start a NetBox: %w", err)
	}
	return s, l.Apply(ctx, fmt.Sprintf(`
apiVersion: v1
kind: Secret
metadata: {namespace: crossplane-system, name: %[1]s}
stringData: {token: %[2]q}
---
apiVersion: baremetal.m.crossplane.io/v1alpha1
kind: ClusterProviderConfig
metadata: {name: %[1]s}
spec:
  allowedNamespaces: {from: All}
  netbox:
    url: %[3]q
    credentials: {source: Secret, secretRef: {namespace: crossplane-system, name: %[1]s, key: token}}
`, name, lab.NetBoxToken, s.URL()))
}
