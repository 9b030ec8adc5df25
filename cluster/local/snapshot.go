package local

import (
	"context"
	"fmt"
	"os"

	"github.com/crossplane-contrib/provider-baremetal/cluster/local/programs"
)

// Snapshot copies etcd's data into dir. The API is away meanwhile, as if both had crashed; their clients find it again.
func (p *Plane) Snapshot(ctx context.Context, dir string) error {
	if err := p.away(programs.APIServer, programs.Etcd); err != nil {
		return err
	}
	if err := replaceDir(dir, p.dir("etcd")); err != nil {
		return err
	}
	return p.back(ctx)
}

// Restore puts etcd's data back to what Snapshot copied. Resource versions go back with it, so that whoever watched before
// would wait for what never comes: Crossplane and the controllers are started again here, and the caller has to do so with its
// own, as an operator does after a restore.
func (p *Plane) Restore(ctx context.Context, dir string) error {
	if err := p.away(programs.Crossplane, programs.Controllers, programs.APIServer, programs.Etcd); err != nil {
		return err
	}
	if err := replaceDir(p.dir("etcd"), dir); err != nil {
		return err
	}
	return p.back(ctx)
}

// Outage takes the API away until the returned function is called, which waits until it's back.
func (p *Plane) Outage() (end func(context.Context) error, err error) {
	if err := p.away(programs.APIServer); err != nil {
		return nil, err
	}
	return p.back, nil
}

func (p *Plane) away(names ...string) error {
	for _, name := range names {
		pr := p.Process(name)
		if pr == nil {
			return fmt.Errorf("%s isn't running", name)
		}
		pr.Kill()
	}
	return nil
}

// back starts what doesn't run any more, and waits until it answers: also what ended by itself because the API was away, as
// controllers that had just been started do. A kubelet would do the same.
func (p *Plane) back(ctx context.Context) error {
	if err := p.awaitEtcd(ctx, p.Process(programs.Etcd)); err != nil {
		return err
	}
	if err := p.awaitAPIServer(ctx, p.Process(programs.APIServer)); err != nil {
		return err
	}
	if err := p.Process(programs.Controllers).Start(); err != nil {
		return err
	}
	return p.awaitCrossplane(ctx, p.Process(programs.Crossplane))
}

func replaceDir(to, from string) error {
	if err := os.RemoveAll(to); err != nil {
		return fmt.Errorf("cannot empty %q: %w", to, err)
	}
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		return fmt.Errorf("cannot copy %q to %q: %w", from, to, err)
	}
	return nil
}
