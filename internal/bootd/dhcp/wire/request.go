package wire

import (
	"bytes"
	"net/netip"
)

// Ask begins the message of a client: its type, its number and its hardware address. A relay, where one is given, has passed it on.
// AppendOption adds to it, and End ends it.
func Ask(t Type, xid [4]byte, hardware [6]byte, relay netip.Addr) []byte {
	b := make([]byte, atOptions, leastSize+128)
	b[0], b[1], b[2] = BootRequest, 1, byte(len(hardware))
	copy(b[atXID:], xid[:])
	copy(b[atChaddr:], hardware[:])
	put(b[atGiaddr:], relay)
	copy(b[atCookie:], cookie)
	return AppendOption(b, OptionType, byte(t))
}

// AppendOption adds an option of at most 255 octets to a message.
func AppendOption(b []byte, code byte, value ...byte) []byte {
	value = value[:min(len(value), maxValue)]
	return append(append(b, code, byte(len(value))), value...) //nolint:gosec // At most maxValue.
}

// End ends a message, which is no shorter than BOOTP's.
func End(b []byte) []byte {
	b = append(b, OptionEnd)
	if missing := leastSize - len(b); missing > 0 {
		b = append(b, make([]byte, missing)...)
	}
	return b
}

// Raw is the message as it was read.
func (m *Message) Raw() []byte { return m.b }

// Yours is yiaddr, which a server fills in; invalid where it's 0.0.0.0.
func (m *Message) Yours() netip.Addr { return Address(m.b[atYiaddr:atSiaddr]) }

// BootFile is what the client is to load next: option 67, or else the header's field where that holds no options.
func (m *Message) BootFile() string {
	if v := bytes.TrimRight(m.Get(OptionBootFile), "\x00"); len(v) > 0 {
		return string(v)
	}
	if m.overload&1 != 0 {
		return ""
	}
	name := m.b[atFile:atCookie]
	for i, c := range name {
		if c == 0 {
			return string(name[:i])
		}
	}
	return string(name)
}
