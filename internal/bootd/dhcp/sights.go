package dhcp

import (
	"hash/maphash"
	"sync"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/boot/numbered"
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
	// seed of machines' numbers: by them a machine is found without looking at others' UIDs, which are in no cache.
	seed maphash.Seed

	mu     sync.Mutex
	began  time.Time            // with the first sight
	last   numbered.Map[glance] // by entry UID: all NICs of a machine are one
	tidied time.Duration        // since the first sight
}

type sight struct {
	client Client
	stage  boot.Stage
	xid    [4]byte
	at     time.Time
	six    bool // by DHCPv6
}

// glance is what is kept of a sight, in little memory: of a hall's machines each packet is another one's.
type glance struct {
	at            time.Duration // since the first sight
	xid           [4]byte
	client, stage uint8
	// both says that this boot's iPXE was seen by both protocols.
	six, both bool
}

// NewSights have seen nothing yet.
func NewSights() *Sights { return &Sights{seed: maphash.MakeSeed()} }

// first says whether an exchange of a machine, by its entry, is the first sight of its stage in a boot.
func (s *Sights) first(uid string, seen sight) bool {
	machine := maphash.String(s.seed, uid)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.began.IsZero() {
		s.began = seen.at
	}
	next := glance{at: seen.at.Sub(s.began), xid: seen.xid, client: ordinal(clients[:], seen.client), stage: ordinal(stages[:], seen.stage), six: seen.six}
	before := s.last.At(machine)
	goesOn := before != nil && before.continues(next)
	next.both = goesOn && before.client == next.client && (before.both || before.six != next.six)
	if before != nil {
		*before = next
	} else {
		s.last.Set(machine, next)
	}
	if s.last.Len() > maxSights && next.at-s.tidied > sameBoot {
		s.forget(next.at)
	}
	return !goesOn
}

// forget drops what no boot goes on from. It's done now and then: in a storm, when all of them are fresh, each packet would pay
// for a look at all machines. (There are never more than have plans.)
func (s *Sights) forget(now time.Duration) {
	s.tidied = now
	s.last.DeleteFunc(func(x *glance) bool { return now-x.at > sameBoot })
}

// iPXE is a client's ordinal, the first of clients.
const iPXE = 0

var (
	clients = [...]Client{iPXE: ClientIPXE, ClientPXE, ClientHTTP, ClientOther, ClientOS} //nolint:gochecknoglobals // A table.
	stages  = [...]boot.Stage{boot.StageDHCP, boot.StageBootedFromDisk}                   //nolint:gochecknoglobals // A table.
)

// ordinal is a value's place among others, or behind them.
func ordinal[T comparable](all []T, x T) uint8 {
	for i, one := range all {
		if one == x {
			return uint8(i)
		}
	}
	return uint8(len(all)) //nolint:gosec // There are few.
}

// continues says whether next belongs to what was seen already.
func (x glance) continues(next glance) bool {
	age := next.at - x.at
	if x.stage != next.stage {
		return false
	}
	if x.client == next.client {
		other := x.six != next.six && !x.both && x.client == iPXE
		return other && age < sameBoot || x.six == next.six && x.xid == next.xid && age < sameExchange
	}
	return x.client != iPXE && next.client == iPXE && age < sameBoot
}
