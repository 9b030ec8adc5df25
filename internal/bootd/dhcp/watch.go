package dhcp

import (
	"time"

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
	switch s.cfg.Limit.Stranger(a.Facts.MAC, a.Facts.Relay.Address, now) {
	case limit.Within:
		return
	case limit.PerMAC:
		a.Reason = LimitedStranger
	case limit.PerRelay:
		a.Reason = LimitedRelay
	case limit.InTotal:
		a.Reason = LimitedStrangers
	}
	a.Packet, a.Stage = nil, ""
}

// limited says that a stranger's request wasn't looked at, since there are too many.
func (r Reason) limited() bool {
	return r == LimitedStranger || r == LimitedRelay || r == LimitedStrangers
}

// View is what answers rest on now, for who wants to know what they would be.
func (s *Server) View() View { return s.view() }
