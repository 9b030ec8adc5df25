// Package stage is a cluster as a user has one before installing anything of ours: a real node, stock Crossplane, and a registry that
// holds this checkout's packages. What is outside of a cluster is beside it: NetBox, BMCs, and virtual machines on the node's segment.
package stage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/crossplane-contrib/provider-baremetal/cluster/local/programs"
	"github.com/crossplane-contrib/provider-baremetal/cluster/node"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/qemu"
)

// FigurePrefix begins a line "figure NAME VALUE UNIT".
const FigurePrefix = "figure "

// Options of a stage.
type Options struct {
	// StateDir holds everything that the stage writes; Start empties it, and logs are left.
	StateDir string
	// Say is called with one line of progress at a time, or with a figure, which begins with FigurePrefix.
	Say func(string)
	// CrossplaneArgs are added to "helm install crossplane", for example --set=args={--debug}.
	CrossplaneArgs []string
}

// A Stage is a running cluster, and what is around it. Stop ends it.
type Stage struct {
	*node.Cluster

	// Packages are those of this checkout.
	Packages Packages

	opts  Options
	root  string // of the checkout
	cache string
	tool  string // that builds packages

	mu     sync.Mutex
	around []io.Closer
}

// Missing says in one line what this machine lacks for a stage with machines; nil: nothing that can be told before it's tried.
func Missing() error {
	if err := node.Missing(); err != nil {
		return err
	}
	if _, err := os.Stat("/dev/net/tun"); err != nil {
		return fmt.Errorf("tap devices need /dev/net/tun: %w", err)
	}
	for _, f := range []qemu.Firmware{qemu.BIOS, qemu.UEFI} {
		if err := qemu.Missing(f); err != nil {
			return err
		}
	}
	return nil
}

// Prepare fills the caches with all that takes a network or long: programs, Debian packages, and this checkout's own.
func Prepare(ctx context.Context, say func(string)) error {
	if err := node.Prepare(ctx, say); err != nil {
		return err
	}
	s, err := blank(Options{Say: say})
	if err != nil {
		return err
	}
	if err := s.buildTool(ctx); err != nil {
		return err
	}
	return s.compile(ctx, s.root)
}

// Start brings up a cluster, pushes this checkout's packages to its registry, and installs stock Crossplane. What it started is ended
// again when it fails.
func Start(ctx context.Context, o Options) (*Stage, error) {
	s, err := blank(o)
	if err != nil {
		return nil, err
	}
	built, bctx := errgroup.WithContext(ctx)
	built.Go(func() error { return s.buildTool(bctx) })
	s.Cluster, err = node.Start(ctx, node.Options{StateDir: filepath.Join(o.StateDir, "node"), Say: o.Say})
	if err = errors.Join(err, built.Wait()); err == nil {
		err = s.fill(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
}

// fill does side by side what waits for the network and what needs processors.
func (s *Stage) fill(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return s.InstallCrossplane(ctx, s.opts.CrossplaneArgs...) })
	g.Go(func() (err error) {
		s.Packages, err = s.Push(ctx, Source{Root: s.root, Version: Version})
		return err
	})
	return g.Wait()
}

// blank is a stage on which nothing is yet.
func blank(o Options) (*Stage, error) {
	finder, err := programs.Default(o.Say)
	if err != nil {
		return nil, err
	}
	return &Stage{opts: o, root: filepath.Dir(filepath.Dir(finder.Source)), cache: finder.Cache}, nil
}

// keep closes something when the stage ends.
func (s *Stage) keep(c io.Closer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.around = append(s.around, c)
}

// Stop ends what is around the cluster, machines first, and then the cluster. Its error says what couldn't be removed.
func (s *Stage) Stop() error {
	s.mu.Lock()
	around := s.around
	s.around = nil
	s.mu.Unlock()
	var errs []error
	for _, c := range slices.Backward(around) {
		errs = append(errs, c.Close())
	}
	if s.Cluster != nil {
		errs = append(errs, s.Failed(), s.Cluster.Stop())
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("the stage didn't end as it should: %w", err)
	}
	return nil
}

// in the state folder.
func (s *Stage) in(elem ...string) string {
	return filepath.Join(append([]string{s.opts.StateDir}, elem...)...)
}
