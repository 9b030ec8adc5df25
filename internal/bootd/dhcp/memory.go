package dhcp

import (
	"net/netip"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// A Memory is what a server of DHCPv6 remembers of exchanges, by the rules of DHCPv4: which of them are of one boot, and which addresses were
// declined.
type Memory struct {
	sights *Sights
	taken  *quarantine
}

// An Event is an exchange to be remembered.
type Event struct {
	Plan *boot.Plan
	// Address in the plan that it's about.
	Address netip.Addr
	MAC     boot.MAC
	Client  Client
	Stage   boot.Stage
	XID     [4]byte
}

// answer is one that gives the address.
func (e Event) answer() Answer {
	return Answer{
		Reason: Acknowledged, Network: e.Plan.Network.Name, Lent: e.Address,
		Facts: Facts{MAC: e.MAC, Client: e.Client, Requested: e.Address},
	}
}

// NewMemory makes an empty one. seen is what is known of boots already; nil: nothing.
func NewMemory(seen *Sights) Memory {
	if seen == nil {
		seen = NewSights()
	}
	return Memory{seen, newQuarantine(maxQuarantine)}
}

// First says whether an exchange is the first sight of its stage in a boot.
func (m Memory) First(e Event, now time.Time) bool {
	return m.sights.first(e.Plan.EntryUID, sight{client: e.Client, stage: e.Stage, xid: e.XID, at: now, six: true})
}

// Gave notes that a machine was given its planned address, by whomever: for a while, a DECLINE of it is believed.
func (m Memory) Gave(e Event, now time.Time) { m.taken.heard(e.answer(), now) }

// Declines puts a machine's planned address into quarantine; false: nobody gave it to this machine just now.
func (m Memory) Declines(e Event, now time.Time) bool {
	return m.taken.declines(e.answer(), e.Plan.MACs, now)
}

// Declined says whether an address is in quarantine.
func (m Memory) Declined(network boot.Name, address netip.Addr, now time.Time) bool {
	return m.taken.holds(network, address, now)
}
