// Command demo shows the main job on one machine without root: four claims of two tenants become four installed machines, and a
// deleted claim gives its machine back.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	keep := flag.Bool("keep", false, "leave it running in the background")
	down := flag.Bool("down", false, "end what -keep left running")
	flag.Parse()
	if err := run(*keep, *down); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

func run(keep, down bool) error {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	place, err := newPlace()
	if err != nil {
		return err
	}
	if down {
		return place.end(ctx)
	}
	if ready := keeper(); ready != nil {
		return play(ctx, place, ready)
	}
	if keep {
		return background(ctx)
	}
	return play(ctx, place, nil)
}

// play runs the demo. Where it's to be kept, ready is told when everything is up, and play goes on until ctx ends.
func play(ctx context.Context, place place, ready *os.File) (err error) {
	unlock, err := place.lock()
	if err != nil {
		return err
	}
	defer unlock()
	d := newDemo(place, os.Stdout)
	defer d.stop()
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
		return errors.New("interrupted; everything is cleaned up")
	}
	return fmt.Errorf("%s failed: %w\nFull logs: %s", d.step, err, d.place.state)
}
