package wire

import (
	"encoding/binary"
	"net/netip"
)

// Ranks say what a reply can do without, where it would be longer than its client takes: of 1 to 15 the lower goes first.
const (
	// Needed is never left out.
	Needed  = 0
	maxRank = 16
	// maxOptions of one reply.
	maxOptions = 48
)

// A Reply is an answer that is being put together. One Reply may be used for many, by Answer.
type Reply struct {
	header  [atOptions]byte
	options [maxOptions]option
	n       int
	relay   []byte // option 82, which is the last one
	relayed bool
	own     []byte // values that were made here

	// Overload says that what doesn't fit may lie in the server's name field (option 52). Network ROMs read that as a name.
	Overload bool
}

type option struct {
	code  byte
	rank  uint8
	value []byte
}

// Answer begins a reply: xid, flags, hops, giaddr and the hardware address of the request, and its options 61 (RFC 6842) and
// 82 (RFC 3046 §2.2) octet for octet.
func (r *Reply) Answer(m *Message, t Type) {
	r.header = [atOptions]byte{}
	r.n, r.own, r.relay, r.relayed, r.Overload = 0, r.own[:0], nil, false, false
	h := m.b[:atOptions]
	r.header[0] = BootReply
	r.header[1], r.header[2], r.header[atHops] = h[1], min(h[2], chaddrSize), h[atHops]
	copy(r.header[atXID:atXID+4], h[atXID:])
	copy(r.header[atFlags:atCiaddr], h[atFlags:])
	copy(r.header[atGiaddr:atChaddr], h[atGiaddr:])
	copy(r.header[atChaddr:atSname], m.Hardware())
	copy(r.header[atCookie:], cookie)
	r.Bytes(OptionType, Needed, r.keep(byte(t)))
	if m.Has(OptionClientID) {
		r.Bytes(OptionClientID, Needed, m.Get(OptionClientID))
	}
	if m.Has(OptionRelayAgent) {
		r.relay, r.relayed = m.Get(OptionRelayAgent), true
	}
}

// keep copies octets into the reply's own memory.
func (r *Reply) keep(b ...byte) []byte {
	from := len(r.own)
	r.own = append(r.own, b...)
	return r.own[from:len(r.own):len(r.own)]
}

// KeepClient takes over ciaddr of the request, as an ACK does (RFC 2131 table 3).
func (r *Reply) KeepClient(m *Message) { copy(r.header[atCiaddr:atYiaddr], m.b[atCiaddr:]) }

// Direct is for a client whose relay doesn't see the answer, and takes nothing of its own out of it.
func (r *Reply) Direct() { r.relay, r.relayed = nil, false }

// Broadcast sets the broadcast flag.
func (r *Reply) Broadcast() { r.header[atFlags] |= 0x80 }

// Yours sets yiaddr, and Server siaddr.
func (r *Reply) Yours(a netip.Addr) { put(r.header[atYiaddr:], a) }

// Server sets siaddr.
func (r *Reply) Server(a netip.Addr) { put(r.header[atSiaddr:], a) }

func put(b []byte, a netip.Addr) {
	if a.Is4() {
		v := a.As4()
		copy(b, v[:])
	}
}

// File puts a name into the header's file field; false: it's too long for that and its NUL.
func (r *Reply) File(name string) bool {
	if len(name) >= fileSize {
		return false
	}
	copy(r.header[atFile:atCookie], name)
	return true
}

// Bytes adds an option. The value must stay as it is until Append. A rank says what may be left out. More options than a
// reply holds, which nobody has, are left out like what doesn't fit.
func (r *Reply) Bytes(code byte, rank uint8, value []byte) {
	if r.n == maxOptions {
		return
	}
	i := r.n
	for i > 0 && r.options[i-1].code > code { // By number, as most clients see them.
		r.options[i] = r.options[i-1]
		i--
	}
	r.options[i] = option{code, rank, value}
	r.n++
}

// Text adds an option of text.
func (r *Reply) Text(code byte, rank uint8, s string) {
	from := len(r.own)
	r.own = append(r.own, s...)
	r.Bytes(code, rank, r.own[from:len(r.own):len(r.own)])
}

// AddressText adds an address as it's written.
func (r *Reply) AddressText(code byte, rank uint8, a netip.Addr) {
	from := len(r.own)
	r.own = a.AppendTo(r.own)
	r.Bytes(code, rank, r.own[from:len(r.own):len(r.own)])
}

// CString and AddressCString add a text, and an address as it's written, with a NUL at the end (RFC 2132 §2: who reads one must be ready for it).
func (r *Reply) CString(code byte, rank uint8, s string) {
	from := len(r.own)
	r.own = append(append(r.own, s...), 0)
	r.Bytes(code, rank, r.own[from:len(r.own):len(r.own)])
}

// AddressCString is CString of an address.
func (r *Reply) AddressCString(code byte, rank uint8, a netip.Addr) {
	from := len(r.own)
	r.own = append(a.AppendTo(r.own), 0)
	r.Bytes(code, rank, r.own[from:len(r.own):len(r.own)])
}

// Uint32 adds a number of four octets, and Uint16 one of two.
func (r *Reply) Uint32(code byte, rank uint8, v uint32) {
	from := len(r.own)
	r.own = binary.BigEndian.AppendUint32(r.own, v)
	r.Bytes(code, rank, r.own[from:len(r.own):len(r.own)])
}

// Uint16 adds a number of two octets.
func (r *Reply) Uint16(code byte, rank uint8, v uint16) {
	r.Bytes(code, rank, r.keep(byte(v>>8), byte(v&255)))
}

// Addresses adds an option of one address or more; those of IPv6 aren't in it, and without any there's no option.
func (r *Reply) Addresses(code byte, rank uint8, as ...netip.Addr) {
	from := len(r.own)
	for _, a := range as {
		if a.Is4() {
			v := a.As4()
			r.own = append(r.own, v[:]...)
		}
	}
	if len(r.own) > from {
		r.Bytes(code, rank, r.own[from:len(r.own):len(r.own)])
	}
}

// Has says whether an option is in the reply.
func (r *Reply) Has(code byte) bool {
	for _, o := range r.options[:r.n] {
		if o.code == code {
			return true
		}
	}
	return false
}
