package dhcp

import (
	"net/netip"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// A Memory is what a server remembers of exchanges: which of them are of one boot, and which addresses were declined. DHCPv6 has one of
// its own, and the same rules.
type Memory struct {
	sights *sights
	taken  *quarantine
}

// An Event is an exchange to be remembered.
type Event struct {
	Plan   *boot.Plan
	MAC    boot.MAC
	Client Client
	Stage  boot.Stage
	XID    [4]byte
}

func (e Event) answer() Answer {
	return Answer{
		Plan: e.Plan, Stage: e.Stage, Reason: Acknowledged,
		Facts: Facts{MAC: e.MAC, Client: e.Client, Requested: e.Plan.Network.Address.Addr()},
	}
}

// NewMemory makes an empty one.
func NewMemory() Memory { return Memory{newSights(), newQuarantine(maxQuarantine)} }

// First says whether an exchange is the first sight of its stage in a boot.
func (m Memory) First(e Event, now time.Time) bool { return m.sights.first(e.answer(), e.XID, now) }

// Gave notes that a machine was given its planned address, by whomever: for a while, a DECLINE of it is believed.
func (m Memory) Gave(e Event, now time.Time) { m.taken.heard(e.answer(), now) }

// Declines puts a machine's planned address into quarantine; false: nobody gave it to this machine just now.
func (m Memory) Declines(e Event, now time.Time) bool { return m.taken.declines(e.answer(), now) }

// Declined says whether an address is in quarantine.
func (m Memory) Declined(network boot.Name, address netip.Addr, now time.Time) bool {
	return m.taken.holds(network, address, now)
}
