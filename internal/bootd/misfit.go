package bootd

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// oddity says what is odd about a segment, in a sentence; "": nothing. None of it keeps what is right of it from being served.
func oddity(st *boot.State, g boot.Segment, here []string) string {
	for _, says := range []string{unplugged(g, here), overlap(st, g), hostless(g), problem(st, g)} {
		if says != "" {
			return says
		}
	}
	return ""
}

// unplugged says that this node has none of the interfaces that a segment is served on; nil: which it has isn't known. One of several is enough:
// nodes may differ. What comes through relays doesn't rest on them.
func unplugged(g boot.Segment, here []string) string {
	hears := g.Mode == boot.SegmentAuthoritative || g.Mode == boot.SegmentProxy
	if !hears || len(g.Interfaces) == 0 || len(here) == 0 || slices.ContainsFunc(g.Interfaces, func(i string) bool { return slices.Contains(here, i) }) {
		return ""
	}
	return fmt.Sprintf("serveOn.interfaces names %s, which this node hasn't: it has %s; nobody is answered here but through relays",
		strings.Join(g.Interfaces, ", "), strings.Join(here, ", "))
}

// hostless says which router or server that machines are told of can't be one.
func hostless(g boot.Segment) string {
	if len(g.Hostless) == 0 {
		return ""
	}
	return fmt.Sprintf("machines are told of %s as a router or a server, which can't be a host's: a subnet's own address, its broadcast address, or one of many hosts or none; correct it",
		g.Hostless[0])
}

// overlap says which subnet of another segment has addresses of this one, where both give them. Segments that are served on interfaces of their
// own may be two links with the same addresses, each by a node of its own; that one node can't serve both is for docs/bootd.md to say.
func overlap(st *boot.State, g boot.Segment) string {
	for i := range st.Segments {
		other := &st.Segments[i]
		if other.Name == g.Name || !g.GivesAddresses() || !other.GivesAddresses() || apart(g, *other) {
			continue
		}
		for _, p := range g.Subnets {
			if at := slices.IndexFunc(other.Subnets, p.Overlaps); at >= 0 {
				return fmt.Sprintf("subnet %s overlaps %s of BootNetwork %s: an address may be given to two machines; give each network subnets of its own", p, other.Subnets[at], other.Name)
			}
		}
	}
	return within(g.Subnets[:len(g.Subnets)-g.Kept]) // Nobody has written the others.
}

// within says which two subnets of one segment overlap.
func within(subnets []netip.Prefix) string {
	for i, p := range subnets {
		if at := slices.IndexFunc(subnets[:i], p.Overlaps); at >= 0 {
			return fmt.Sprintf("subnet %s overlaps subnet %s: of an address in both the mask and the gateway are those of the one that stands first", p, subnets[at])
		}
	}
	return ""
}

// apart says that two segments are served on interfaces of which neither has one of the other's.
func apart(a, b boot.Segment) bool {
	return len(a.Interfaces) > 0 && len(b.Interfaces) > 0 && !slices.ContainsFunc(a.Interfaces, func(i string) bool { return slices.Contains(b.Interfaces, i) })
}

// interfacesHere are the names of this node's; nil: they can't be listed.
func interfacesHere() (names []string) {
	all, err := net.Interfaces()
	if err != nil {
		return nil
	}
	for _, i := range all {
		names = append(names, i.Name)
	}
	return names
}
