package dhcp

import (
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/limit"
)

// Reasons of silence towards who asks more often than is answered.
const (
	// LimitedMachine: one of ours, more often than any firmware asks. Its system or its firmware loops, or somebody asks in its name.
	LimitedMachine Reason = "TooOftenForAMachine"
	// LimitedStranger, LimitedRelay and LimitedStrangers: one whom nobody knows, all of those behind one relay, all of them.
	LimitedStranger  Reason = "TooOftenForAStranger"
	LimitedRelay     Reason = "TooManyBehindARelay"
	LimitedStrangers Reason = "TooManyStrangers"
)

// limit keeps an answer back where its machine gets too many, and stops looking at strangers where there are too many of them. A machine
// that's known is never limited for others' sake.
func (s *Server) limit(a *Answer, now time.Time) {
	if s.cfg.Limit == nil || a.Facts.MAC == "" {
		return
	}
	if a.Plan != nil {
		if a.Packet != nil && s.cfg.Limit.Machine(a.Facts.MAC, now) != limit.Within {
			a.Packet, a.Reason, a.Stage = nil, LimitedMachine, ""
		}
		return
	}
	if why := s.tooMany(a.Facts, now); why != "" {
		a.Packet, a.Reason, a.Stage = nil, why, ""
	}
}

// tooMany says why a stranger isn't looked at; "": it is.
func (s *Server) tooMany(f Facts, now time.Time) Reason {
	switch s.cfg.Limit.Stranger(f.MAC, f.Relay.Address, now) {
	case limit.PerMAC:
		return LimitedStranger
	case limit.PerRelay:
		return LimitedRelay
	case limit.InTotal:
		return LimitedStrangers
	case limit.Within:
	}
	return ""
}

// knows says whether a MAC is that of a machine with a plan, or of one that holds a port.
func (v *View) knows(mac boot.MAC) bool {
	if v.State == nil {
		return false
	}
	ok := v.State.Has(mac)
	if !ok && v.Holders != nil {
		_, ok = v.Holders.Place(mac)
	}
	return ok
}

// limited says that a stranger's request wasn't looked at, since there are too many.
func (r Reason) limited() bool {
	return r == LimitedStranger || r == LimitedRelay || r == LimitedStrangers
}

// View is what answers rest on now, for who wants to know what they would be.
func (s *Server) View() View { return s.view() }
