package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/test/lab"
)

const (
	// claims of claim_to_dhcp_ready.
	claims = 20
	// timeout of one claim: many times what it needs.
	timeout = time.Minute
	tenant  = "team-a"
)

// claimToDHCPReady takes one machine after another.
func claimToDHCPReady(ctx context.Context, l *lab.Lab) (float64, error) {
	var took []float64
	for i := range claims {
		name := fmt.Sprintf("bench-%02d", i+1)
		if err := register(ctx, l, name); err != nil {
			return 0, err
		}
		d, err := served(ctx, l, name)
		if err != nil {
			return 0, err
		}
		took = append(took, d.Seconds())
	}
	return median(took), nil
}

// register adds one machine to the operator's, and waits until it may be claimed.
func register(ctx context.Context, l *lab.Lab, name string) error {
	h, err := l.AddHost(lab.HostSpec{Name: name})
	if err != nil {
		return err
	}
	err = l.Apply(ctx, fmt.Sprintf(`
apiVersion: baremetal.m.crossplane.io/v1alpha1
kind: RedfishHost
metadata: {namespace: %s, name: %s}
spec:
  providerConfigRef: {kind: ClusterProviderConfig, name: bmc-rack-7}
  allowedNamespaces: {from: All}
  forProvider:
    address: %s
    system: {serial: %s}
    macs: [%q]
`, lab.InfraNamespace, name, h.BMC.Addr(), h.Serial, h.MAC.String()))
	if err != nil {
		return err
	}
	_, err = l.Await(ctx, lab.Kind("RedfishHost", lab.InfraNamespace, name), "Available", timeout, lab.Field("Available", "status", "phase"))
	return err
}

// served claims a machine and takes the time until its plan is served; then it waits until the machine is Ready, so that it
// doesn't disturb the next.
func served(ctx context.Context, l *lab.Lab, name string) (time.Duration, error) {
	start := time.Now()
	err := l.Apply(ctx, fmt.Sprintf(`
apiVersion: platform.baremetal.crossplane.io/v1alpha1
kind: BareMetalNode
metadata: {namespace: %s, name: %s}
spec:
  host: {ref: {kind: RedfishHost, namespace: %s, name: %s}}
  installGeneration: 1
  profileRef: {namespace: %s, name: debian-12}
  networks: [{name: boot, networkRef: {namespace: %s, name: rack-7}, addresses: [{family: IPv4}]}]
`, tenant, name, lab.InfraNamespace, name, lab.InfraNamespace, lab.InfraNamespace))
	if err != nil {
		return 0, err
	}
	err = l.Until(ctx, name+" to be served", timeout, func(ctx context.Context) error {
		e, err := l.Get(ctx, lab.Kind("BootEntry", tenant, name))
		if err != nil {
			return err
		}
		if c := lab.ConditionOf(e, "Served"); c.Status != "True" {
			return fmt.Errorf("condition Served is %q: %s", c.Status, c.Message)
		}
		return nil
	})
	took := time.Since(start)
	if err != nil {
		return 0, err
	}
	_, err = l.Await(ctx, lab.Node(tenant, name), "Ready", timeout, lab.Is("Ready", "True"))
	return took, err
}

// demoClaimsToReady does what the demo shows.
func demoClaimsToReady(ctx context.Context, l *lab.Lab) (float64, error) {
	objects, err := l.Example("demo/50-claims-team-a.yaml", "demo/51-claims-team-b.yaml")
	if err != nil {
		return 0, err
	}
	start := time.Now()
	if err := l.Plane.Apply(ctx, objects...); err != nil {
		return 0, err
	}
	for _, u := range objects {
		if u.GetKind() != "BareMetalNode" {
			continue
		}
		if _, err := l.Await(ctx, lab.Node(u.GetNamespace(), u.GetName()), "Ready", timeout, lab.Is("Ready", "True")); err != nil {
			return 0, err
		}
	}
	return time.Since(start).Seconds(), nil
}

// median of some figures; of an even number, the mean of the two in the middle.
func median(v []float64) float64 {
	s := slices.Sorted(slices.Values(v))
	n := len(s)
	if n == 0 {
		return 0
	}
	return (s[(n-1)/2] + s[n/2]) / 2
}
