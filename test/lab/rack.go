package lab

import (
	"context"
	"time"
)

// fillTimeout is how long a rack may take until its hosts are known.
const fillTimeout = 3 * time.Minute

// FillRack emulates the machines of examples/demo, applies the operator's half of those examples, and waits until every host
// is Available and the rack's network is served.
func (l *Lab) FillRack(ctx context.Context) error {
	for _, h := range DemoHosts() {
		if _, err := l.AddHost(h); err != nil {
			return err
		}
	}
	if err := l.ApplyExample(ctx, "demo/00-namespaces.yaml", "demo/10-secrets.yaml", "demo/20-clusterproviderconfigs.yaml",
		"demo/30-bootprofiles.yaml", "demo/40-rackpool.yaml"); err != nil {
		return err
	}
	for _, h := range DemoHosts() {
		if _, err := l.Await(ctx, Kind("RedfishHost", InfraNamespace, h.Name), "Available", fillTimeout, Field("Available", "status", "phase")); err != nil {
			return err
		}
	}
	_, err := l.Await(ctx, Kind("BootNetwork", InfraNamespace, "rack-7"), "served", fillTimeout, Is("Ready", "True"))
	return err
}
