package bootd

import (
	"fmt"
	"net"
	"net/netip"
	"slices"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/foreign"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/kubesource"
)

// Reasons why a segment isn't served as it's written; the API's words.
const (
	reasonForeignServer = "ForeignServer"
	reasonPortInUse     = "PortInUse"
	reasonNoInterface   = "InterfaceMissing"
)

// ours says whether a server is this bootd, or is meant to be on its segments.
func (d *daemon) ours(server netip.Addr) bool {
	if server == d.c.Advertise || slices.Contains(d.c.Peers, server) || d.own.has(server, net.InterfaceAddrs) {
		return true
	}
	s, ok := d.source.(interface{ Peer(server netip.Addr) bool })
	return ok && s.Peer(server)
}

// peer says that a server certainly is another bootd, or is meant to give the addresses of its machines.
func (d *daemon) peer(server netip.Addr) bool {
	if slices.Contains(d.c.Peers, server) {
		return true
	}
	s, ok := d.source.(interface{ Knows(server netip.Addr) bool })
	return ok && s.Knows(server)
}

// named takes note of the server that a machine takes its address from.
func (d *daemon) named(server netip.Addr, in dhcp.Ingress) {
	d.others.Heard(server, "", foreign.Place{Interface: in.Interface, Addresses: in.Addresses})
}

// mayBegin says why a segment that refuses foreign servers doesn't begin.
func (d *daemon) mayBegin(network boot.Name) dhcp.Reason {
	switch d.others.May(network) {
	case foreign.Refused:
		return dhcp.SilentForeign
	case foreign.Listens:
		return dhcp.SilentListening
	case foreign.Goes:
	}
	return ""
}

// report is what there is to say of a segment.
func (d *daemon) report(g boot.Segment) kubesource.Report {
	r := kubesource.Report{Foreign: d.others.Of(g.Name), Addresses: d.addressesIn(g)}
	if problem := d.proxy.Problem(g); problem != "" {
		r.Reason, r.Message = reasonPortInUse, problem
		return r
	}
	if problem := d.six.Problem(g); problem != "" {
		r.Reason, r.Message = reasonPortInUse, problem
		return r
	}
	if says := unplugged(g, interfacesHere()); says != "" {
		r.Reason, r.Message = reasonNoInterface, says
		return r
	}
	if st := d.state(); st != nil {
		r.Message = oddity(st, g, nil)
	}
	if r.Message == "" {
		r.Message = d.solicits.Problem(g)
	}
	refuses := g.RefuseForeign && g.Mode == boot.SegmentAuthoritative
	if refuses && len(r.Foreign) > 0 && d.others.May(g.Name) == foreign.Refused {
		s := r.Foreign[0]
		r.Reason = reasonForeignServer
		r.Message = fmt.Sprintf("DHCP server %s (%s) answers on interface %s since %s, and foreignServer is Refuse: nothing is answered here; stop that server, or set foreignServer to Warn",
			s.Server, orUnknown(s.MAC), s.Interface, s.Since.UTC().Format("2006-01-02T15:04:05Z"))
	}
	return r
}

func orUnknown(mac string) string {
	if mac == "" {
		return "its MAC wasn't heard"
	}
	return mac
}

// addressesIn are all of this node's on a segment: a machine may speak to any of them, and each is one of ours to the other bootds.
func (d *daemon) addressesIn(g boot.Segment) (all []string) {
	as, err := net.InterfaceAddrs()
	if err != nil {
		return nil
	}
	for _, a := range addressesOf(as) {
		if g.Contains(a) {
			all = append(all, a.String())
		}
	}
	return all
}

func segmentsOf(st *boot.State) []boot.Segment {
	if st == nil {
		return nil
	}
	return st.Segments
}
