// Command onenode runs a cluster of one node, with Crossplane in it, until it's interrupted. It needs root.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/cluster/local/programs"
	"github.com/crossplane-contrib/provider-baremetal/cluster/node"
)

func main() {
	state := flag.String("state", "", "folder for everything the cluster writes; emptied at the start")
	build := flag.Bool("build", false, "only build and download what is missing in the cache, and what uptest takes")
	bare := flag.Bool("bare", false, "without Crossplane")
	flag.Parse()
	if err := run(*state, *build, *bare); err != nil {
		fmt.Fprintln(os.Stderr, "onenode:", err)
		os.Exit(1)
	}
}

func run(state string, buildOnly, bare bool) (err error) {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	start := time.Now()
	say := func(s string) { fmt.Printf("%5.1fs %s\n", time.Since(start).Seconds(), s) }
	if buildOnly {
		return prepare(ctx, say)
	}
	if state == "" {
		cache, err := programs.Cache()
		if err != nil {
			return err
		}
		state = filepath.Join(cache, "state", "onenode")
	}
	c, err := node.Start(ctx, node.Options{StateDir: state, Say: say})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Failed(), c.Stop()) }()
	if !bare {
		if err := c.InstallCrossplane(ctx); err != nil {
			return err
		}
	}
	say("ready")
	fmt.Println("export KUBECONFIG=" + c.Kubeconfig())
	fmt.Printf("inside: nsenter --target %d --all\n", c.PID())
	<-ctx.Done()
	return nil
}

// prepare fills the cache for all that runs in such a cluster.
func prepare(ctx context.Context, say func(string)) error {
	if err := node.Prepare(ctx, say); err != nil {
		return err
	}
	finder, err := programs.Default(say)
	if err != nil {
		return err
	}
	_, err = finder.Find(ctx, programs.Uptests()...)
	return err
}
