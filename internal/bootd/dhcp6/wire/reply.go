package wire

import (
	"encoding/binary"
	"net/netip"
	"strings"
	"time"
)

// A Writer puts a message together. The zero value is ready for Begin.
type Writer struct {
	b    []byte
	open []int // where options begin that aren't ended yet
}

// Begin begins a message in buf, which may be used again, with what relays want around it.
func (w *Writer) Begin(buf []byte, t Type, xid [3]byte, relays []Relay) {
	w.b, w.open = buf[:0], w.open[:0]
	for _, r := range relays {
		w.b = append(w.b, byte(relayReply), r.Hops)
		w.address(r.Link)
		w.address(r.Peer)
		// What tells a relay where the answer goes is given back as it is (RFC 8415 §19.3, RFC 8357 §5.3).
		for _, code := range [...]uint16{OptionInterfaceID, OptionRelayPort} {
			if v, ok := r.Options.Get(code); ok {
				w.Bytes(code, v)
			}
		}
		w.Open(OptionRelayMessage)
	}
	w.b = append(append(w.b, byte(t)), xid[:]...)
}

// End ends all that was begun, and gives the packet.
func (w *Writer) End() []byte {
	for len(w.open) > 0 {
		w.Close()
	}
	return w.b
}

// Open begins an option that holds others, up to its Close.
func (w *Writer) Open(code uint16) {
	w.open = append(w.open, len(w.b))
	w.b = append(binary.BigEndian.AppendUint16(w.b, code), 0, 0)
}

// Close ends the option that was opened last.
func (w *Writer) Close() {
	at := w.open[len(w.open)-1]
	w.open = w.open[:len(w.open)-1]
	binary.BigEndian.PutUint16(w.b[at+2:], uint16(len(w.b)-at-optionHeader)) //nolint:gosec // A packet is shorter than 64 KiB.
}

// Bytes adds an option.
func (w *Writer) Bytes(code uint16, v []byte) {
	w.b = binary.BigEndian.AppendUint16(w.b, code)
	w.b = append(binary.BigEndian.AppendUint16(w.b, uint16(len(v))), v...) //nolint:gosec // A part of a packet, or a short text of ours.
}

// Text adds an option that is a text.
func (w *Writer) Text(code uint16, s string) { w.Bytes(code, []byte(s)) }

func (w *Writer) address(a netip.Addr) {
	v := a.As16()
	w.b = append(w.b, v[:]...)
}

// Addresses adds an option that lists IPv6 addresses; those of IPv4 aren't in it, and without any there's no option.
func (w *Writer) Addresses(code uint16, as []netip.Addr) {
	w.Open(code)
	from := len(w.b)
	for _, a := range as {
		if a.Is6() {
			w.address(a)
		}
	}
	if len(w.b) == from {
		w.b, w.open = w.b[:from-optionHeader], w.open[:len(w.open)-1]
		return
	}
	w.Close()
}

// Domain adds an option that holds one domain, as DNS writes names (RFC 8415 §10). A name that isn't one gives no option.
func (w *Writer) Domain(code uint16, name string) {
	const longest = 63
	for label := range strings.SplitSeq(name, ".") {
		if label == "" || len(label) > longest {
			return
		}
	}
	w.Open(code)
	for label := range strings.SplitSeq(name, ".") {
		w.b = append(append(w.b, byte(len(label))), label...) //nolint:gosec // At most 63.
	}
	w.b = append(w.b, 0)
	w.Close()
}

// NTP adds option 56 with one server for each address of IPv6 (RFC 5908 §4.1).
func (w *Writer) NTP(as []netip.Addr) {
	const address = 1 // NTP_SUBOPTION_SRV_ADDR
	for _, a := range as {
		if a.Is6() {
			v := a.As16()
			w.Open(OptionNTP)
			w.Bytes(address, v[:])
			w.Close()
		}
	}
}

// Status adds a status code, with words for people.
func (w *Writer) Status(s Status, says string) {
	w.Open(OptionStatus)
	w.b = append(binary.BigEndian.AppendUint16(w.b, uint16(s)), says...)
	w.Close()
}

// OpenIA begins an association, of which T1 and T2 say when it's to be renewed; 0: that's the client's choice.
func (w *Writer) OpenIA(code uint16, id [4]byte, t1, t2 time.Duration) {
	w.Open(code)
	w.b = append(w.b, id[:]...)
	if code != OptionIATA { // One of temporary addresses has its number alone (RFC 8415 §21.5).
		w.b = binary.BigEndian.AppendUint32(w.b, Seconds(t1))
		w.b = binary.BigEndian.AppendUint32(w.b, Seconds(t2))
	}
}

// Address adds an address to an association. A lifetime of 0 takes it away.
func (w *Writer) Address(a netip.Addr, lifetime time.Duration) {
	w.Open(OptionAddress)
	w.address(a)
	w.b = binary.BigEndian.AppendUint32(w.b, Seconds(lifetime)) // Preferred,
	w.b = binary.BigEndian.AppendUint32(w.b, Seconds(lifetime)) // and valid for as long.
	w.Close()
}

// Uint32 adds an option that is a number.
func (w *Writer) Uint32(code uint16, n uint32) {
	w.Bytes(code, binary.BigEndian.AppendUint32(nil, n))
}

// Seconds of a duration; the largest number would mean for ever (RFC 8415 §7.7).
func Seconds(d time.Duration) uint32 {
	const forEver = 1<<32 - 1
	return uint32(min(max(int64(d/time.Second), 0), forEver-1)) //nolint:gosec // Between these.
}

// Forward puts a message of a client into that of a relay, which speaks for a link.
func Forward(link, peer netip.Addr, message []byte) []byte {
	w := &Writer{b: []byte{byte(relayForward), 0}}
	w.address(link)
	w.address(peer)
	w.Bytes(OptionRelayMessage, message)
	return w.b
}
