package bootd

import (
	"iter"
	"maps"
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

// tellOwn says once of each entry of a state whose machine is to have an address of this node's: DHCP gives it to nobody, and would say so only when
// the machine asks. more are those that came, where only they did.
func (d *daemon) tellOwn(st *boot.State, more []*boot.Plan, only bool) {
	was := d.ownTold
	d.ownTold = map[boot.Name]netip.Addr{}
	if only {
		maps.Copy(d.ownTold, was)
	}
	for p := range candidates(st, more, only) {
		a := d.owned(st, p)
		if !a.IsValid() {
			continue
		}
		d.ownTold[p.Entry] = a
		if was[p.Entry] != a {
			d.c.Logger.Warn("an entry can't be served as it's written; all others are", "entry", p.Entry.String(),
				"problem", "its address "+a.String()+" is this node's own, so that its machine is given none: give it another")
		}
	}
}

// owned gives the address of a plan that this node has, where it's DHCP's to give; invalid: none.
func (d *daemon) owned(st *boot.State, p *boot.Plan) netip.Addr {
	for x := range p.Network.Addresses() {
		if !d.has(p, x.Addr()) {
			continue
		}
		if g, ok := st.Segment(p.Network.Name); ok && g.GivesAddresses() {
			return x.Addr()
		}
	}
	return netip.Addr{}
}

// candidates are the plans that may have an address which nobody has looked at: those that came, or else all, where this node has an address
// that a network may give. They're good until the next one.
func candidates(st *boot.State, more []*boot.Plan, only bool) iter.Seq[*boot.Plan] {
	if only {
		return slices.Values(more)
	}
	return func(yield func(*boot.Plan) bool) {
		mine, err := net.InterfaceAddrs()
		if err != nil || !slices.ContainsFunc(st.Segments, func(g boot.Segment) bool { return slices.ContainsFunc(addressesOf(mine), g.Contains) }) {
			return
		}
		for _, p := range st.Packed().Scan() {
			if !yield(p) {
				return
			}
		}
	}
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
