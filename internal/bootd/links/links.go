// Package links says what interfaces packets come in on, and hears groups of IPv6 there.
package links

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"

	"golang.org/x/net/ipv6"
)

// A Link is an interface as answers need it.
type Link struct {
	Name  string
	Index int
	// Hardware address; empty where it has none, such as a tunnel.
	Hardware net.HardwareAddr
	// Local is its address of IPv6 for the link alone; invalid: it has none. Addresses are all others, of either family, in the order of rank.
	Local     netip.Addr
	Addresses []netip.Addr
}

// Of gives the link of an interface. One that has no addresses any more has none here.
func Of(i *net.Interface) Link { return of(i, flagsOf) }

func of(i *net.Interface, flags func() map[netip.Addr]uint64) Link {
	l := Link{Name: i.Name, Index: i.Index, Hardware: i.HardwareAddr}
	as, err := i.Addrs()
	if err != nil {
		return l
	}
	for _, a := range as {
		p, err := netip.ParsePrefix(a.String())
		if err != nil {
			continue
		}
		switch at := p.Addr().Unmap(); {
		case !at.IsLinkLocalUnicast():
			l.Addresses = append(l.Addresses, at)
		case at.Is6() && !l.Local.IsValid():
			l.Local = at
		}
	}
	rank(l.Addresses, flags)
	return l
}

// Groups are those of IPv6 that a socket hears on some interfaces. Safe for concurrent use.
type Groups struct {
	what    string
	packets *ipv6.PacketConn
	groups  []netip.Addr

	mu     sync.Mutex
	joined map[int]string // names by index
}

// NewGroups joins none yet. What is heard there, such as "DHCPv6 requests", is for errors.
func NewGroups(what string, packets *ipv6.PacketConn, groups ...netip.Addr) *Groups {
	return &Groups{what: what, packets: packets, groups: groups, joined: map[int]string{}}
}

// Join hears the groups on the interfaces that are wanted, and leaves them on all others. It's to be called now and then: interfaces come and
// go, and so do their addresses. The names are those that are heard; an error says of each interface that can't be why.
func (g *Groups) Join(wanted func(Link) bool) (names []string, err error) {
	all, err := net.Interfaces()
	if err != nil {
		return nil, fmt.Errorf("cannot list the interfaces: %w", err)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	there, flags := map[int]string{}, sync.OnceValue(flagsOf) // They're of all interfaces.
	var errs []error
	for _, i := range all {
		if i.Flags&net.FlagUp == 0 || i.Flags&net.FlagMulticast == 0 || !wanted(of(&i, flags)) {
			continue
		}
		if g.joined[i.Index] != i.Name {
			if err := g.join(&i); err != nil {
				errs = append(errs, err)
				continue
			}
		}
		there[i.Index] = i.Name
		names = append(names, i.Name)
	}
	for index := range g.joined {
		if _, ok := there[index]; !ok {
			for _, a := range g.groups {
				_ = g.packets.LeaveGroup(&net.Interface{Index: index}, &net.UDPAddr{IP: a.AsSlice()}) // It may be gone.
			}
		}
	}
	g.joined = there
	return names, errors.Join(errs...)
}

func (g *Groups) join(i *net.Interface) error {
	for _, a := range g.groups {
		if err := g.packets.JoinGroup(i, &net.UDPAddr{IP: a.AsSlice()}); err != nil {
			return fmt.Errorf("cannot hear %s to %s on interface %s: %w", g.what, a, i.Name, err)
		}
	}
	return nil
}
