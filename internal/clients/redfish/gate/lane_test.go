package gate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
)

// TestTurns: who is in a hurry goes first, whoever came first.
func TestTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := &turns{}
		if err := q.enter(t.Context(), Inventory, 0); err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		var got []string
		var all sync.WaitGroup
		come := func(lane Lane, name string) {
			all.Go(func() {
				if err := q.enter(t.Context(), lane, 0); err != nil {
					t.Error(err)
				}
				mu.Lock()
				got = append(got, name)
				mu.Unlock()
				q.leave()
			})
			synctest.Wait()
		}
		come(Inventory, "inventory")
		come(Look, "look 1")
		come(Look, "look 2")
		come(Act, "act")
		q.leave()
		all.Wait()
		if want := []string{"act", "look 1", "look 2", "inventory"}; !slices.Equal(got, want) {
			t.Errorf("turns: %v, want %v", got, want)
		}
		if !q.try() {
			t.Error("the turn is taken, and nobody is there")
		}
	})
}

// TestTurnsPatience: a worker doesn't stand in line for long, and leaves no hole in it.
func TestTurnsPatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := &turns{}
		_ = q.try()
		began := time.Now()
		if err := q.enter(t.Context(), Look, 5*time.Second); !IsBusy(err) || time.Since(began) != 5*time.Second {
			t.Errorf("enter(...): %v after %v, want busy after 5 s", err, time.Since(began))
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := q.enter(ctx, Look, 5*time.Second); !errors.Is(err, context.Canceled) || IsBusy(err) {
			t.Errorf("enter(...) after the context's end: %v", err)
		}
		q.leave()
		if !q.try() {
			t.Error("the turn was given to somebody who had left")
		}
	})
}

// TestTurnsYield: an inventory is told when somebody else waits for the BMC, and has waited long; others are never hurried.
func TestTurnsYield(t *testing.T) {
	const patience = 5 * time.Second
	cases := map[string]struct {
		reason        string
		yields        bool
		lane          Lane
		wanted        bool
		after, waited time.Duration
	}{
		"Act":       {reason: "Somebody waits for an act.", yields: true, lane: Act, wanted: true, after: yieldOf(patience), waited: yieldOf(patience)},
		"Look":      {reason: "A look is short.", yields: true, lane: Look, wanted: true, after: yieldOf(patience), waited: yieldOf(patience)},
		"Inventory": {reason: "Another inventory has time.", yields: true, lane: Inventory, waited: patience},
		"Act by act": {
			reason: "What is written isn't broken off.", lane: Act, wanted: true, waited: patience,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q, began := &turns{}, time.Now()
				_ = q.try()
				var hurried time.Duration
				if tc.yields {
					q.yields(func() {
						hurried = time.Since(began)
						go q.leave()
					})
				}
				if q.wanted() {
					t.Error("nobody waits yet")
				}
				var all sync.WaitGroup
				all.Go(func() { _ = q.enter(t.Context(), tc.lane, patience) })
				synctest.Wait()
				if q.wanted() != tc.wanted {
					t.Errorf("%s\nwanted: %t", tc.reason, !tc.wanted)
				}
				all.Wait()
				if hurried != tc.after || time.Since(began) != tc.waited {
					t.Errorf("%s\nhurried after %v, waited %v; want %v, %v", tc.reason, hurried, time.Since(began), tc.after, tc.waited)
				}
			})
		})
	}
}

// doors are BMCs that answer, and BMCs that don't.
type doors struct {
	mu      sync.Mutex
	refuses bool
	hangs   chan struct{}
	hanging int
}

func (d *doors) connect(context.Context, redfish.Config) (*redfish.Client, error) {
	d.mu.Lock()
	refuses := d.refuses
	if !refuses {
		d.hanging++
	}
	d.mu.Unlock()
	if !refuses {
		<-d.hangs
	}

	return nil, redfish.Unreachablef("nobody there")
}

// TestBulkhead: however many BMCs don't answer, a few workers wait for them, and the others get no answer at once.
func TestBulkhead(t *testing.T) {
	const many = 50
	at := func(i int) Target { return Target{Config: redfish.Config{Address: fmt.Sprintf("10.0.0.%d", i)}} }
	synctest.Test(t, func(t *testing.T) {
		d := &doors{refuses: true, hangs: make(chan struct{})}
		g := New(d.connect)
		do := func(i int) error {
			return g.Do(t.Context(), at(i), func(context.Context, *redfish.Client) error { return nil })
		}
		for i := range many {
			if err := do(i); !redfish.IsUnreachable(err) {
				t.Fatalf("Do(...): %v", err)
			}
		}
		d.mu.Lock()
		d.refuses = false
		d.mu.Unlock()
		var all sync.WaitGroup
		var mu sync.Mutex
		returned := 0
		for i := range many {
			all.Go(func() {
				if err := do(i); !redfish.IsUnreachable(err) || IsBusy(err) {
					t.Errorf("Do(...): got %v, want the last error", err)
				}
				mu.Lock()
				returned++
				mu.Unlock()
			})
		}
		synctest.Wait()
		if d.hanging != suspects || returned != many-suspects {
			t.Errorf("%d workers wait for BMCs that don't answer, %d don't: want %d and %d", d.hanging, returned, suspects, many-suspects)
		}
		// Who asks for one that somebody is at already doesn't wait for that.
		probed := 0
		for i := range many {
			if IsBusy(do(i)) {
				probed++
			}
		}
		if probed != suspects {
			t.Errorf("%d calls to BMCs that are being asked were sent away, want %d", probed, suspects)
		}
		close(d.hangs)
		all.Wait()
	})
}

// TestThorough: of the slots some are for those that may just be slow.
func TestThorough(t *testing.T) {
	b := newBulkhead()
	whole := 0
	for range suspects {
		w, _, ok := b.try()
		if !ok {
			t.Fatal("no slot")
		}
		if w {
			whole++
		}
	}
	if _, _, ok := b.try(); ok || whole != thorough {
		t.Errorf("%d of %d slots are for a whole RequestTimeout, want %d; one more: %t", whole, suspects, thorough, ok)
	}
}
