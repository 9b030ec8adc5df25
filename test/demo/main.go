// Command demo shows the main job on one machine: four claims of two tenants become four installed machines, without root, or two
// become virtual ones with real firmware; and a deleted claim gives its machine back.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/crossplane-contrib/provider-baremetal/test/sim/netns"
)

// errInterrupted is what a person who has ended the demo reads.
var errInterrupted = errors.New("interrupted; everything is cleaned up")

func main() {
	keep := flag.Bool("keep", false, "leave it running in the background")
	down := flag.Bool("down", false, "end what -keep left running")
	machines := flag.Bool("vm", false, "two virtual machines with real firmware instead of four simulated ones (root)")
	flag.Parse()
	err := run(*keep, *down, *machines)
	if err != nil && !errors.Is(err, errSaid) {
		fmt.Fprintln(os.Stderr, "demo:", err)
	}
	if err != nil {
		os.Exit(1)
	}
}

// run is called again in the process that stays in the background, and in the one that is in namespaces of its own.
func run(keep, down, machines bool) error {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	place, err := newPlace()
	if err != nil {
		return err
	}
	ready := keeper()
	switch {
	case down:
		return place.end(ctx)
	case netns.Isolated():
		return isolated(ctx, place, ready)
	case keep && ready == nil:
		return background(ctx)
	}
	unlock, err := place.lock()
	if err != nil {
		return err
	}
	defer unlock()
	if machines {
		return isolate(ctx, place, ready)
	}
	return play(ctx, newDemo(place, &simulated{}, os.Stdout), ready)
}

// play runs the demo. Where it's to be kept, ready is told when everything is up, and play goes on until ctx ends.
func play(ctx context.Context, d *demo, ready *os.File) error {
	defer d.cast.stop()
	if err := d.run(ctx, ready != nil); err != nil {
		return d.explain(ctx, err)
	}
	if ready == nil {
		return nil
	}
	if err := detach(ready); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

// explain says for a person what went wrong.
func (d *demo) explain(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return errInterrupted
	}
	return fmt.Errorf("%s failed: %w\n%sFull logs: %s", d.step, err, d.cast.clues(), d.place.state)
}
