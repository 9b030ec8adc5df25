// Package trace keeps the last packets of each machine in memory, so that a boot which failed can be looked at afterwards as a pcap. It
// holds what went over UDP; of TCP nothing is kept. Tokens are blotted out before a packet is kept.
package trace

import (
	"slices"
	"sync"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

const (
	// DefaultBytes are for 512 machines.
	DefaultBytes = 4 << 20
	// perMachine is what one machine has: two boots of three DHCP exchanges each, or so.
	perMachine = 8 << 10
	// strangers are remembered too, a few at a time: whose MAC nobody entered is most easily found by what it sends.
	strangers, perStranger = 16, 2 << 10
)

// A Ring holds packets by machine: a bounded number of machines, and of each a bounded number of bytes. Who was heard last stays. Machines
// that bootd knows never make room for strangers. A nil Ring keeps nothing.
type Ring struct {
	mu       sync.Mutex
	known    store
	stranger store
}

// New makes a ring of that many bytes at most; nil where that's too little for one machine. Memory is taken as machines are heard.
func New(bytes int) *Ring {
	if bytes < perMachine {
		return nil
	}
	return &Ring{
		known:    store{most: bytes / perMachine, size: perMachine, of: map[boot.MAC]*block{}},
		stranger: store{most: strangers, size: perStranger, of: map[boot.MAC]*block{}},
	}
}

// Add keeps copies of what a machine sent and of what it was answered; an answer without data is silence.
func (r *Ring) Add(mac boot.MAC, known bool, request, answer Packet) {
	if r == nil || mac == "" {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	s := &r.stranger
	if known {
		s = &r.known
	}
	b := s.take(mac)
	b.add(&request)
	if answer.Data != nil {
		b.add(&answer)
	}
}

// Of gives what is kept of a machine with these MACs, the oldest first.
func (r *Ring) Of(macs ...boot.MAC) []Packet {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []Packet
	for _, mac := range macs {
		for _, s := range []*store{&r.stranger, &r.known} {
			if b := s.of[mac]; b != nil {
				all = b.packets(all)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b Packet) int { return a.At.Compare(b.At) })
	return all
}

// Machines says of how many machines packets are kept, and how many bytes these have taken.
func (r *Ring) Machines() (machines, bytes int) {
	if r == nil {
		return 0, 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.known.of) + len(r.stranger.of), len(r.known.of)*r.known.size + len(r.stranger.of)*r.stranger.size
}

// A store is a bounded number of machines' blocks, in the order in which they were heard.
type store struct {
	most, size     int
	of             map[boot.MAC]*block
	newest, oldest *block
}

// take gives a machine's block, which is the newest from now on. Where there are too many, that of whoever was silent for longest
// becomes its own.
func (s *store) take(mac boot.MAC) *block {
	b := s.of[mac]
	if b != nil && b == s.newest {
		return b
	}
	switch {
	case b != nil:
		s.unlink(b)
	case len(s.of) < s.most:
		b = &block{buf: make([]byte, 0, s.size)}
	default:
		b = s.oldest
		s.unlink(b)
		delete(s.of, b.mac)
		b.buf, b.count = b.buf[:0], 0
	}
	if b.mac != mac {
		b.mac = mac
		s.of[mac] = b
	}
	b.older = s.newest
	if s.newest != nil {
		s.newest.newer = b
	} else {
		s.oldest = b
	}
	s.newest = b
	return b
}

func (s *store) unlink(b *block) {
	if b.older != nil {
		b.older.newer = b.newer
	} else {
		s.oldest = b.newer
	}
	if b.newer != nil {
		b.newer.older = b.older
	} else {
		s.newest = b.older
	}
	b.older, b.newer = nil, nil
}
