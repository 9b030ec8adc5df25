package wire

import (
	"encoding/binary"
	"errors"
	"net/netip"
	"slices"
)

// Errors of Read.
var (
	ErrShort   = errors.New("shorter than a DHCP header")
	ErrCookie  = errors.New("without the cookie of DHCP: BOOTP, or no such packet")
	ErrOptions = errors.New("an option goes on behind the end of the packet")
)

// A Message is a received message where it lies. Its values are parts of what was read: they're good until that is
// overwritten. The zero value is ready for Read, and one Message may read many.
type Message struct {
	b []byte
	// at says where an option stands for the first time, by its code; 0: it's absent.
	at [256]uint16
	// again says which options come in several pieces.
	again [4]uint64
	// overload is the value of option 52: bit 0 the file field, bit 1 the server name hold options.
	overload byte
}

// Read takes a packet. An end mark that's missing, as some firmware forgets it, is no fault; an option that doesn't fit is.
func (m *Message) Read(b []byte) error {
	clear(m.at[:])
	m.again, m.overload, m.b = [4]uint64{}, 0, nil
	switch {
	case len(b) < atOptions:
		return ErrShort
	case string(b[atCookie:atOptions]) != cookie:
		return ErrCookie
	}
	const longest = 1<<16 - 1 // What UDP carries, and what at can say.
	m.b = b[:min(len(b), longest)]
	if !m.index(atOptions, len(m.b)) {
		clear(m.at[:])
		return ErrOptions
	}
	if v := m.Get(OptionOverload); len(v) == 1 {
		m.overload = v[0] & 3 // RFC 2132 §9.3: 1 file, 2 sname, 3 both.
	}
	for _, a := range m.overloaded() {
		m.index(a.from, a.to) // What is broken there says nothing more; the rest of the packet is whole.
	}
	return nil
}

// An area holds options.
type area struct{ from, to int }

// overloaded gives the header's fields that hold options, in the order of RFC 2131 §4.1.
func (m *Message) overloaded() []area {
	file, sname := area{atFile, atCookie}, area{atSname, atFile}
	switch m.overload {
	case 1:
		return []area{file}
	case 2:
		return []area{sname}
	case 3:
		return []area{file, sname}
	}
	return nil
}

// index notes the options of an area; false: one doesn't fit into it.
func (m *Message) index(i, to int) bool {
	for i < to {
		code := m.b[i]
		if code == OptionPad {
			i++
			continue
		}
		if code == OptionEnd {
			return true
		}
		if i+1 >= to || i+2+int(m.b[i+1]) > to {
			return false
		}
		if m.at[code] == 0 {
			m.at[code] = uint16(i) //nolint:gosec // Read has cut the packet to that.
		} else {
			m.again[code>>6] |= 1 << (code & 63)
		}
		i += 2 + int(m.b[i+1])
	}
	return true
}

// Has says whether an option is there, be it empty.
func (m *Message) Has(code byte) bool { return m.at[code] != 0 }

// Get gives an option's value; nil: it's absent or empty. Pieces of one option are joined (RFC 3396 §7).
func (m *Message) Get(code byte) []byte {
	i := int(m.at[code])
	if i == 0 {
		return nil
	}
	if m.again[code>>6]&(1<<(code&63)) != 0 {
		return m.join(code)
	}
	n := int(m.b[i+1])
	if n == 0 {
		return nil
	}
	return m.b[i+2 : i+2+n : i+2+n]
}

func (m *Message) join(code byte) []byte {
	v := m.pieces(nil, code, area{atOptions, len(m.b)})
	for _, a := range m.overloaded() {
		v = m.pieces(v, code, a)
	}
	return v
}

func (m *Message) pieces(v []byte, code byte, a area) []byte {
	for i := a.from; i < a.to; {
		c := m.b[i]
		if c == OptionPad {
			i++
			continue
		}
		if c == OptionEnd || i+1 >= a.to || i+2+int(m.b[i+1]) > a.to {
			return v
		}
		next := i + 2 + int(m.b[i+1])
		if c == code {
			v = append(v, m.b[i+2:next]...)
		}
		i = next
	}
	return v
}

// Type of the message.
func (m *Message) Type() Type {
	if v := m.Get(OptionType); len(v) == 1 {
		return Type(v[0])
	}
	return None
}

// Asked says whether the client wants an option: by its list, or all of them where it has none (RFC 2131 §3.5).
func (m *Message) Asked(code byte) bool {
	list := m.Get(OptionParameters)
	if len(list) == 0 {
		return true
	}
	return slices.Contains(list, code)
}

// MaxSize is option 57: how long a message with the headers of IP and UDP may be; 0 where the client doesn't say.
func (m *Message) MaxSize() int {
	if v := m.Get(OptionMaxSize); len(v) == 2 {
		return int(binary.BigEndian.Uint16(v))
	}
	return 0
}

// Address gives the value of an option that holds exactly one address; invalid: none, or 0.0.0.0.
func (m *Message) Address(code byte) netip.Addr { return Address(m.Get(code)) }

// Address reads four octets as an address; anything else, and 0.0.0.0, gives an invalid one.
func Address(v []byte) netip.Addr {
	if len(v) != 4 {
		return netip.Addr{}
	}
	a := netip.AddrFrom4([4]byte(v))
	if a.IsUnspecified() {
		return netip.Addr{}
	}
	return a
}

// IsRequest says whether a client speaks, or a relay in its name.
func (m *Message) IsRequest() bool { return m.b[0] == BootRequest }

// WantsBroadcast says that the client can't hear an answer to the address that it's given, before it has that (RFC 2131 §4.1).
func (m *Message) WantsBroadcast() bool { return m.b[atFlags]&0x80 != 0 }

// Ethernet says that the hardware address is one of Ethernet.
func (m *Message) Ethernet() bool { return m.b[1] == 1 && m.b[2] == 6 }

// XID is the client's number of the exchange.
func (m *Message) XID() [4]byte { return [4]byte(m.b[atXID:]) }

// Client is ciaddr, and Relay giaddr; invalid where they're 0.0.0.0.
func (m *Message) Client() netip.Addr { return Address(m.b[atCiaddr : atCiaddr+4]) }

// Relay is giaddr.
func (m *Message) Relay() netip.Addr { return Address(m.b[atGiaddr : atGiaddr+4]) }

// Hardware is the hardware address of a packet that wasn't read; false: it has none of six octets.
func Hardware(b []byte) (mac uint64, ok bool) {
	const octets = 6
	if len(b) < atCookie || b[2] != octets {
		return 0, false
	}
	return binary.BigEndian.Uint64(b[atChaddr:]) >> (64 - 8*octets), true
}

// Hardware is the client's hardware address: as many octets as the header says, at most 16.
func (m *Message) Hardware() []byte {
	return m.b[atChaddr : atChaddr+min(int(m.b[2]), chaddrSize)]
}
