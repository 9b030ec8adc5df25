package dhcp

import (
	"slices"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp/wire"
)

// foreign says why a machine isn't offered its address, nor refused a wrong one: another server is on its segment, where ours has given
// none yet. Who has its address already keeps it. A relay's request isn't concerned: who it's sent to is written in the relay.
func (e *exchange) foreign() Reason {
	g := &e.segment
	if !g.RefuseForeign || g.Mode != boot.SegmentAuthoritative || e.facts.Relay.Address.IsValid() || e.view.Foreign == nil {
		return ""
	}
	return e.view.Foreign(g.Name)
}

// theirs says that a machine which names no server and asks all of them (INIT-REBOOT, REBINDING) may have its address of another one, that may be there.
func (e *exchange) theirs() bool {
	return !e.facts.Server.IsValid() && !e.in.To.IsValid() && e.foreign() != ""
}

// noticed passes on that a segment has begun, and which server a machine on this link, be it a stranger, takes its address from; ours: it's what we
// gave, under a relay's name.
func (s *Server) noticed(a *Answer, in Ingress, ours bool) {
	if s.cfg.Began != nil && (a.Reason == Acknowledged && !a.Theirs && here(a, in) || s.another(a)) {
		s.cfg.Began(a.Plan.Network.Name)
	}
	f := &a.Facts
	if !ours && a.Packet == nil && !a.Reason.limited() && s.cfg.Named != nil && f.Type == wire.Request && f.Server.IsValid() && !in.To.IsValid() && !f.Relay.Address.IsValid() {
		s.cfg.Named(f.Server, in)
	}
}

// here says that a machine is on our own link: what a relay asks says nothing of who else is on that, and who asks us alone may be behind one, too, since
// renewals don't pass it (RFC 2131 §4.4.5).
func here(a *Answer, in Ingress) bool {
	return !a.Facts.Relay.Address.IsValid() && (!in.To.IsValid() || slices.ContainsFunc(in.Addresses, a.Plan.Network.Address.Contains))
}

// another says that a machine on our own link takes its planned address from another bootd: they serve the segment together.
func (s *Server) another(a *Answer) bool {
	f := &a.Facts
	if a.Reason != SilentOtherServer || a.Plan == nil || f.Type != wire.Request || f.Requested != a.Plan.Network.Address.Addr() ||
		f.Relay.Address.IsValid() || s.cfg.Peer == nil || !s.cfg.Peer(f.Server) {
		return false
	}
	st := s.cfg.State()
	if st == nil {
		return false
	}
	g, ok := st.Segment(a.Plan.Network.Name)
	return ok && g.Mode == boot.SegmentAuthoritative // Where a network's mode is Proxy, another server gives the addresses.
}
