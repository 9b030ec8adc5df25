package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/crossplane-contrib/provider-baremetal/test/lab"
)

// reaction compares how soon healthy machines are switched on: before some of the others are in trouble, and from the moment on when that
// begins. Both are as many machines and as long: two polls, since in the first one all those are asked that are in trouble by then.
func (f fleet) reaction(ctx context.Context, l *lab.Lab, rack *rackOf, out map[string]float64) error {
	each := max(f.hosts/5, 20)
	var healthy []*switchable
	var ill []func() error
	for i, m := range rack.machines {
		switch {
		case i < switched:
		case i%10 == 3:
			ill = append(ill, func() error { m.hang(); return nil })
		case i%10 == 7:
			ill = append(ill, func() error { return m.SetDead(true) })
		default:
			healthy = append(healthy, m)
		}
	}
	if len(healthy) < 2*each {
		return fmt.Errorf("%d hosts are too few", f.hosts)
	}
	before, err := f.react(ctx, l, healthy[:each])
	if err != nil {
		return err
	}
	for _, begin := range ill {
		if err := begin(); err != nil {
			return fmt.Errorf("cannot make a BMC ill: %w", err)
		}
	}
	after, err := f.react(ctx, l, healthy[each:2*each])
	if err != nil {
		return fmt.Errorf("while BMCs are ill: %w", err)
	}
	fmt.Fprintf(os.Stderr, "bench: reactions of %d, median and p99: %s and %s; while %d BMCs hang or refuse: %s and %s\n", each,
		percentile(before, 50), percentile(before, 99), len(ill), percentile(after, 50), percentile(after, 99))
	out[figureReaction] = percentile(after, 99).Seconds() / percentile(before, 99).Seconds()
	return nil
}

// percentile is what so many percent of sorted durations don't exceed.
func percentile(sorted []time.Duration, percent int) time.Duration {
	return sorted[(len(sorted)*percent+99)/100-1]
}

// react has machines switched on, one after another over two polls, and returns how long each took, sorted.
func (f fleet) react(ctx context.Context, l *lab.Lab, machines []*switchable) ([]time.Duration, error) {
	took := make([]time.Duration, len(machines))
	g, ctx := errgroup.WithContext(ctx)
	began := time.Now()
	for i, m := range machines {
		g.Go(func() error {
			if err := pass(ctx, time.Until(began.Add(2*f.poll*time.Duration(i)/time.Duration(len(machines))))); err != nil {
				return err
			}
			on, asked := m.next(), time.Now()
			if err := m.switchOn(ctx, l); err != nil {
				return err
			}
			select {
			case at := <-on:
				took[i] = at.Sub(asked)
				return nil
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(hostTimeout):
				return errors.New(m.name + " isn't switched on")
			}
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	slices.Sort(took)
	return took, nil
}
