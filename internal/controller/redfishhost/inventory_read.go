package redfishhost

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/gate"
)

// add puts a job in line: at its end, or where somebody waits for it, before
// all of which that isn't so.
func (i *inventories) add(j *job) {
	if r := i.running[j.bmc]; r != nil && r.host == j.host {
		r.urgent = r.urgent || j.urgent

		return
	}
	same := func(o *job) bool { return o.host == j.host }
	if at := slices.IndexFunc(i.waiting, same); at >= 0 {
		if i.waiting[at].urgent == j.urgent {
			i.waiting[at] = j

			return
		}
		i.waiting = slices.Delete(i.waiting, at, at+1)
	}
	at := len(i.waiting)
	if first := slices.IndexFunc(i.waiting, func(o *job) bool { return !o.urgent }); j.urgent && first >= 0 {
		at = first
	}
	i.waiting = slices.Insert(i.waiting, at, j)
}

// dispatch starts jobs: so many at once, a few more that somebody waits for, and
// one for each BMC. Called with the lock held.
func (i *inventories) dispatch() {
	readers := i.readers()
	for at := 0; at < len(i.waiting); {
		j, most := i.waiting[at], readers
		if j.urgent {
			most = readersAtOnce + urgentReaders
		}
		if len(i.running) >= most {
			return // Those that are urgent come first.
		}
		if i.running[j.bmc] != nil {
			at++

			continue
		}
		i.waiting = slices.Delete(i.waiting, at, at+1)
		i.running[j.bmc] = j
		go i.run(j)
	}
}

func (i *inventories) run(j *job) {
	ctx, cancel := context.WithTimeout(i.ctx, readTimeout)
	inv, err := i.survive(ctx, j)
	cancel()
	if i.finish(j, inv, err) {
		i.wake(j.name)
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	delete(i.running, j.bmc)
	i.ended++
	i.dispatch()
	i.idle.Broadcast()
}

// survive is read, where a panic is an error of this job alone: nothing else
// recovers one here, and one BMC's nonsense would be the end of all others'.
func (i *inventories) survive(ctx context.Context, j *job) (inv redfish.Inventory, err error) {
	defer func() {
		if r := recover(); r != nil {
			i.log.Info("The provider panicked over the inventory of a machine", "host", j.name.String(), "panic", fmt.Sprint(r), "stack", string(debug.Stack()))
			inv, err = redfish.Inventory{}, errPanic
		}
	}()

	return i.read(ctx, j)
}

// errPanic ends the job of a host whose BMC sends what the provider can't cope
// with.
var errPanic = errors.New("the provider panicked over the inventory")

// read takes turns at the BMC until all is read.
func (i *inventories) read(ctx context.Context, j *job) (redfish.Inventory, error) {
	w := redfish.NewWalk(j.system, j.memory)
	busy := 0
	for done := false; !done; {
		if err := ctx.Err(); err != nil {
			return redfish.Inventory{}, err //nolint:wrapcheck // Nobody reads it.
		}
		target, wanted := i.wanted(j)
		if !wanted {
			return redfish.Inventory{}, errGone
		}
		asked := false
		err := i.gates.Do(i.tallies.besides(ctx, j.name, j.host), target, func(ctx context.Context, bmc BMC) error {
			var err error
			asked = true
			done, err = bmc.Walk(ctx, w, readsATurn)

			return err //nolint:wrapcheck // It's asked for its kind.
		})
		switch {
		case err == nil:
			busy = 0
		case gate.IsBusy(err) && !w.Stalled() && busy < busyTurns && ctx.Err() == nil:
			busy++
			pause(ctx, max(busyPause, gate.LeaveAlone(err)))
		case !asked || w.Stuck(err):
			return redfish.Inventory{}, err //nolint:wrapcheck // The same.
		}
		if !done && w.Addresses() && i.early(j, w) {
			i.wake(j.name)
		}
	}

	return w.Inventory(), nil
}

// pause waits, or until nothing is to be read any more.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// errGone ends the job of a host that is gone, or whose machine isn't to be read as
// it was: a session that was closed for it isn't opened again.
var errGone = errors.New("the host is gone, in trouble, or is another machine")

// wanted says whether a job's host still is what it was, and how its BMC is talked
// to by now: a walk takes minutes, over which passwords and pins change.
func (i *inventories) wanted(j *job) (gate.Target, bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	d := i.still(j)
	if d == nil {
		return gate.Target{}, false
	}

	return d.target, true
}

// still is what is known of a job's host, or nil where that is gone, in trouble,
// or has, or had meanwhile, another machine or address: it has another memory
// then. Called with the lock held.
func (i *inventories) still(j *job) *inventoryOf {
	d := i.of[j.host]
	if d == nil || d.memory != j.memory || d.halted {
		return nil
	}

	return d
}

// early notes the addresses of a machine that a claim waits for, and says
// whether they weren't known.
func (i *inventories) early(j *job, w interface{ Inventory() redfish.Inventory }) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	d := i.still(j)
	if d == nil || d.read || !j.urgent {
		return false
	}
	inv := w.Inventory()
	if len(inv.MACs) == 0 {
		return false
	}
	d.Inventory, d.read, d.half, d.at, d.power, d.health = inv, true, true, i.now(), j.system.Power, j.system.Health

	return true
}

// finish notes what was read, and says whether there's something new to show.
// Nothing is noted of a host that is gone meanwhile, or has another machine.
func (i *inventories) finish(j *job, inv redfish.Inventory, err error) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	now := i.now()
	for host, d := range i.of {
		if now.Sub(d.seen) > unseenFor {
			delete(i.of, host)
		}
	}
	d := i.still(j)
	if d == nil {
		return false
	}
	d.tried = now
	if err != nil {
		// The next look at the host tells what is wrong with its BMC.
		return false
	}
	d.Inventory, d.read, d.half, d.at, d.tried, d.power, d.health = inv, true, false, now, time.Time{}, j.system.Power, j.system.Health

	return true
}
