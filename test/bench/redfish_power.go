package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-baremetal/test/lab"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
)

const (
	unitBeyond = "requests beyond polling"
	// slowEnd is how long an operating system takes that doesn't shut down at once, and shortGrace how long one is waited for that never does.
	slowEnd, shortGrace = 5 * time.Second, 10 * time.Second
	// afterwards is how long a host is looked at more often once all is done.
	afterwards = 10 * time.Second
)

// A transition is one change of a machine's power.
type transition struct {
	// figure it's counted for; "" is none, since it was before.
	figure string
	// asks is what is merged into spec.forProvider.
	asks string
	// ends and never are how the machine's operating system takes a shutdown.
	ends  time.Duration
	never bool
	// acts are how many orders the BMC is given for it.
	acts int
	done lab.Check
}

// transitions of one machine, one after another. It's off before.
func transitions() []transition {
	shows := func(power string) lab.Check {
		return lab.All(lab.Is("PowerApplied", "True"), lab.Field(power, "status", "atProvider", "power"))
	}
	const on, off = `{"power":"PoweredOn"}`, `{"power":"PoweredOff"}`
	again := transition{asks: on, acts: 1, done: shows("PoweredOn")}
	first := again
	first.figure = figureOn
	return []transition{
		first, {figure: figureAsked, asks: off, acts: 1, done: shows("PoweredOff")},
		again, {figure: figureWaited, asks: off, ends: slowEnd, acts: 1, done: shows("PoweredOff")},
		again, {figure: figureForced, asks: `{"power":"PoweredOff","powerOff":{"grace":"` + shortGrace.String() + `"}}`, never: true, acts: 2, done: shows("PoweredOff")},
		again, {figure: figureReset, asks: `{"resetGeneration":1}`, acts: 2, done: lab.All(shows("PoweredOn"), wasReset)},
	}
}

func wasReset(u *unstructured.Unstructured) bool {
	n, _, err := unstructured.NestedInt64(u.Object, "status", "atProvider", "boot", "resetGeneration")
	return err == nil && n == 1
}

// power is how many requests it takes to switch a machine on and off, and to reset it, beside the looks at it.
func (f fleet) power(ctx context.Context, l *lab.Lab, rack *rackOf, out map[string]float64) error {
	all := transitions()
	counts := make([][]float64, switched)
	g, ctx := errgroup.WithContext(ctx)
	for i, m := range rack.machines[:switched] {
		counts[i] = make([]float64, len(all))
		g.Go(func() error {
			for n, t := range all {
				var err error
				if counts[i][n], err = m.goes(ctx, l, t, out[figurePoll]); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	for n, t := range all {
		if t.figure == "" {
			continue
		}
		var sum float64
		for i := range counts {
			sum += counts[i][n]
		}
		out[t.figure] = sum / switched
		out[figurePower] = max(out[figurePower], out[t.figure])
	}
	return nil
}

// goes has one machine make a transition, and returns the requests beside looks of so many each.
func (s *switchable) goes(ctx context.Context, l *lab.Lab, t transition, look float64) (float64, error) {
	s.shutsDown(t.ends, t.never)
	asked, acts := time.Now(), s.acts()
	if err := s.ask(ctx, l, t.asks); err != nil {
		return 0, err
	}
	if _, err := l.Await(ctx, lab.Kind(redfishHost, lab.InfraNamespace, s.name), t.asks, timeout, t.done); err != nil {
		return 0, err
	}
	if err := pass(ctx, afterwards); err != nil {
		return 0, err
	}
	if n := s.acts() - acts; n != t.acts {
		return 0, fmt.Errorf("%s was given %d orders for %s, want %d: %v", s.name, n, t.asks, t.acts, s.Counters().Resets)
	}
	n, looks := beside(s.Requests(), s.SystemURI(s.Systems()[0]), asked, look)
	fmt.Fprintf(os.Stderr, "bench: %s: %s: %.1f requests beside %d looks, in %s\n", s.name, t.asks, n, looks, time.Since(asked).Round(time.Second))
	return n, nil
}

// beside counts the requests since a time that aren't of looks of so many each, and the looks. A look reads the System; the last time that it's read
// before an order, and the first time after, are the order's.
func beside(log []bmc.Request, system string, since time.Time, look float64) (requests float64, looks int) {
	n, last, ordered := 0, false, false
	for _, r := range log {
		if r.At.Before(since) {
			continue
		}
		n++
		switch {
		case r.Method == http.MethodPost:
			if last {
				looks--
			}
			last, ordered = false, true
		case r.Method != http.MethodGet || !strings.EqualFold(strings.TrimRight(r.Path, "/"), strings.TrimRight(system, "/")):
		case ordered:
			ordered = false
		default:
			last = true
			looks++
		}
	}
	return max(0, float64(n)-float64(looks)*look), looks
}

// acts are the orders that a BMC took so far.
func (s *switchable) acts() int {
	n := 0
	for _, times := range s.Counters().Resets {
		n += times
	}
	return n
}

// ask merges something into a host's forProvider.
func (s *switchable) ask(ctx context.Context, l *lab.Lab, what string) error {
	u := lab.Kind(redfishHost, lab.InfraNamespace, s.name).Object()
	patch := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"forProvider":`+what+`}}`))
	if err := l.Client().Patch(ctx, u, patch); err != nil {
		return fmt.Errorf("cannot change host %s: %w", s.name, err)
	}
	return nil
}

// switchOn says that a machine is to be on.
func (s *switchable) switchOn(ctx context.Context, l *lab.Lab) error {
	return s.ask(ctx, l, `{"power":"PoweredOn"}`)
}
