package e2e

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/cluster/local/programs"
	"github.com/crossplane-contrib/provider-baremetal/test/lab"
)

// startTimeout covers a first build of Kubernetes and Crossplane on a slow machine.
const startTimeout = 45 * time.Minute

// calm is the lab of the cases that leave it as they found it, beside each other; deadly is that of the cases of TestKilled, rough
// that of TestAlone's, and last that of TestLast's, after which there's none. Each starts with its first case.
var (
	calm   = &place{name: "calm"}
	deadly = &place{name: "deadly"}
	rough  = &place{name: "rough"}
	last   = &place{name: "last"}
)

// interrupted ends when somebody interrupts the run.
var interrupted = context.Background()

// A place is a lab that several cases share.
type place struct {
	name string

	mu    sync.Mutex
	lab   *lab.Lab
	err   error
	state string
	ended bool
	// told says that a log has a BMC's password or token in it.
	told bool
}

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

// run runs the cases and stops the labs in every case: also on a panic, and on an interrupt.
func run(m *testing.M) int {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	interrupted = ctx //nolint:fatcontext // It's set once.
	defer stopAll(false)
	uninterrupted := context.AfterFunc(ctx, func() {
		stopAll(false)
		os.Exit(1)
	})
	defer uninterrupted()
	code := m.Run()
	if code == 0 {
		stopAll(true)
	}
	for _, p := range places() {
		if p.told {
			code = 1
		}
	}
	return code
}

func places() []*place { return []*place{calm, deadly, rough, last} }

func stopAll(well bool) {
	for _, p := range places() {
		p.stop(well)
	}
}

// up starts the lab, if no case has done so before.
func (p *place) up() (*lab.Lab, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return nil, fmt.Errorf("the %s lab was stopped", p.name)
	}
	if p.lab == nil && p.err == nil {
		p.lab, p.err = p.start()
	}
	return p.lab, p.err
}

func (p *place) start() (*lab.Lab, error) {
	cache, err := programs.Cache()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(cache, 0o750); err != nil {
		return nil, err
	}
	if p.state, err = os.MkdirTemp(cache, "e2e-"+p.name+"-"); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(interrupted, startTimeout)
	defer cancel()
	begin, say := time.Now(), func(s string) { fmt.Fprintf(os.Stderr, "e2e: %s: %s\n", p.name, s) }
	l, err := lab.Start(ctx, lab.Options{
		StateDir: p.state, Say: say, Bootds: bootds, ProviderArgs: []string{"--denied-targets=" + clusterRange},
	})
	if err != nil {
		return nil, fmt.Errorf("cannot start the %s lab: %w", p.name, err)
	}
	if err := furnish(ctx, l); err != nil {
		l.Stop()
		return nil, fmt.Errorf("cannot furnish the %s lab: %w", p.name, err)
	}
	say(fmt.Sprintf("up after %.1fs; logs are in %s", time.Since(begin).Seconds(), l.LogDir()))
	return l, nil
}

// stop ends the lab, if it runs. Logs of what went well aren't kept.
func (p *place) stop(well bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
	if p.lab == nil {
		return
	}
	p.lab.Stop()
	if logs, err := lab.Told(p.lab.LogDir()); len(logs) > 0 || err != nil {
		p.told, well = true, false
		fmt.Fprintf(os.Stderr, "e2e: %s: FAIL: a password or token of a BMC is in %v of %s (%v)\n", p.name, logs, p.lab.LogDir(), err)
	}
	p.lab = nil
	if well {
		_ = os.RemoveAll(p.state) // What stays is looked at by nobody.
	}
}
