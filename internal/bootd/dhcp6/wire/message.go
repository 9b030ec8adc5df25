package wire

import (
	"encoding/binary"
	"errors"
	"iter"
	"net/netip"
)

// Errors of Read.
var (
	ErrShort   = errors.New("shorter than a DHCPv6 header")
	ErrOptions = errors.New("an option goes on behind the end of the message")
	ErrRelay   = errors.New("a relay's message without a message in it, or with two")
	ErrNested  = errors.New("more relays than a message may pass")
)

const (
	headerSize = 4
	// relaySize is that of a relay's header: its type, a count of hops, and two addresses (RFC 8415 §9).
	relaySize = 34
	// maxRelays is how many a message passes at most (HOP_COUNT_LIMIT, RFC 8415 §7.6).
	maxRelays    = 8
	optionHeader = 4
)

// Options lie one behind another, whole: those of a Message do.
type Options []byte

// fit says whether each option ends where the next one begins, and the last one at the end.
func (o Options) fit() bool {
	for len(o) > 0 {
		if len(o) < optionHeader {
			return false
		}
		n := optionHeader + int(binary.BigEndian.Uint16(o[2:]))
		if n > len(o) {
			return false
		}
		o = o[n:]
	}
	return true
}

// All gives the values of all options of a code, in their order. It stops where one doesn't fit.
func (o Options) All(code uint16) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for rest := o; len(rest) >= optionHeader; {
			n := optionHeader + int(binary.BigEndian.Uint16(rest[2:]))
			if n > len(rest) {
				return
			}
			if binary.BigEndian.Uint16(rest) == code && !yield(rest[optionHeader:n:n]) {
				return
			}
			rest = rest[n:]
		}
	}
}

// Get gives the value of the first option of a code; false: there's none.
func (o Options) Get(code uint16) ([]byte, bool) {
	for v := range o.All(code) {
		return v, true
	}
	return nil, false
}

// Has says whether an option is there, be it empty.
func (o Options) Has(code uint16) bool {
	_, ok := o.Get(code)
	return ok
}

// A Relay is one that passed a message on, with what it says of it. Nothing of it may be believed before the relay is trusted.
type Relay struct {
	Hops byte
	// Link is an address on the link that the client is on; unspecified where the relay doesn't say it (RFC 6221). Peer is whom the relay
	// has the message from: the client, or the relay before it.
	Link, Peer netip.Addr
	Options    Options
}

// A Message is a received one where it lies: its values are parts of what was read, and good until that is overwritten. One Message
// may read many.
type Message struct {
	Type    Type
	XID     [3]byte
	Options Options
	// Relays that passed it on: the one that we have it from first, the one that's nearest to the client last.
	Relays []Relay

	raw []byte
}

// Raw is the packet as it was read.
func (m *Message) Raw() []byte { return m.raw }

// Read takes a packet of a client, with what relays have put around it.
func (m *Message) Read(b []byte) error { return m.read(b, relayForward) }

// ReadReply takes a packet of a server, with what goes to relays around it.
func (m *Message) ReadReply(b []byte) error { return m.read(b, relayReply) }

func (m *Message) read(b []byte, relay Type) error {
	m.Relays, m.Options, m.Type, m.raw = m.Relays[:0], nil, 0, b
	for len(b) > 0 && Type(b[0]) == relay {
		if len(m.Relays) == maxRelays {
			return ErrNested
		}
		if len(b) < relaySize {
			return ErrShort
		}
		r := Relay{Hops: b[1], Link: netip.AddrFrom16([16]byte(b[2:18])), Peer: netip.AddrFrom16([16]byte(b[18:34])), Options: b[relaySize:]}
		if !r.Options.fit() {
			return ErrOptions
		}
		var inner []byte
		for v := range r.Options.All(OptionRelayMessage) {
			if inner != nil {
				return ErrRelay
			}
			inner = v
		}
		if len(inner) == 0 {
			return ErrRelay
		}
		m.Relays, b = append(m.Relays, r), inner
	}
	if len(b) < headerSize {
		return ErrShort
	}
	m.Type, m.XID, m.Options = Type(b[0]), [3]byte(b[1:headerSize]), b[headerSize:]
	if !m.Options.fit() {
		m.Options = nil
		return ErrOptions
	}
	return nil
}

// Asked says whether the client wants an option (option 6). One without a list wants what it needs, and that isn't an option.
func (m *Message) Asked(code uint16) bool {
	list, _ := m.Options.Get(OptionRequest)
	for ; len(list) >= 2; list = list[2:] {
		if binary.BigEndian.Uint16(list) == code {
			return true
		}
	}
	return false
}

// An IA is an identity association: what a client has its addresses by (RFC 8415 §21.4).
type IA struct {
	ID      [4]byte
	Options Options
}

const iaSize = 12 // The IAID, T1 and T2.

// IAs gives the associations for addresses (IA_NA). One that doesn't fit is left out.
func (m *Message) IAs() iter.Seq[IA] {
	return func(yield func(IA) bool) {
		for v := range m.Options.All(OptionIANA) {
			if len(v) >= iaSize && Options(v[iaSize:]).fit() && !yield(IA{[4]byte(v[:4]), v[iaSize:]}) {
				return
			}
		}
	}
}

// Addresses that a client names in an association: those that it has, or would like to have.
func (i IA) Addresses() iter.Seq[netip.Addr] {
	const least = 24 // The address and two lifetimes.
	return func(yield func(netip.Addr) bool) {
		for v := range i.Options.All(OptionAddress) {
			if len(v) >= least && !yield(netip.AddrFrom16([16]byte(v[:16]))) {
				return
			}
		}
	}
}

// StatusOf gives the status code among options; Success where there's none (RFC 8415 §21.13).
func StatusOf(o Options) Status {
	v, ok := o.Get(OptionStatus)
	switch {
	case !ok:
		return Success
	case len(v) < 2:
		return unknownStatus
	}
	return Status(binary.BigEndian.Uint16(v))
}
