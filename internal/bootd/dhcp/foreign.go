package dhcp

import (
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

// noticed passes on that a segment has begun, and which server a machine on this link, be it a stranger, takes its address from. An offer begins nothing: it
// may be another server's that is taken. Nor does a relay's request, which says nothing of who else is on our own link.
func (s *Server) noticed(a *Answer, in Ingress) {
	if s.cfg.Began != nil && a.Reason == Acknowledged && !a.Theirs && !a.Facts.Relay.Address.IsValid() {
		s.cfg.Began(a.Plan.Network.Name)
	}
	f := &a.Facts
	if a.Packet == nil && !a.Reason.limited() && s.cfg.Named != nil && f.Type == wire.Request && f.Server.IsValid() && !in.To.IsValid() && !f.Relay.Address.IsValid() {
		s.cfg.Named(f.Server, in)
	}
}
