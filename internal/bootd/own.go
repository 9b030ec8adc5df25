package bootd

import (
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"
)

// ownAddresses are this machine's: of two of its interfaces on one segment each hears what the other answers. They're read once a
// second at most: anybody may name any server in as many requests as they like, and reading takes longer than an answer.
type ownAddresses struct {
	mu   sync.Mutex
	read time.Time
	all  []netip.Addr
}

// has says whether an address is this machine's, by a list of its interfaces' addresses.
func (o *ownAddresses) has(a netip.Addr, list func() ([]net.Addr, error)) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.read.IsZero() || time.Since(o.read) > time.Second {
		o.read = time.Now()
		if all, err := list(); err == nil { // Else those that were known.
			o.all = addressesOf(all)
		}
	}
	return slices.Contains(o.all, a)
}

func addressesOf(all []net.Addr) []netip.Addr {
	var as []netip.Addr
	for _, x := range all {
		if p, err := netip.ParsePrefix(x.String()); err == nil {
			as = append(as, p.Addr().Unmap())
		}
	}
	return as
}
