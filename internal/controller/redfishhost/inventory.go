package redfishhost

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/gate"
)

const (
	// readersAtOnce is how many inventories are read at once, of all BMCs, and
	// urgentReaders how many more of hosts that somebody waits for: some BMCs take
	// a quarter of an hour.
	readersAtOnce = 16
	urgentReaders = 4
	// rushHosts are so many that are looked at for the first time within rushTime, as
	// after a start with a fleet: then few are read that nobody waits for, rushReaders
	// at once. That all are Ready comes first, which no inventory is needed for.
	rushHosts, rushReaders = 50, 2
	rushTime               = 3 * time.Second
	// readsATurn is how many requests are made in one turn at a BMC. Who waits for
	// the BMC comes sooner: after the request that is under way.
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
	// tallies count what is asked.
	tallies *tallies
	ctx     context.Context //nolint:containedctx // It ends with the process.
	stop    context.CancelFunc

	mu sync.Mutex
	// idle is told when the last job has ended.
	idle    *sync.Cond
	of      map[types.UID]*inventoryOf
	waiting []*job
	// barred are hosts that are paused. A look may be under way when they are.
	barred map[types.UID]bool
	// firsts are when hosts were looked at for the first time lately.
	firsts []time.Time
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
	// memory is what the BMC needn't send again: of this machine, at this address.
	memory *redfish.Memory
	// target is how the last good look talked to the BMC, and bmc its endpoint.
	target gate.Target
	bmc    string
	// halted says that nothing may be read until the next good look.
	halted bool
}

// job is an inventory that is to be read.
type job struct {
	host types.UID
	name types.NamespacedName
	// bmc is the endpoint that the machine was seen at.
	bmc    string
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
		tallies: newTallies(), of: map[types.UID]*inventoryOf{}, barred: map[types.UID]bool{}, running: map[string]*job{},
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
	if i.barred[host.GetUID()] {
		return
	}
	now, name := i.now(), types.NamespacedName{Namespace: host.GetNamespace(), Name: host.GetName()}
	d := i.of[host.GetUID()]
	if d == nil || d.machine != s.Name() {
		if d == nil {
			i.firsts = append(recent(i.firsts, now), now)
		}
		d = &inventoryOf{name: name, machine: s.Name(), memory: &redfish.Memory{}}
		i.of[host.GetUID()] = d
	}
	t.Lane = gate.Inventory
	if d.bmc != bmc {
		// A job that still is at the old address has the old memory.
		d.bmc, d.memory = bmc, &redfish.Memory{}
	}
	d.seen, d.target, d.halted = now, t, false
	if !d.due(s, now, age) || d.read && acting {
		return
	}
	i.add(&job{
		host: host.GetUID(), name: name, bmc: bmc, system: s, memory: d.memory,
		urgent: !d.read && host.Spec.ClaimRef != nil,
	})
	i.dispatch()
}

// recent are those of sorted times that are no longer ago than rushTime, of which no
// more than rushHosts count.
func recent(times []time.Time, now time.Time) []time.Time {
	times = times[max(0, len(times)-rushHosts):]
	for len(times) > 0 && now.Sub(times[0]) > rushTime {
		times = times[1:]
	}

	return times
}

// readers are how many inventories are read at once that nobody waits for. Called
// with the lock held.
func (i *inventories) readers() int {
	if i.firsts = recent(i.firsts, i.now()); len(i.firsts) >= rushHosts {
		return rushReaders
	}

	return readersAtOnce
}

// halt has nothing more read of a host in trouble, until it's well: not with a
// password that is refused, nor at a place that isn't allowed any more.
func (i *inventories) halt(host types.UID) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if d := i.of[host]; d != nil {
		d.halted = true
	}
	i.unqueue(host)
}

// bar has nothing read of a host, whatever is looked at, or not any more.
func (i *inventories) bar(host types.UID, is bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	delete(i.barred, host)
	if is {
		i.barred[host] = true
	}
}

// unqueue takes a host's job out of the line. Called with the lock held.
func (i *inventories) unqueue(host types.UID) {
	i.waiting = slices.DeleteFunc(i.waiting, func(j *job) bool { return j.host == host })
	i.idle.Broadcast()
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

func (i *inventories) forget(host types.UID) {
	i.mu.Lock()
	defer i.mu.Unlock()
	delete(i.of, host)
	i.unqueue(host)
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
