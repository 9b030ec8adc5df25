// Package limit bounds how often somebody is answered, by token buckets. They're told the time, take a fixed amount of memory, and
// err on the side of answering.
package limit

import (
	"hash/maphash"
	"net/netip"
	"sync"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// A Rate is how many a second, and how many at once before that counts. PerSecond 0 is no limit.
type Rate struct {
	PerSecond float64
	Burst     int
}

// Rates of a Limiter.
type Rates struct {
	// Machine is of answers to one MAC that bootd knows. A known machine has no other limit: a hall that is powered on at once comes
	// through one relay.
	Machine Rate
	// Stranger is of requests of one MAC that nobody knows, Relay of those through one relay, and Strangers of all of them.
	Stranger, Relay, Strangers Rate
}

// Default rates. Of all firmware a Raspberry Pi 3 asks most often, some ten times a second; two relays of one segment double that. What's
// above the machine's rate is a loop, or somebody who floods the segment in its name.
func Default() Rates {
	return Rates{
		Machine:   Rate{200, 500},
		Stranger:  Rate{20, 40},
		Relay:     Rate{500, 1000},
		Strangers: Rate{2000, 4000},
	}
}

// A Verdict says which limit was reached; Within: none.
type Verdict uint8

// Values of Verdict.
const (
	Within Verdict = iota
	PerMAC
	PerRelay
	InTotal
)

// A Limiter decides whether somebody is to be heard. It's for use by many. A nil Limiter hears everybody.
type Limiter struct {
	mu        sync.Mutex
	machines  table
	strangers table
	relays    table
	total     bucket
	all       Rate
}

const (
	// slots of known machines, of strangers, and of relays.
	machineSlots, strangerSlots, relaySlots = 8192, 1024, 256
)

// New makes a limiter.
func New(r Rates) *Limiter {
	return &Limiter{
		machines: newTable(r.Machine, machineSlots), strangers: newTable(r.Stranger, strangerSlots), relays: newTable(r.Relay, relaySlots),
		all: r.Strangers,
	}
}

// Machine says whether a known machine may be answered now. It's asked for each answer.
func (l *Limiter) Machine(mac boot.MAC, now time.Time) Verdict {
	if l == nil {
		return Within
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.machines.take(maphash.String(l.machines.seed, string(mac)), now) {
		return PerMAC
	}
	return Within
}

// Stranger says whether a request of somebody unknown is to be looked at. One that its own limit stops doesn't count against its relay's,
// nor one that its relay's stops against that of all. An invalid relay: it came directly.
func (l *Limiter) Stranger(mac boot.MAC, relay netip.Addr, now time.Time) Verdict {
	if l == nil {
		return Within
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.strangers.take(maphash.String(l.strangers.seed, string(mac)), now) {
		return PerMAC
	}
	if relay.IsValid() {
		a := relay.As16()
		if !l.relays.take(maphash.Bytes(l.relays.seed, a[:]), now) {
			return PerRelay
		}
	}
	if !l.total.take(l.all, now) {
		return InTotal
	}
	return Within
}

// A table holds the buckets of those who were seen lately, each at the one place that its hash says. Who finds another's there takes the
// place, with a full bucket: two that share one aren't limited then, which is better than the one for the other's sake.
type table struct {
	rate  Rate
	seed  maphash.Seed
	slots []slot
}

type slot struct {
	bucket

	hash uint64
}

// newTable makes a table of so many places.
func newTable(r Rate, places int) table {
	return table{rate: r, seed: maphash.MakeSeed(), slots: make([]slot, places)}
}

func (t *table) take(hash uint64, now time.Time) bool {
	s := &t.slots[hash%uint64(len(t.slots))]
	if s.hash != hash {
		*s = slot{hash: hash}
	}
	return s.take(t.rate, now)
}

// A bucket begins full.
type bucket struct {
	used float64 // since it was last full
	at   int64   // in nanoseconds; 0: never
}

// take takes one out of a bucket; false: it's empty. A clock that is put back refills nothing until it goes on from there.
func (b *bucket) take(r Rate, now time.Time) bool {
	if r.PerSecond <= 0 {
		return true
	}
	at := now.UnixNano()
	if passed := at - b.at; passed > 0 && b.at != 0 {
		b.used = max(0, b.used-float64(passed)/float64(time.Second)*r.PerSecond)
	}
	b.at = at
	if b.used+1 > float64(r.Burst) {
		return false
	}
	b.used++
	return true
}
