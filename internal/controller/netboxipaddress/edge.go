package netboxipaddress

import (
	"context"
	"fmt"
	"net/netip"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// edgeOf says which of its network's own addresses an address is: "network" or "broadcast", or "" for neither. NetBox puts them on no
// interface (513, 514), but where the network is of one or two addresses; the last one of an IPv6 network is as any other.
func edgeOf(a netip.Prefix) string {
	switch {
	case !a.IsValid() || a.Addr().BitLen()-a.Bits() <= 1:
		return ""
	case a == a.Masked():
		return "network"
	case a.Addr().Is4() && !a.Masked().Contains(a.Addr().Next()):
		return "broadcast"
	}
	return ""
}

// edgeText is edgeOf for an address as it's written in spec.
func edgeText(text string) string {
	a, _ := netip.ParsePrefix(text) // What doesn't parse is none.
	return edgeOf(a)
}

// An edgeError is an address that can't be on the interface that it's wanted on, since it's its network's own.
type edgeError struct {
	address netip.Prefix
	// source whose next free address it is, as sentences name it; "" where the address is given.
	source string
}

func (e edgeError) Error() string {
	return fmt.Sprintf("%s is a %s address", e.address, edgeOf(e.address))
}

func (e edgeError) words(inputs) (reason xpv2.ConditionReason, message string) {
	alone := netip.PrefixFrom(e.address.Addr(), e.address.Addr().BitLen())
	message = fmt.Sprintf("address %q is a %s address, which NetBox puts on no interface: take assignTo out, or ask for another address, or for it as %q",
		e.address, edgeOf(e.address), alone)
	if e.source != "" {
		message = fmt.Sprintf("the next free address of %s is %q, a %s address, which NetBox puts on no interface: give it a record of its own in NetBox, ask for prefixLength: %d, or take assignTo out",
			e.source, e.address, edgeOf(e.address), alone.Bits())
	}
	return v1alpha1.ReasonInvalid, message
}

// allocate asks a source for an address, on its interface. Pools begin and end with addresses that NetBox puts on none, and says so by
// no more than that a rule is against it: then no other one would be given either. It's an edgeError, unless a mask is wanted with which
// the address may be there: NetBox 4.2 and 4.4, and all of them in ranges, look at their own mask first, so it's assigned once it has that.
func (e *external) allocate(ctx context.Context, c candidate, p v1alpha1.NetBoxIPAddressParameters) (netbox.IPAddress, error) {
	r := e.request(p, c.policy)
	ip, err := e.netbox.Allocate(ctx, c.parent, r)
	if !netbox.IsMarkerTaken(err) || r.Assigned == nil {
		return ip, err
	}
	if _, merr := e.netbox.FindByMarker(ctx, e.us.marker()); !netbox.IsNotFound(merr) {
		return ip, err // It's what the rule is about, or nobody knows.
	}
	next, nerr := e.netbox.NextFree(ctx, c.parent)
	if nerr != nil || edgeOf(next) == "" {
		return ip, err
	}
	if fitsAlone(p, next) {
		r.Assigned = nil
		return e.netbox.Allocate(ctx, c.parent, r)
	}
	e.connector.stocks.edges(e, c.parent, next)
	return ip, edgeError{next, c.words}
}

// fitsAlone says that an address may be on an interface by the mask that is wanted.
func fitsAlone(p v1alpha1.NetBoxIPAddressParameters, a netip.Prefix) bool {
	mask := maskOf(p, a)
	return mask != nil && edgeText(*mask) == ""
}

// edged says, by an error, that the next address of a source is known to be one that can't be on an interface: who asks for one there isn't
// given it. Whether it's still so one look each while says for all of them.
func (e *external) edged(ctx context.Context, p v1alpha1.NetBoxIPAddressParameters, c candidate) error {
	if p.AssignTo == nil {
		return nil
	}
	s := e.connector.stocks
	next, old := s.nextEdge(e, c.parent)
	if old {
		now, err := e.netbox.NextFree(ctx, c.parent)
		if !netbox.IsUnreachable(err) {
			next = now
		}
		s.edges(e, c.parent, next)
	}
	if edgeOf(next) == "" || fitsAlone(p, next) {
		return nil
	}
	return edgeError{next, c.words}
}

// edges notes which address a source gives next, where that is one of those.
func (s *stocks) edges(e *external, p netbox.Parent, next netip.Prefix) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.of(e, p, true)
	k.edge, k.edged = netip.Prefix{}, s.now()
	if edgeOf(next) != "" {
		k.edge = next
	}
}

// nextEdge is that address; old says that the caller is to look for it, and to note it: others believe meanwhile what was.
func (s *stocks) nextEdge(e *external, p netbox.Parent) (next netip.Prefix, old bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.of(e, p, true)
	if old = k.edge.IsValid() && s.now().Sub(k.edged) >= retryAfter; old {
		k.edged = s.now()
	}
	return k.edge, old
}
