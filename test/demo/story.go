package main

import (
	"fmt"
	"strings"
	"time"
)

// A milestone is one step of a machine on its way from claim to Ready.
type milestone int

const (
	atAddress milestone = iota
	atPlan
	atPower
	atDHCP
	atIPXE
	atKernel
	atInstalled
	atReady
	milestones
)

// String is the milestone's word in the live line.
func (m milestone) String() string {
	return [milestones]string{"address", "plan", "power", "DHCP", "iPXE", "kernel", "installed", "Ready"}[m]
}

// facts are what is known of a machine now: from the API server what only it knows, from the machine what really happened.
type facts struct {
	reached [milestones]bool
	// address that the machine was given.
	address string
	// reason and message of the claim: why it isn't further.
	reason, message string
}

// A story is what happened to one machine so far.
type story struct {
	claim, host string
	at          [milestones]time.Duration
	reached     [milestones]bool
	facts       facts
}

// take adds what is known after d, and returns the milestones that are new. A later milestone implies the ones before: they
// were passed between two looks.
func (s *story) take(f facts, d time.Duration) []milestone {
	s.facts = f
	last := -1
	for m := range milestones {
		if f.reached[m] {
			last = int(m)
		}
	}
	var fresh []milestone
	for m := range milestone(last + 1) {
		if s.reached[m] {
			continue
		}
		s.reached[m], s.at[m] = true, d
		fresh = append(fresh, m)
	}
	return fresh
}

// done says that the machine is Ready.
func (s *story) done() bool { return s.reached[atReady] }

// live is the line that a terminal shows, at most width characters of it.
func (s *story) live(width int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-14s %-7s", s.claim, s.host)
	for m := range milestones {
		if !s.reached[m] {
			break
		}
		arrow := " → "
		if m == 0 {
			arrow = " "
		}
		fmt.Fprintf(&b, "%s%s %.1f", arrow, s.word(m), s.at[m].Seconds())
	}
	if !s.done() && s.facts.reason != "" {
		fmt.Fprintf(&b, " … %s", s.facts.reason)
	}
	return clip(b.String(), width)
}

// plain is the line that something else than a terminal gets for one milestone.
func (s *story) plain(m milestone) string {
	return fmt.Sprintf("%6.1fs %-14s %-7s %s", s.at[m].Seconds(), s.claim, s.host, s.word(m))
}

// word of a milestone: that of the address is the address itself.
func (s *story) word(m milestone) string {
	if m == atAddress && s.facts.address != "" {
		return s.facts.address
	}
	return m.String()
}

// clip cuts a line to width characters, so that a terminal doesn't wrap it.
func clip(s string, width int) string {
	r := []rune(s)
	if width <= 0 || len(r) <= width {
		return s
	}
	return string(r[:width-1]) + "…"
}
