package bootd

import (
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
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

// has says whether an address of a plan is this machine's, and this machine not the plan's: one that was booted from here, and runs a bootd now, goes on
// with its own.
func (d *daemon) has(p *boot.Plan, a netip.Addr) bool {
	return d.own.has(a, net.InterfaceAddrs) && !hasMAC(p.MACs, net.Interfaces)
}

func hasMAC(macs []boot.MAC, list func() ([]net.Interface, error)) bool {
	all, err := list()
	return err != nil || slices.ContainsFunc(all, func(i net.Interface) bool { return slices.Contains(macs, boot.MAC(i.HardwareAddr.String())) })
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
