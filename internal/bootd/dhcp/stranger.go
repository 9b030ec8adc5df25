package dhcp

import (
	"net/netip"
	"slices"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp/pool"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp/wire"
)

// Reasons of answers to machines that nobody knows, where their segment lends addresses.
const (
	OfferedTemporarily      Reason = "OfferedTemporarily"
	AcknowledgedTemporarily Reason = "AcknowledgedTemporarily"
	// SilentNoneFree: all addresses are lent, planned or set aside, or may be lent by other bootds alone.
	SilentNoneFree Reason = "NoTemporaryAddress"
	// SilentNotMine: another bootd may lend the address, and extend it.
	SilentNotMine Reason = "AnotherMayLendIt"
)

// Lending is how addresses are lent to machines that nobody knows.
type Lending struct {
	// Book is who has which; nil: nobody is lent anything. An answer rests on it; Server alone writes into it.
	Book *pool.Book
	// Share gives, once for a request, what says of an address whether this bootd may lend it, or extend it for who has it: of several
	// bootds one alone may. It gives nil where this one may lend nothing now. A nil Share: all is its own.
	Share func(network boot.Name) func(netip.Addr) bool
	// Server says whether an address is a server's: this bootd's, another's, or one that is meant to be there. nil: none is.
	Server func(a netip.Addr) bool
}

// stranger answers a machine that nobody knows: by an address for a short time where its segment says so, and by nothing that it could
// boot. Its firmware goes on to its disk.
func (e *exchange) stranger() Answer {
	if e.view.Lending.Book == nil || e.facts.MAC == "" || e.in.Proxy {
		return e.silence(SilentUnknown)
	}
	if hasUserClass(e.req.Get(wire.OptionUserClass), wire.ProbeClass) {
		return e.silence(SilentProbe) // It looks for servers that aren't ours, and takes no address.
	}
	if e.view.State.Withheld(e.facts.MAC) {
		return e.silence(SilentUnknown) // It has an entry, and soon a plan: until then it hears what it heard before.
	}
	pools := e.pools()
	if len(pools) == 0 {
		return e.silence(SilentUnknown)
	}
	if why := e.ourselves(); why != "" {
		return e.silence(why)
	}
	if e.share = anyAddress; e.view.Lending.Share != nil {
		e.share = e.view.Lending.Share(e.segment.Name)
	}
	switch e.facts.Type { //nolint:exhaustive // Of the others nothing follows.
	case wire.Discover:
		if e.in.To.IsValid() && !e.facts.Relay.Address.IsValid() {
			return e.silence(SilentUnicast)
		}
		if why := e.foreign(); why != "" {
			return e.silence(why)
		}
		a, ok := e.choose(pools)
		if !ok {
			return e.silence(SilentNoneFree)
		}
		return e.lend(wire.Offer, OfferedTemporarily, pools, a)
	case wire.Request:
		return e.strangersRequest(pools)
	case wire.Decline:
		return e.about(pools, e.facts.Requested, e.ours(Declined))
	case wire.Release:
		return e.about(pools, e.facts.Address, e.ours(Released))
	}
	return e.silence(SilentUnknown)
}

// about is silence about a temporary address; one that is none is nobody's.
func (e *exchange) about(pools []boot.Pool, a netip.Addr, why Reason) Answer {
	if _, ok := pool.Of(pools, a); !ok {
		return e.silence(SilentUnknown)
	}
	if why == Declined && e.in.To.IsValid() && !e.facts.Relay.Address.IsValid() {
		why = SilentUnicast // As of a machine that's known: it may come from anywhere.
	}
	out := e.silence(why)
	out.Network, out.Lent = e.segment.Name, a
	return out
}

// pools finds the segment that a stranger is on, and what may be lent there. What came by unicast and no relay must be from the very
// address that it's about.
func (e *exchange) pools() []boot.Pool {
	for i := range e.view.State.Segments {
		g := &e.view.State.Segments[i]
		if len(g.Pools) == 0 || !g.GivesAddresses() || !e.servedBy(g) {
			continue
		}
		var pools []boot.Pool
		for _, p := range g.Pools {
			if e.on(p) {
				pools = append(pools, p)
			}
		}
		if len(pools) > 0 {
			e.segment = *g
			return pools
		}
	}
	return nil
}

// servedBy says whether a segment answers what comes in like this, as elsewhere says it of a machine that is known.
func (e *exchange) servedBy(g *boot.Segment) bool {
	switch {
	case e.facts.Relay.Address.IsValid():
		return g.TrustsRelay(e.facts.Relay.Address)
	case g.Mode != boot.SegmentAuthoritative:
		return false
	case e.in.To.IsValid():
		return e.facts.Address.IsValid() && e.facts.Address == e.in.From.Addr()
	}
	return len(g.Interfaces) == 0 || slices.Contains(g.Interfaces, e.in.Interface)
}

// on says whether a range is of the link that a stranger is on.
func (e *exchange) on(p boot.Pool) bool {
	relay := &e.facts.Relay
	switch {
	case relay.Link.IsValid() && relay.Address.IsValid():
		return p.Network.Address.Contains(relay.Link)
	case relay.Address.IsValid():
		return p.Network.Address.Contains(relay.Address)
	case e.in.To.IsValid():
		return p.Contains(e.facts.Address)
	}
	return slices.ContainsFunc(e.in.Addresses, p.Network.Address.Contains)
}

// choose gives the address to offer: the one that the machine has or had, or asks for, or else the first by its MAC that is free.
func (e *exchange) choose(pools []boot.Pool) (netip.Addr, bool) {
	l, mac := &e.view.Lending, e.facts.MAC
	if e.share == nil {
		return netip.Addr{}, false
	}
	if a, ok := l.Book.Last(e.segment.Name, mac); ok {
		holder, counts := l.Book.Holder(e.segment.Name, a, e.view.Now)
		if counts && holder.MAC == mac && e.mine(a) && e.lendable(pools, a) || !counts && e.free(pools, a) {
			return a, true
		}
	}
	if e.free(pools, e.facts.Requested) {
		return e.facts.Requested, true
	}
	return pool.Choose(pools, mac, func(a netip.Addr) bool { return e.free(pools, a) })
}

// lendable says whether a machine that nobody knows may have an address: no reservation, server, gateway or relay has it, and it wasn't
// declined.
func (e *exchange) lendable(pools []boot.Pool, a netip.Addr) bool {
	p, ok := pool.Of(pools, a)
	if !ok || p.Fixed(a) || e.view.State.Reserved(a) || slices.Contains(e.in.Addresses, a) || a == e.server || a == e.facts.Relay.Address {
		return false
	}
	if len(e.segment.Relays) > 0 && e.segment.TrustsRelay(a) {
		return false
	}
	if s := e.view.Lending.Server; s != nil && s(a) {
		return false
	}
	return e.view.Declined == nil || !e.view.Declined(e.segment.Name, a, e.view.Now)
}

// free says whether this bootd may lend an address to a machine that hasn't got it.
func (e *exchange) free(pools []boot.Pool, a netip.Addr) bool {
	if !a.IsValid() || !e.mine(a) {
		return false
	}
	if l, counts := e.view.Lending.Book.Holder(e.segment.Name, a, e.view.Now); counts && l.MAC != e.facts.MAC {
		return false
	}
	return e.lendable(pools, a)
}

func (e *exchange) mine(a netip.Addr) bool { return e.share != nil && e.share(a) }

func anyAddress(netip.Addr) bool { return true }

// strangersRequest answers a REQUEST for a temporary address. One that names another server is heard all the same: that one has lent it.
func (e *exchange) strangersRequest(pools []boot.Pool) Answer {
	f, l := &e.facts, &e.view.Lending
	wanted := f.Requested
	if !wanted.IsValid() {
		wanted = f.Address
	}
	if !wanted.IsValid() {
		return e.silence(SilentMalformed)
	}
	if f.Server.IsValid() && f.Server != e.id {
		out := e.about(pools, wanted, SilentOtherServer)
		if is := l.Server; is == nil || !is(f.Server) || e.hasAnother(wanted) {
			out.Lent = netip.Addr{} // A server that nobody knows lends none of ours, and one MAC has one address.
		}
		return out
	}
	holder, counts := l.Book.Holder(e.segment.Name, wanted, e.view.Now)
	_, ours := pool.Of(pools, wanted)
	if why := e.foreign(); why != "" && !e.in.To.IsValid() && (!counts || holder.MAC != f.MAC) {
		return e.silence(why) // It may have that of another server, and a segment that doesn't begin lends nothing.
	}
	switch {
	case !ours && f.Server.IsValid():
		return e.refuse()
	case !ours:
		return e.silence(SilentUnknown) // What we know nothing of is another server's to refuse (RFC 2131 §4.3.2).
	case !e.mine(wanted):
		return e.silence(SilentNotMine) // What we know of it may be late.
	case counts && holder.MAC != f.MAC, !e.lendable(pools, wanted), e.hasAnother(wanted):
		return e.refuse()
	}
	return e.lend(wire.ACK, AcknowledgedTemporarily, pools, wanted)
}

// hasAnother says that a machine has another temporary address already: one MAC has one, however many it asks for.
func (e *exchange) hasAnother(wanted netip.Addr) bool {
	l := &e.view.Lending
	a, ok := l.Book.Last(e.segment.Name, e.facts.MAC)
	if !ok || a == wanted {
		return false
	}
	holder, counts := l.Book.Holder(e.segment.Name, a, e.view.Now)
	return counts && holder.Taken() && holder.MAC == e.facts.MAC
}

// lend makes an OFFER or ACK with an address and what makes it useful. There's no file, no server of files and no script in it.
func (e *exchange) lend(t wire.Type, why Reason, pools []boot.Pool, a netip.Addr) Answer {
	of, _ := pool.Of(pools, a)
	n := of.Network
	n.Address = netip.PrefixFrom(a, n.Address.Bits())
	p := e.packet(t)
	if t == wire.ACK {
		p.KeepClient(e.req)
	}
	e.yours = a
	p.Yours(a)
	e.lease(p, n.Lease)
	e.network(p, &n, "")
	e.options(p)
	out := e.answer(p, why)
	out.Network, out.Lent = e.segment.Name, a
	return out
}

// lent takes note of what a stranger was offered and given, here or by another bootd. An offer for which there's no room isn't made.
func (s *Server) lent(a *Answer, now time.Time) {
	book, mac, kept := s.cfg.Lending.Book, a.Facts.MAC, true
	if !a.Lent.IsValid() || book == nil {
		return
	}
	switch a.Reason { //nolint:exhaustive // Of the others nothing follows.
	case OfferedTemporarily:
		kept = book.Offer(a.Network, a.Lent, mac, now)
	case AcknowledgedTemporarily:
		kept = book.Take(a.Network, a.Lent, mac, now)
	case SilentOtherServer:
		if a.Facts.Type == wire.Request {
			book.Take(a.Network, a.Lent, mac, now)
		}
	case Released:
		book.Release(a.Network, a.Lent, mac)
	}
	if !kept {
		a.Packet, a.Reason = nil, SilentNoneFree
	}
}
