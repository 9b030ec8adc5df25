package vm

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/crossplane-contrib/provider-baremetal/test/guest"
	"github.com/crossplane-contrib/provider-baremetal/test/lab"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/qemu"
)

// Claims are the examples of the tenants of Fill's rack.
const Claims = "demo-vm/50-claims.yaml"

const (
	bridge  = "br0"
	gateway = "10.77.0.1" // of the network in the examples
	// fillTimeout is how long a rack may take until its hosts are known.
	fillTimeout = time.Minute
)

// Options of a rack.
type Options struct {
	// StateDir holds everything that the rack writes, but for caches; New empties it. Its path must be short: a socket's is.
	StateDir string
	// Say is called with one line of progress at a time.
	Say func(string)
	// Artifacts are what machines boot and install, where somebody built them already.
	Artifacts *guest.Artifacts
}

// A Rack is a lab whose bootd serves a bridge with virtual machines. Stop ends it.
type Rack struct {
	*lab.Lab

	// Image is what machines install.
	Image guest.File

	state   string
	segment *qemu.Segment
	hosts   []*Host
}

// New brings up everything but the machines, in the current namespaces, which have to be the rack's own.
func New(ctx context.Context, o Options) (*Rack, error) {
	if err := os.RemoveAll(o.StateDir); err != nil {
		return nil, fmt.Errorf("cannot empty the state folder: %w", err)
	}
	r := &Rack{state: o.StateDir}
	if err := r.start(ctx, o); err != nil {
		r.Stop()
		return nil, err
	}
	return r, nil
}

// start builds what machines install beside bringing the lab up.
func (r *Rack) start(ctx context.Context, o Options) error {
	var err error
	if r.segment, err = qemu.NewSegment(bridge, gateway+"/24"); err != nil {
		return err
	}
	var a guest.Artifacts
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() (err error) {
		if o.Artifacts != nil {
			a = *o.Artifacts
			return nil
		}
		a, err = Artifacts(gctx, filepath.Join(o.StateDir, "guest"))
		return err
	})
	g.Go(func() (err error) {
		r.Lab, err = lab.Start(gctx, lab.Options{StateDir: filepath.Join(o.StateDir, "lab"), Say: o.Say, BootdArgs: bootdArgs()})
		return err
	})
	if err := g.Wait(); err != nil {
		return err
	}
	r.Image = a.Image
	return r.serve(a)
}

// bootdArgs make bootd serve the bridge. Of a repeated flag the last one counts: these stand behind the lab's own, which are for
// relays on loopback.
func bootdArgs() []string {
	return []string{
		"--dhcp-listen=0.0.0.0:67", "--dhcp-interface=" + bridge, "--tftp-listen=" + gateway + ":69", "--http-listen=" + gateway + ":8480",
		"--advertise-address=" + gateway,
	}
}

// serve puts the artifacts in the place of those for simulated machines.
func (r *Rack) serve(a guest.Artifacts) error {
	for name, f := range map[string]guest.File{lab.KernelFile: a.Kernel, lab.InitrdFile: a.Initrd, lab.ImageFile: a.Image} {
		content, err := os.ReadFile(f.Path)
		if err != nil {
			return fmt.Errorf("cannot read what machines boot: %w", err)
		}
		r.Artifacts.Put(name, content)
	}
	return nil
}

// Fill makes the machines of examples/demo-vm, applies the operator's half of those examples, and waits until every host is
// Available and the rack's network is served.
func (r *Rack) Fill(ctx context.Context) error {
	for _, s := range Specs() {
		if _, err := r.AddHost(s); err != nil {
			return err
		}
	}
	if err := r.apply(ctx, "demo/00-namespaces.yaml", "demo/10-secrets.yaml", "demo/20-clusterproviderconfigs.yaml",
		"demo/30-bootprofiles.yaml", "demo-vm/40-rackpool.yaml"); err != nil {
		return err
	}
	for _, s := range Specs() {
		if _, err := r.Await(ctx, lab.Kind("RedfishHost", lab.InfraNamespace, s.Name), "Available", fillTimeout, lab.Field("Available", "status", "phase")); err != nil {
			return err
		}
	}
	_, err := r.Await(ctx, lab.Kind("BootNetwork", lab.InfraNamespace, "rack-7"), "served", fillTimeout, lab.Is("Ready", "True"))
	return err
}

// apply applies examples with the lab's addresses, and those of the machines' BMCs.
func (r *Rack) apply(ctx context.Context, paths ...string) error {
	objects, err := r.Example(paths...)
	if err != nil {
		return err
	}
	bmcs := map[string]string{}
	for _, h := range r.hosts {
		bmcs[h.Name] = h.BMC.Addr()
	}
	lab.Substitute(objects, lab.Addresses{BMC: bmcs})
	return r.Plane.Apply(ctx, objects...)
}

// Stop ends everything: machines, components, control plane.
func (r *Rack) Stop() {
	for _, h := range r.hosts {
		h.close()
	}
	if r.Lab != nil {
		r.Lab.Stop()
	}
	if r.segment != nil {
		_ = r.segment.Close() // It goes with the namespace.
	}
}
