package dhcp

import (
	"sync"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

const (
	// sameExchange is how long a repeated xid is a retransmission; later it's a new boot: BIOS ROMs, and iPXE on OVMF, use
	// the same one at every boot.
	sameExchange = 10 * time.Second
	// sameBoot is how long after its ROM's exchange an iPXE's belongs to the same boot.
	sameBoot  = 3 * time.Minute
	maxSights = 8192
)

// Sights tell the exchanges of one boot from those of another. Firmware that loads iPXE talks twice per boot, an iPXE ROM
// once, and each may say anything several times. An iPXE on a segment of both families talks once more in each: so both protocols have the
// same Sights.
type Sights struct {
	mu     sync.Mutex
	last   map[string]sight // by entry UID: all NICs of a machine are one
	tidied time.Time
}

type sight struct {
	client Client
	stage  boot.Stage
	xid    [4]byte
	at     time.Time
	// six says that it was by DHCPv6, both that this boot's iPXE was seen by both.
	six, both bool
}

// NewSights have seen nothing yet.
func NewSights() *Sights { return &Sights{last: map[string]sight{}} }

// first says whether an exchange of a machine, by its entry, is the first sight of its stage in a boot.
func (s *Sights) first(uid string, next sight) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	before, known := s.last[uid]
	goesOn := known && before.continues(next)
	next.both = goesOn && before.client == next.client && (before.both || before.six != next.six)
	s.last[uid] = next
	if len(s.last) > maxSights && next.at.Sub(s.tidied) > sameBoot {
		s.forget(next.at)
	}
	return !goesOn
}

// forget drops what no boot goes on from. It's done now and then: in a storm, when all of them are fresh, each packet would pay
// for a look at all machines. (There are never more than have plans.)
func (s *Sights) forget(now time.Time) {
	s.tidied = now
	for uid, x := range s.last {
		if now.Sub(x.at) > sameBoot {
			delete(s.last, uid)
		}
	}
}

// continues says whether next belongs to what was seen already.
func (x sight) continues(next sight) bool {
	age := next.at.Sub(x.at)
	if x.stage != next.stage {
		return false
	}
	if x.client == next.client {
		other := x.six != next.six && !x.both && x.client == ClientIPXE
		return other && age < sameBoot || x.six == next.six && x.xid == next.xid && age < sameExchange
	}
	return x.client != ClientIPXE && next.client == ClientIPXE && age < sameBoot
}
