package dhcp6

import (
	"crypto/sha256"
	"encoding/binary"
	"net/netip"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp"
)

// Ports of DHCPv6 (RFC 8415 §7.2).
const (
	portClient = 546
	portServer = 547
)

// An Ingress is where a request came in.
type Ingress struct {
	// From is the sender, without a zone: that's Index.
	From netip.AddrPort
	// To is our address that it was sent to; invalid for a group's.
	To netip.Addr
	// Interface that it came in on, by name and index, and the addresses of IPv6 on it, without those of the link alone.
	Interface string
	Index     int
	Addresses []netip.Addr
}

// A View is all that an answer rests on, besides the request.
type View struct {
	State *boot.State
	// Keys that tokens are made with, the current one first.
	Keys [][]byte
	Now  time.Time
	// Advertise is the address of IPv6 that machines are told; any other: that which is on their segment.
	Advertise netip.Addr
	// HTTPPort of scripts and files, and TFTP whether that is served: what isn't, no machine is sent to. 0: HTTP isn't, and none is sent anywhere.
	HTTPPort uint16
	TFTP     bool
	Secure   dhcp.Secure
	Files    dhcp.Files
	// Learnt gives the MAC that a DUID was seen with; nil: none is known.
	Learnt func(id []byte) (boot.MAC, bool)
	// Declined says whether an address of a network was declined just now, since another machine uses it; nil: none was.
	Declined func(network boot.Name, address netip.Addr, now time.Time) bool
	// Own says whether an address that a plan has is this server's, whose machine the plan's isn't; nil: none is.
	Own func(p *boot.Plan, address netip.Addr) bool
}

// Reasons that only DHCPv6 has. All others are DHCPv4's.
const (
	// Advertised is an offer, Confirmed the word that an address is right where the machine is now.
	Advertised dhcp.Reason = "Advertised"
	Confirmed  dhcp.Reason = "Confirmed"
	// SilentNoID: a client that doesn't say who it is, or a message that may not say whom it's for.
	SilentNoID dhcp.Reason = "NoClientID"
	// SilentNoAssociation: it asks for no address, as one that wants a prefix to be delegated. An ADVERTISE that says that there's none is passed over by
	// all clients (RFC 8415 §18.2.9), and would be in the way, where one doesn't, of the router that has some.
	SilentNoAssociation dhcp.Reason = "NoAddressAsked"
	// SilentUnproven: nothing but a DUID, or a relay that isn't trusted, says which machine this is, and that's too little for firmware to
	// be sent anywhere.
	SilentUnproven dhcp.Reason = "MachineUnproven"
)

// An Answer is what a request gets.
type Answer struct {
	// Packet is nil for silence.
	Packet []byte
	// To is where it's sent, by the interface that its request came in on, and From our address that it's sent from; invalid: whichever.
	To     netip.AddrPort
	From   netip.Addr
	Reason dhcp.Reason
	Facts  Facts
	// MAC by which the machine was found, and its plan, where it's ours.
	MAC  boot.MAC
	Plan *boot.Plan
	// Stage that the exchange is a sight of; "" where of none.
	Stage boot.Stage
	// Offers says that it's a machine's choice among servers: another one's turn may come first.
	Offers bool
	XID    [3]byte
}

// address is the one of IPv6 in the answer's plan; invalid where there's none.
func (a *Answer) address() netip.Prefix {
	six, _ := a.Plan.Network.InSix()
	return six.Address
}

// event is an answer as dhcp's Memory keeps it.
func (a *Answer) event() dhcp.Event {
	return dhcp.Event{Plan: a.Plan, Address: a.address().Addr(), MAC: a.MAC, Client: a.Facts.Client, Stage: a.Stage, XID: [4]byte{1: a.XID[0], 2: a.XID[1], 3: a.XID[2]}}
}

// ServerID is the DUID of a server at an address: a DUID-UUID (RFC 6355), whose UUID follows from the address. So it outlives a lost
// state, who answers under one address is one server, and of an address it can be said whether it's meant.
func ServerID(address netip.Addr) []byte {
	const duidUUID, custom, variant = 4, 0x80, 0x80 // Version 8 of RFC 9562 §5.8.
	a := address.As16()
	sum := sha256.Sum256(append([]byte("DHCPv6 server of bootd at "), a[:]...))
	id := append(binary.BigEndian.AppendUint16(nil, duidUUID), sum[:16]...)
	id[2+6] = id[2+6]&0x0f | custom
	id[2+8] = id[2+8]&0x3f | variant
	return id
}
