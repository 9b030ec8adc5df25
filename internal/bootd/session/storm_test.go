package session

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// TestConflictStorm: somebody writes a session all the time, so that hardly any of the bootds' own writes is taken. One boot at most uses the
// grant all the same, none is told that it may which may not, and once it's calm the one that has won goes on.
func TestConflictStorm(t *testing.T) {
	const rounds, bootds, boots = 10, 3, 4
	injected, met := 0, 0
	for round := range rounds {
		a := newAPI(granted())
		var refused atomic.Int64
		a.before = func(r Record) error {
			if a.record(machine()).Session.Revision != r.Session.Revision {
				refused.Add(1)
			}
			return nil
		}
		dir := t.TempDir()
		var managers []*Manager
		for i := range bootds {
			managers = append(managers, bootd(t, a, fmt.Sprintf("bootd-%d", i), dir))
		}
		stop := make(chan struct{})
		var writer, all sync.WaitGroup
		writer.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					a.edit(machine(), func(*Record) {})
					time.Sleep(10 * time.Microsecond)
				}
			}
		})
		var won sync.Map
		for i := range boots {
			nonce := fmt.Sprintf("%015x1", i+1)
			for _, m := range managers {
				all.Go(func() {
					_ = m.Open(t.Context(), plan(), token(nonce), fresh())
					if m.Consume(t.Context(), plan(), token(nonce)) == nil {
						won.Store(nonce, true)
					}
				})
			}
		}
		all.Wait()
		close(stop)
		writer.Wait()
		count, winner := 0, ""
		won.Range(func(k, _ any) bool { count++; winner, _ = k.(string); return true })
		c := a.record(machine()).Session.Consumed
		if count > 1 || count == 1 && (c == nil || c.Nonce != winner) {
			t.Fatalf("round %d: %d boots won (%s), the session says %+v", round, count, winner, c)
		}
		if c != nil {
			winner = c.Nonce
		} else if len(a.record(machine()).Session.Opened) >= boot.MaxOpens {
			continue // None has won, and the boots have taken turns until the grant had no script left: a boot loop, which ends so.
		} else if err := managers[0].Open(t.Context(), plan(), token(nonceA), fresh()); err != nil {
			t.Fatalf("round %d: it's calm, and no boot can begin: %v", round, err)
		} else {
			winner = nonceA
		}
		for _, m := range managers {
			if err := m.Consume(t.Context(), plan(), token(winner)); err != nil {
				t.Errorf("round %d: it's calm, and the boot that has won can't go on: %v", round, err)
			}
		}
		n := int(refused.Load())
		injected, met = injected+n, met+n
	}
	if injected == 0 {
		t.Error("nothing was in conflict")
	}
	t.Logf("\n| bootd: BootSession is written by others all the time | %d | %d |", injected, met)
}
