package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-baremetal/cluster/local/proc"
	"github.com/crossplane-contrib/provider-baremetal/cluster/local/programs"
)

// Options of a control plane.
type Options struct {
	// StateDir holds everything that the control plane writes. Start empties it.
	StateDir string
	// Programs finds or builds what is run.
	Programs programs.Finder
	// Ports are where servers listen.
	Ports *proc.Ports
	// Say is called with one line of progress at a time.
	Say func(string)
	// CrossplaneArgs are added to the command line of Crossplane.
	CrossplaneArgs []string
}

// A Plane is a running control plane. Stop ends it.
type Plane struct {
	opts Options
	set  programs.Set
	pki  *pki
	port ports

	admin *rest.Config
	kube  client.Client

	mu    sync.Mutex
	procs []*proc.Process
}

// ports of one control plane, all on 127.0.0.1.
type ports struct {
	etcd, etcdPeer, apiserver                          int
	crossplaneHook, crossplaneMetrics, crossplaneProbe int
}

// Start brings up a control plane and returns when Crossplane is ready. What it started is ended again when it fails.
func Start(ctx context.Context, o Options) (*Plane, error) {
	set, err := o.Programs.Find(ctx)
	if err != nil {
		return nil, err
	}
	p := &Plane{opts: o, set: set}
	if err := p.start(ctx); err != nil {
		p.Stop()
		return nil, err
	}
	return p, nil
}

func (p *Plane) start(ctx context.Context) error {
	if err := os.RemoveAll(p.opts.StateDir); err != nil {
		return fmt.Errorf("cannot empty the state folder: %w", err)
	}
	if err := p.prepare(); err != nil {
		return err
	}
	if err := p.startKubernetes(ctx); err != nil {
		return err
	}
	return p.startCrossplane(ctx)
}

// prepare makes ports, keys, kubeconfigs and clients: all that needs no process.
func (p *Plane) prepare() error {
	var errs []error
	for _, port := range []*int{
		&p.port.etcd, &p.port.etcdPeer, &p.port.apiserver,
		&p.port.crossplaneHook, &p.port.crossplaneMetrics, &p.port.crossplaneProbe,
	} {
		n, err := p.opts.Ports.Next()
		errs = append(errs, err)
		*port = n
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	var err error
	if p.pki, err = newPKI(p.dir("pki"), time.Now()); err != nil {
		return err
	}
	if p.admin, err = p.UserConfig("admin", "system:masters"); err != nil {
		return err
	}
	if p.kube, err = newClient(p.admin); err != nil {
		return err
	}
	return WriteKubeconfig(p.Kubeconfig(), p.admin)
}

// Stop ends all processes of the control plane, the last one first.
func (p *Plane) Stop() {
	p.mu.Lock()
	procs := p.procs
	p.procs = nil
	p.mu.Unlock()
	if len(procs) == 0 {
		return
	}
	// Nobody needs a graceful end of a control plane that is thrown away: without it, Stop takes no time.
	for _, pr := range slices.Backward(procs) {
		pr.Kill()
	}
}

// Client of the administrator, who may do everything.
func (p *Plane) Client() client.Client { return p.kube }

// Config of the administrator, who may do everything.
func (p *Plane) Config() *rest.Config { return rest.CopyConfig(p.admin) }

// Kubeconfig is the path of the administrator's kubeconfig.
func (p *Plane) Kubeconfig() string { return p.dir("admin.kubeconfig") }

// Kubectl is the path of kubectl, which is built if nobody asked before: most control planes are without a person at them.
func (p *Plane) Kubectl(ctx context.Context) (string, error) {
	set, err := p.opts.Programs.Find(ctx, programs.Hand())
	return set.Path[programs.Kubectl], err
}

// LogDir is the folder of the processes' logs.
func (p *Plane) LogDir() string { return p.dir("logs") }

// Process returns the process of that name (a constant of package programs), nil where none was started.
func (p *Plane) Process(name string) *proc.Process {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, pr := range p.procs {
		if pr.Name() == name {
			return pr
		}
	}
	return nil
}

// Failed says which process of the control plane ended by itself; nil if none did.
func (p *Plane) Failed() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	errs := make([]error, 0, len(p.procs))
	for _, pr := range p.procs {
		errs = append(errs, pr.Failed())
	}
	return errors.Join(errs...)
}

func (p *Plane) dir(elem ...string) string {
	return filepath.Join(append([]string{p.opts.StateDir}, elem...)...)
}

func (p *Plane) log(name string) string { return filepath.Join(p.LogDir(), name+".log") }

// run starts a program of the set and remembers it for Stop.
func (p *Plane) run(name string, env, args []string) (*proc.Process, error) {
	pr, err := proc.Start(proc.Command{Name: name, Path: p.set.Path[name], Args: args, Env: env, Log: p.log(name)})
	p.mu.Lock()
	defer p.mu.Unlock()
	if err == nil {
		p.procs = append(p.procs, pr)
	}
	return pr, err
}
