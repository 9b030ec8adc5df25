package main

import (
	"context"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/test/lab"
)

// A cast is the machines that the demo is played by, with the lab that they are in.
type cast interface {
	// script is what differs in words and numbers.
	script() script
	// start brings up the lab, which writes into the folder state alone.
	start(ctx context.Context, state string, say func(string)) (*lab.Lab, error)
	// fill makes the machines, applies the operator's half of the examples, and waits until both are known.
	fill(ctx context.Context) error
	// see adds to f what a machine itself shows of how far it is.
	see(ctx context.Context, s *story, f *facts)
	// powered says whether a machine is on.
	powered(host string) bool
	// clues are the last words of the machines themselves, as whole lines, for the text of a failure.
	clues() string
	// open lets the user reach the API server, and returns the path of the kubeconfig for that.
	open() (string, error)
	// stop ends everything that was started.
	stop()
}

// A script is what a cast does.
type script struct {
	// rack is what fill makes.
	rack string
	// claims are the tenants' examples.
	claims []string
	// patience is how long the machines may take until all are Ready: many times what they need.
	patience time.Duration
	// last is the last one of the commands worth trying.
	last string
}

// simulated machines are in the demo's own process, and need no root.
type simulated struct{ lab *lab.Lab }

func (*simulated) script() script {
	return script{
		rack:     "four emulated BMCs with a machine each, off; one RackPool",
		claims:   []string{"demo/50-claims-team-a.yaml", "demo/51-claims-team-b.yaml"},
		patience: 3 * time.Minute,
		last:     "kubectl -n team-b delete baremetalnode db-2   # its machine goes off, its address back",
	}
}

func (c *simulated) start(ctx context.Context, state string, say func(string)) (*lab.Lab, error) {
	l, err := lab.Start(ctx, lab.Options{StateDir: state, Say: say})
	if err != nil {
		return nil, err
	}
	c.lab = l
	if l.Firmware.StandIn {
		say("no iPXE is installed and none could be had without root: the simulated machines load a stand-in")
	}
	return l, nil
}

func (c *simulated) fill(ctx context.Context) error { return c.lab.FillRack(ctx) }

func (c *simulated) see(_ context.Context, s *story, f *facts) {
	h := c.lab.Host(s.host)
	if h == nil {
		return
	}
	m := h.Machine.Status()
	f.reached[atPower] = m.PowerOns > 0
	f.reached[atDHCP] = m.DHCP["pxe"] > 0
	f.reached[atIPXE] = m.DHCP["ipxe"] > 0
	f.reached[atKernel] = m.Kernels > 0
	f.reached[atInstalled] = m.Installs > 0
}

func (c *simulated) powered(host string) bool { return c.lab.Host(host).Machine.Powered() }

// clues are none: what simulated machines did is in the lab's own description.
func (*simulated) clues() string { return "" }

func (c *simulated) open() (string, error) { return c.lab.Plane.Kubeconfig(), nil }

func (c *simulated) stop() {
	if c.lab != nil {
		c.lab.Stop()
	}
}
