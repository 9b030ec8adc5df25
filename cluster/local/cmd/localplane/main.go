// Command localplane runs the local control plane until it's interrupted.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/cluster/local"
	"github.com/crossplane-contrib/provider-baremetal/cluster/local/proc"
	"github.com/crossplane-contrib/provider-baremetal/cluster/local/programs"
)

func main() {
	state := flag.String("state", "", "folder for everything the control plane writes; emptied at the start")
	build := flag.Bool("build", false, "only build what is missing in the cache")
	flag.Parse()
	if err := run(*state, *build); err != nil {
		fmt.Fprintln(os.Stderr, "localplane:", err)
		os.Exit(1)
	}
}

func run(state string, buildOnly bool) error {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	start := time.Now()
	say := func(s string) { fmt.Printf("%5.1fs %s\n", time.Since(start).Seconds(), s) }
	finder, err := programs.Default(say)
	if err != nil {
		return err
	}
	if buildOnly {
		_, err := finder.Find(ctx)
		return err
	}
	ports, err := proc.NewPorts(filepath.Join(finder.Cache, "ports"))
	if err != nil {
		return err
	}
	defer ports.Close()
	if state == "" {
		state = filepath.Join(finder.Cache, "state", "localplane")
	}
	p, err := local.Start(ctx, local.Options{StateDir: state, Programs: finder, Ports: ports, Say: say})
	if err != nil {
		return err
	}
	defer p.Stop()
	say("ready")
	fmt.Println("export KUBECONFIG=" + p.Kubeconfig())
	<-ctx.Done()
	return nil
}
