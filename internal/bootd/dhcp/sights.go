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

// sights tells the exchanges of one boot from those of another. Firmware that loads iPXE talks twice per boot, an iPXE ROM
// once, and each may say anything several times.
type sights struct {
	mu     sync.Mutex
	last   map[string]sight // by entry UID: all NICs of a machine are one
	tidied time.Time
}

type sight struct {
	client Client
	stage  boot.Stage
	xid    [4]byte
	at     time.Time
}

func newSights() *sights { return &sights{last: map[string]sight{}} }

// first says whether an answer is the first sight of its stage in a boot.
func (s *sights) first(a Answer, xid [4]byte, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	next := sight{a.Facts.Client, a.Stage, xid, now}
	before, known := s.last[a.Plan.EntryUID]
	s.last[a.Plan.EntryUID] = next
	if len(s.last) > maxSights && now.Sub(s.tidied) > sameBoot {
		s.forget(now)
	}
	return !known || !before.continues(next)
}

// forget drops what no boot goes on from. It's done now and then: in a storm, when all of them are fresh, each packet would pay
// for a look at all machines. (There are never more than have plans.)
func (s *sights) forget(now time.Time) {
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
		return x.xid == next.xid && age < sameExchange
	}
	return x.client != ClientIPXE && next.client == ClientIPXE && age < sameBoot
}
