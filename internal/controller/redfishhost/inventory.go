package redfishhost

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/gate"
)

const (
	// readersAtOnce is how many inventories are read at once, of all BMCs.
	readersAtOnce = 16
	// readsATurn is how many requests are made in one turn at a BMC. Whoever
	// waits for the BMC comes next: an act is later by no more than these.
	readsATurn = 8
	// readTimeout is how long one inventory may take: some BMCs take a second or
	// two for each of hundreds of resources.
	readTimeout = 15 * time.Minute
	// busyTurns is how often a BMC may be busy in a row, and busyPause how long it's
	// then left to the others.
	busyTurns, busyPause = 20, time.Second
	// doubtful is how long an inventory is believed that is likely to be out of
	// date, and calm how long it takes until one that failed is tried again.
	doubtful, calm = 10 * time.Minute, time.Minute
	// unseenFor is how long an inventory is kept of a host that nobody looks at.
	unseenFor = 24 * time.Hour
)

// inventories reads what takes many requests, beside the reconciles: a host is
// Ready without it, and no worker waits for it. It is safe for concurrent use.
type inventories struct {
	gates Gatekeeper
	now   func() time.Time
	// wake has a host looked at, whose inventory was read.
	wake func(types.NamespacedName)
	log  logging.Logger
	ctx  context.Context //nolint:containedctx // It ends with the process.
	stop context.CancelFunc

	mu sync.Mutex
	// idle is told when the last job has ended.
	idle    *sync.Cond
	of      map[types.UID]*inventoryOf
	waiting []*job
	// running are the jobs by BMC.
	running map[string]*job
	// ended counts jobs.
	ended int
}

// inventoryOf is what is known of one host.
type inventoryOf struct {
	redfish.Inventory

	name types.NamespacedName
	// read says whether this process has read it, of this machine.
	read    bool
	machine string
	// half says that only its addresses are known yet.
	half bool
	// at is when it was read, tried when that was tried, and seen when somebody
	// asked for it.
	at, tried, seen time.Time
	// power and health are the machine's when it was read.
	power  redfish.Power
	health string
	// memory is what the BMC needn't send again.
	memory *redfish.Memory
}

// job is an inventory that is to be read.
type job struct {
	host   types.UID
	name   types.NamespacedName
	bmc    string
	target gate.Target
	system redfish.System
	// memory of the machine; one job at a time has it.
	memory *redfish.Memory
	// urgent says that somebody waits for it.
	urgent bool
}

func newInventories(gates Gatekeeper, now func() time.Time, wake func(types.NamespacedName)) *inventories {
	if wake == nil {
		wake = func(types.NamespacedName) {}
	}
	ctx, stop := context.WithCancel(context.Background())
	i := &inventories{
		gates: gates, now: now, wake: wake, log: logging.NewNopLogger(), ctx: ctx, stop: stop,
		of: map[types.UID]*inventoryOf{}, running: map[string]*job{},
	}
	i.idle = sync.NewCond(&i.mu)

	return i
}

// known returns what was read of a host's machine, if anything was.
func (i *inventories) known(host types.UID, s redfish.System) inventoryOf {
	i.mu.Lock()
	defer i.mu.Unlock()
	if d := i.of[host]; d != nil && d.machine == s.Name() {
		return *d
	}

	return inventoryOf{}
}

// refresh has the inventory of a host's machine read where that is due: it was
// never read, is older than age, or was read under other circumstances. acting
// says that something is being done to the machine, which comes first.
func (i *inventories) refresh(host *v1alpha1.RedfishHost, s redfish.System, t gate.Target, age time.Duration, acting bool) {
	bmc, err := redfish.Endpoint(t.Address)
	if err != nil {
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	now, name := i.now(), types.NamespacedName{Namespace: host.GetNamespace(), Name: host.GetName()}
	d := i.of[host.GetUID()]
	if d == nil || d.machine != s.Name() {
		d = &inventoryOf{name: name, machine: s.Name(), memory: &redfish.Memory{}}
		i.of[host.GetUID()] = d
	}
	d.seen = now
	t.Lane = gate.Inventory
	if !d.due(s, now, age) || d.read && acting {
		return
	}
	i.add(&job{
		host: host.GetUID(), name: name, bmc: bmc, target: t, system: s, memory: d.memory,
		urgent: !d.read && host.Spec.ClaimRef != nil,
	})
	i.dispatch()
}

// due says whether an inventory is to be read.
func (d *inventoryOf) due(s redfish.System, now time.Time, age time.Duration) bool {
	since := now.Sub(d.at)
	switch {
	case now.Sub(d.tried) < calm && !d.tried.IsZero():
		return false
	case !d.read, d.half:
		return true
	case d.health != s.Health:
		return since >= calm
	case d.power != s.Power, d.Partial, len(d.Refused) > 0, len(d.MACs) == 0:
		// A machine that has started, or a BMC that has, shows more.
		return since >= min(doubtful, age)
	default:
		return since >= age
	}
}

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

// dispatch starts jobs: so many at once, and one for each BMC. Called with the lock held.
func (i *inventories) dispatch() {
	for at := 0; at < len(i.waiting) && len(i.running) < readersAtOnce; {
		j := i.waiting[at]
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
		if !i.wanted(j) {
			return redfish.Inventory{}, errGone
		}
		asked := false
		err := i.gates.Do(ctx, j.target, func(ctx context.Context, bmc BMC) error {
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
			pause(ctx, busyPause)
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

// errGone ends the job of a host that is gone: a session that was closed for it
// isn't opened again.
var errGone = errors.New("the host is gone, or is another machine")

// wanted says whether a job's host still is what it was.
func (i *inventories) wanted(j *job) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	d := i.of[j.host]

	return d != nil && d.machine == j.system.Name()
}

// early notes the addresses of a machine that a claim waits for, and says
// whether they weren't known.
func (i *inventories) early(j *job, w interface{ Inventory() redfish.Inventory }) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	d := i.of[j.host]
	if d == nil || d.machine != j.system.Name() || d.read || !j.urgent {
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
	d := i.of[j.host]
	if d == nil || d.machine != j.system.Name() {
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

func (i *inventories) forget(host types.UID) {
	i.mu.Lock()
	defer i.mu.Unlock()
	delete(i.of, host)
	i.waiting = slices.DeleteFunc(i.waiting, func(j *job) bool { return j.host == host })
}

// settle waits until nothing is being read, and returns how many were so far.
func (i *inventories) settle() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	for len(i.running) > 0 || len(i.waiting) > 0 {
		i.idle.Wait()
	}

	return i.ended
}
