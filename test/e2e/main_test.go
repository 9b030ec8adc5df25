package e2e

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/cluster/local/programs"
	"github.com/crossplane-contrib/provider-baremetal/test/lab"
)

// startTimeout covers a first build of Kubernetes and Crossplane on a slow machine.
const startTimeout = 45 * time.Minute

// shared is the one lab of all cases of this package, which leave it as they found it. Those that kill or stop a component run alone,
// the others beside each other.
var shared *lab.Lab

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

// run starts the lab, runs the cases and stops the lab in every case: also on a panic, and on an interrupt.
func run(m *testing.M) int {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	cache, err := programs.Cache()
	if err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		return 1
	}
	state, err := os.MkdirTemp(cache, "e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		return 1
	}
	start, begin := time.Now(), func(s string) { fmt.Fprintf(os.Stderr, "e2e: %s\n", s) }
	upCtx, upCancel := context.WithTimeout(ctx, startTimeout)
	defer upCancel()
	l, err := lab.Start(upCtx, lab.Options{StateDir: state, Say: begin, Bootds: bootds, ProviderArgs: []string{"--denied-targets=" + clusterRange}})
	if err != nil {
		fmt.Fprintln(os.Stderr, "e2e: cannot start the lab:", err)
		return 1
	}
	defer l.Stop()
	uninterrupted := context.AfterFunc(ctx, func() {
		l.Stop()
		os.Exit(1)
	})
	defer uninterrupted()
	if err := furnish(upCtx, l); err != nil {
		fmt.Fprintln(os.Stderr, "e2e: cannot furnish the lab:", err)
		return 1
	}
	fmt.Fprintf(os.Stderr, "e2e: the lab is up after %.1fs; logs are in %s\n", time.Since(start).Seconds(), l.LogDir())
	shared = l
	code := m.Run()
	if code == 0 {
		l.Stop()
		_ = os.RemoveAll(state) // Logs of what went well.
	}
	return code
}
