package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/sync/errgroup"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-baremetal/cluster/local"
	"github.com/crossplane-contrib/provider-baremetal/cluster/local/proc"
	"github.com/crossplane-contrib/provider-baremetal/cluster/local/programs"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/netbox"
)

// Namespaces that the lab makes, beside Crossplane's.
const (
	// InfraNamespace is the operator's.
	InfraNamespace = "infra"
	// BootNamespace is bootd's.
	BootNamespace = "baremetal-boot"
)

// Options of a lab.
type Options struct {
	// StateDir holds everything that the lab writes; Start empties it.
	StateDir string
	// Say is called with one line of progress at a time.
	Say func(string)
	// Bootds is how many bootds are started; default 1.
	Bootds int
	// ProviderArgs are added to the provider's command line, and BootdArgs to that of each bootd.
	ProviderArgs, BootdArgs []string
	// ProviderEnv entries are added to the provider's environment.
	ProviderEnv []string
}

// A Lab is the running system. Stop ends it.
type Lab struct {
	// Plane is the control plane.
	Plane *local.Plane
	// NetBox is the emulator, with one prefix: that of the network in examples/demo.
	NetBox *netbox.Server
	// Artifacts serves kernels, initrds and images.
	Artifacts *Artifacts
	// Provider, Function and Bootds are the components. They can be killed and started again.
	Provider, Function *proc.Process
	Bootds             []*Bootd
	// ProviderMetrics is where the provider serves its metrics, also after it was started anew.
	ProviderMetrics string
	// Firmware is what bootd gives machines to load first.
	Firmware Firmware

	opts  Options
	root  string
	ports *proc.Ports
	bin   string

	bootdPorts     portsOfBootd
	providerHealth string

	// providerCommand is how the provider is started.
	providerCommand proc.Command

	mu    sync.Mutex
	hosts map[string]*Host
	made  int
}

// Start brings everything up and returns when all components run. What it started is ended again when it fails.
func Start(ctx context.Context, o Options) (*Lab, error) {
	if o.Bootds == 0 {
		o.Bootds = 1
	}
	finder, err := programs.Default(o.Say)
	if err != nil {
		return nil, err
	}
	ports, err := proc.NewPorts(filepath.Join(finder.Cache, "ports"))
	if err != nil {
		return nil, err
	}
	l := &Lab{
		opts:  o,
		root:  filepath.Dir(filepath.Dir(finder.Source)),
		ports: ports,
		bin:   filepath.Join(o.StateDir, "bin"),
		hosts: map[string]*Host{},
	}
	if err := l.start(ctx, finder); err != nil {
		err = errors.Join(err, l.Failed())
		l.Stop()
		return nil, err
	}
	return l, nil
}

// start does side by side what can be: the control plane takes longest.
func (l *Lab) start(ctx context.Context, finder programs.Finder) error {
	if err := os.RemoveAll(l.opts.StateDir); err != nil {
		return fmt.Errorf("cannot empty the state folder: %w", err)
	}
	if err := l.startEmulators(); err != nil {
		return err
	}
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() error { return l.startPlane(gctx, finder) })
	g.Go(func() error { return l.build(gctx) })
	g.Go(func() error { return l.findFirmware(gctx, finder.Cache) })
	if err := g.Wait(); err != nil {
		return err
	}
	l.opts.Say("installing kinds, compositions and rights")
	if err := l.install(ctx); err != nil {
		return err
	}
	l.opts.Say("starting provider, function and bootd")
	return l.startComponents(ctx)
}

func (l *Lab) startPlane(ctx context.Context, finder programs.Finder) error {
	p, err := local.Start(ctx, local.Options{
		StateDir: filepath.Join(l.opts.StateDir, "plane"),
		Programs: finder,
		Ports:    l.ports,
		Say:      l.opts.Say,
		// Crossplane lets a composite see fifty changes at once and then one every two seconds. Simulated machines go in
		// three seconds through what takes real ones minutes, and cases raise, stop and restore them within seconds, so
		// both are scaled as time is.
		CrossplaneArgs: []string{"--circuit-breaker-burst=1000", "--circuit-breaker-refill-rate=20"},
	})
	l.Plane = p
	return err
}

func (l *Lab) startEmulators() error {
	for _, p := range []*int{&l.bootdPorts.dhcp, &l.bootdPorts.tftp, &l.bootdPorts.http, &l.bootdPorts.health} {
		n, err := l.ports.Next()
		if err != nil {
			return err
		}
		*p = n
	}
	l.NetBox = newNetBox()
	if err := l.NetBox.Start(""); err != nil {
		return err
	}
	var err error
	l.Artifacts, err = newArtifacts()
	return err
}

// Stop ends everything: components, control plane, machines and emulators.
func (l *Lab) Stop() {
	for _, p := range l.components() {
		p.Kill()
	}
	l.mu.Lock()
	hosts := l.hosts
	l.hosts = map[string]*Host{}
	l.mu.Unlock()
	for _, h := range hosts {
		h.close()
	}
	if l.Plane != nil {
		l.Plane.Stop()
	}
	if l.NetBox != nil {
		_ = l.NetBox.Close() // Nobody talks to it any more.
	}
	if l.Artifacts != nil {
		l.Artifacts.close()
	}
	l.ports.Close()
}

// Client of the administrator, who may do everything.
func (l *Lab) Client() client.Client { return l.Plane.Client() }

// Failed says which component or which part of the control plane ended by itself; nil if none did.
func (l *Lab) Failed() error {
	var errs []error
	for _, p := range l.components() {
		errs = append(errs, p.Failed())
	}
	if l.Plane != nil {
		errs = append(errs, l.Plane.Failed())
	}
	return errors.Join(errs...)
}

// LogDir is where the components' logs are; those of the control plane are in plane/logs beside it.
func (l *Lab) LogDir() string { return filepath.Join(l.opts.StateDir, "logs") }

// components are those that were started so far.
func (l *Lab) components() []*proc.Process {
	var out []*proc.Process
	for _, p := range []*proc.Process{l.Provider, l.Function} {
		if p != nil {
			out = append(out, p)
		}
	}
	for _, b := range l.Bootds {
		out = append(out, b.Process)
	}
	return out
}
