package tftp

import (
	"net/netip"
	"time"
)

// port of TFTP (RFC 1350 §4).
const port = 69

// Running is how many transfers run now.
func (s *Server) Running() int {
	s.limits.mu.Lock()
	defer s.limits.mu.Unlock()
	return s.limits.running
}

// A Packet is one that a trace is told of.
type Packet struct {
	At time.Time
	// Client and Ours are the two ends; Ours has the port that was asked.
	Client, Ours netip.AddrPort
	// Sent says that it's ours.
	Sent bool
	Data []byte
}

// trace passes on a packet of a machine that's known by its address.
func (s *Server) trace(client netip.AddrPort, ours netip.Addr, data []byte, sent bool) {
	if s.cfg.Trace == nil {
		return
	}
	now := s.cfg.Now()
	if plan := s.where.of(s.state(), s.cfg.MTU, now).at(client.Addr()); plan != nil {
		s.cfg.Trace(plan, Packet{At: now, Client: client, Ours: netip.AddrPortFrom(ours, port), Sent: sent, Data: data})
	}
}
