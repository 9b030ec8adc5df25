package dhcp

import (
	"hash/maphash"
	"net/netip"
	"sync"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/boot/numbered"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp/wire"
)

const (
	// quarantined is how long a declined address isn't given again. Whoever uses it may be gone by then; if not, the machine
	// finds out again, and declines again.
	quarantined = 10 * time.Minute
	// checking is how long after its REQUEST a machine looks whether somebody else has its address (RFC 2131 §4.4.1). A DECLINE
	// later than that, which nothing was given before, is a forged one.
	checking = time.Minute
	// together is how long after one NIC of a machine asked for its address another one's DECLINE is taken for what it most likely is: all of them
	// are given that address, so that a system which asks by each, as an installer before it has made a bond, finds itself.
	together = time.Hour
	// maxQuarantine bounds what is remembered.
	maxQuarantine = 8192
	// maxLentQuarantine bounds what is remembered of lent addresses, apart: strangers push out nothing of a machine that's known.
	maxLentQuarantine = 1024
)

// A quarantine remembers which addresses were declined, by network: two networks may use one address. It isn't kept over a
// restart: a machine that's offered a taken address then declines it once more.
type quarantine struct {
	most int
	seed maphash.Seed // of MACs' numbers

	mu    sync.Mutex
	began time.Time // when the first REQUEST was heard
	asked numbered.Map[asked]
	until map[place]time.Time
}

// asked is a REQUEST that was heard: for which address, and when since the first.
type asked struct {
	address netip.Addr
	at      time.Duration
}

type place struct {
	network boot.Name
	address netip.Addr
}

func newQuarantine(most int) *quarantine {
	return &quarantine{most: most, seed: maphash.MakeSeed(), until: map[place]time.Time{}}
}

func (q *quarantine) number(mac boot.MAC) uint64 { return maphash.String(q.seed, string(mac)) }

// heard takes note of a REQUEST for the planned address, or a lent one, whichever server of the segment it names: what one bootd gave, and
// the machine found taken, the others mustn't give either.
func (q *quarantine) heard(a Answer, now time.Time) {
	counts := a.Reason == Acknowledged || a.Reason == AcknowledgedTemporarily || a.Reason == SilentOtherServer && a.Facts.Type == wire.Request
	if _, address := a.about(); !counts || !address.IsValid() || a.Facts.Requested != address {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.began.IsZero() {
		q.began = now
	}
	at := now.Sub(q.began)
	if q.asked.Len() >= q.most {
		q.asked.DeleteFunc(func(x *asked) bool { return at-x.at > checking }) // Not together: what is needed most is kept.
		if q.asked.Len() >= q.most {
			q.asked.Clear() // In a storm: it costs at worst that a DECLINE isn't believed, and is sent again.
		}
	}
	q.asked.Set(q.number(a.Facts.MAC), asked{a.Facts.Requested, at})
}

// declines puts an address into quarantine; false: nobody gave it to this machine just now, or it has it by another of its MACs.
func (q *quarantine) declines(a Answer, macs []boot.MAC, now time.Time) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	network, address := a.about()
	at := now.Sub(q.began)
	x := q.asked.At(q.number(a.Facts.MAC))
	if x == nil || x.address != address || at-x.at > checking {
		return false
	}
	q.asked.Delete(q.number(a.Facts.MAC))
	for _, mac := range macs {
		if other := q.asked.At(q.number(mac)); other != nil && other.address == address && at-other.at <= together {
			return false
		}
	}
	for p, until := range q.until {
		if len(q.until) >= q.most || now.After(until) {
			delete(q.until, p)
		}
	}
	q.until[place{network, address}] = now.Add(quarantined)
	return true
}

// holds says whether an address is in quarantine.
func (q *quarantine) holds(network boot.Name, address netip.Addr, now time.Time) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.until) == 0 {
		return false
	}
	return now.Before(q.until[place{network, address}])
}
