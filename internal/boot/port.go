package boot

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

// A Port is where a machine is plugged in, as the relay in front of it says by DHCP option 82: its agent circuit id (sub-option 1) and its agent
// remote id (2), each "" where the relay says nothing by it. What they hold is the relay's own: text, or numbers in binary. Both are written as
// PortID writes them, so that two ports are one if all of their octets are.
type Port struct { //nolint:recvcheck // Where there's none, too, tokens are marked.
	Circuit string
	Remote  string
}

// maxPortID is how many octets a sub-option holds.
const maxPortID = 255

// binaryPrefix begins an id that is written in hexadecimal digits.
const binaryPrefix = "0x"

// PortID writes an id of a port for people, each in one way alone: as it is where it's printable ASCII, else in hexadecimal digits behind 0x.
func PortID(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	text := string(b)
	if strings.HasPrefix(text, binaryPrefix) || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' }) {
		return binaryPrefix + hex.EncodeToString(b)
	}
	return text
}

// ParsePortID reads an id as people write it, text or 0x and hexadecimal digits, and gives it as PortID writes it.
func ParsePortID(s string) (string, error) {
	b := []byte(s)
	if digits, ok := strings.CutPrefix(s, binaryPrefix); ok {
		var err error
		if b, err = hex.DecodeString(digits); err != nil || len(b) == 0 {
			return "", fmt.Errorf("%q isn't 0x and hexadecimal digits, two for each octet", s)
		}
	} else if strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' }) {
		return "", fmt.Errorf("%q isn't printable ASCII; write it as 0x and hexadecimal digits", s)
	}
	if len(b) > maxPortID {
		return "", fmt.Errorf("%q is longer than the %d octets that option 82 has room for", s, maxPortID)
	}
	return PortID(b), nil
}

// PortBytes are the octets of an id that PortID wrote.
func PortBytes(id string) []byte {
	if digits, ok := strings.CutPrefix(id, binaryPrefix); ok {
		b, _ := hex.DecodeString(digits) // It was written so.
		return b
	}
	return []byte(id)
}

// String is the port for people.
func (p Port) String() string {
	switch {
	case p == (Port{}):
		return "none"
	case p.Remote == "":
		return strconv.Quote(p.Circuit)
	}
	return strconv.Quote(p.Circuit) + " of " + strconv.Quote(p.Remote)
}

// unmarked ends the nonce of a script token whose machine wasn't seen behind its port.
const unmarked = "00000000"

// mark of a port: eight hexadecimal digits, never unmarked.
func (p Port) mark() string {
	sum := sha256.Sum256([]byte(strconv.Itoa(len(p.Circuit)) + ":" + p.Circuit + p.Remote))
	if m := hex.EncodeToString(sum[:len(unmarked)/2]); m != unmarked {
		return m
	}
	return "00000001"
}

// Mark ends the nonce of a script token with what was seen of a plan's port: so the token says it to the gate of any bootd, also after a restart.
// Of a plan without a port the nonce stays as it is.
func (p *Port) Mark(nonce string, behind bool) string {
	if p == nil || len(nonce) < len(unmarked) {
		return nonce
	}
	mark := unmarked
	if behind {
		mark = p.mark()
	}
	return nonce[:len(nonce)-len(unmarked)] + mark
}

// Marked says whether the nonce of a script token says that its machine was seen behind this port. Of a plan without a port each one does.
func (p *Port) Marked(nonce string) bool { return p == nil || strings.HasSuffix(nonce, p.mark()) }

// PlacedAlone says that a plan's machine is known by its port, and by no MAC of its own. A port names a place and not a machine, so that nothing
// is ever installed by such a plan.
func (p *Plan) PlacedAlone() bool { return p.Port != nil && len(p.MACs) == 0 }

// PlaceKey is what a plan's place is known by: its entry and its port. An entry that names another port is another place.
func (p *Plan) PlaceKey() string {
	if p.Port == nil {
		return ""
	}
	return p.EntryUID + " " + p.Port.mark()
}

// AtPlace gives the plan of a place; false: its entry names another one now.
func (s *State) AtPlace(key string) (*Plan, bool) {
	uid, _, _ := strings.Cut(key, " ")
	p, ok := s.ByEntry(KeyOf(uid))
	return p, ok && p.PlaceKey() == key
}

// A portAt is a port of a segment: another one may have a switch of the same names.
type portAt struct {
	network Name
	port    Port
}

func portOf(p *Plan) (portAt, bool) {
	if p.Port == nil {
		return portAt{}, false
	}
	return portAt{p.Network.Name, *p.Port}, true
}

// ByPort gives the plan whose machine is behind a port of a segment. The plan must not be changed.
func (s *State) ByPort(network Name, port Port) (*Plan, bool) {
	at := portAt{network, port}
	if i, ok := s.register.byPort[at]; ok {
		return s.plans.plan(int(i), nil), true
	}
	if s.late != nil {
		p, ok := s.late.byPort[at]
		return p, ok
	}
	return nil, false
}

// HasPorts says whether any plan names a port.
func (s *State) HasPorts() bool {
	return len(s.register.byPort) > 0 || s.late != nil && len(s.late.byPort) > 0
}

// checkPort says what a machine that is named by its port alone can't be given; nil: nothing.
func checkPort(e Entry, m Machine) *Problem {
	if m.Port == nil || len(m.MACs) > 0 {
		return nil
	}
	switch {
	case e.InstallGeneration > 0:
		return &Problem{ProblemInvalid, "machine.port without machine.macs installs nothing: a port says where a machine is, and not which; name its macs, or leave install.generation 0"}
	case len(e.Addresses) != 1 || !e.Addresses[0].Addr().Is4():
		return &Problem{ProblemInvalid, "machine.port without machine.macs is known by DHCP over IPv4 alone; name one address of IPv4"}
	case e.Interface != nil:
		return &Problem{ProblemInvalid, "networks[0].interface needs machine.macs: a system knows its ports by their MACs; name them, or remove interface"}
	}
	return nil
}
