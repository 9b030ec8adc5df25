package trace

import (
	"encoding/binary"
	"net/netip"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// A Packet is a UDP datagram that came or went.
type Packet struct {
	At       time.Time
	From, To netip.AddrPort
	// Index of the interface that it came in on; 0 where that isn't known.
	Index int
	// Sent says that it's ours.
	Sent bool
	// Data is its payload, as much of it as is kept, and Size how long it was. Size isn't read by Add.
	Data []byte
	Size int
}

const (
	// longest payload that is kept whole.
	longest = 1472
	// maxCount of packets that one machine's block holds, however short they are.
	maxCount = 64
	// fixed is what each record begins with: time, interface, flags, how much is kept, and size. Two addresses with their ports follow.
	fixed = 8 + 4 + 1 + 2 + 2
	// Flags: a packet that's ours, and one of IPv6.
	flagSent, flagSix = 1, 2
)

// header is the size of a record without its payload, by its flags.
func header(flags byte) int { return fixed + 2*(octets(flags)+2) }

// octets of an address.
func octets(flags byte) int {
	if flags&flagSix != 0 {
		return 16
	}
	return 4
}

func flagsOf(p *Packet) (flags byte) {
	if p.Sent {
		flags |= flagSent
	}
	if isSix(p.From) || isSix(p.To) {
		flags |= flagSix
	}
	return flags
}

func isSix(a netip.AddrPort) bool { return a.Addr().Is6() && !a.Addr().Is4In6() }

// A block holds records of one machine's packets, one behind another in memory that's taken once.
type block struct {
	mac          boot.MAC
	older, newer *block
	buf          []byte
	count        int
}

// add keeps a packet; what's oldest goes where there's no room.
func (b *block) add(p *Packet) {
	flags := flagsOf(p)
	head := header(flags)
	data := p.Data[:min(len(p.Data), longest, cap(b.buf)-head)]
	need := head + len(data)
	if len(b.buf)+need > cap(b.buf) || b.count == maxCount {
		b.makeRoom(need)
	}
	at := len(b.buf)
	b.buf = b.buf[:at+need]
	r := b.buf[at:]
	binary.LittleEndian.PutUint64(r[0:], uint64(p.At.UnixNano()))
	binary.LittleEndian.PutUint32(r[8:], uint32(p.Index)) //nolint:gosec // The kernel counts interfaces from 1.
	r[12] = flags
	binary.LittleEndian.PutUint16(r[13:], uint16(len(data)))                 //nolint:gosec // At most longest.
	binary.LittleEndian.PutUint16(r[15:], uint16(min(len(p.Data), 1<<16-1))) //nolint:gosec // As it says.
	n := octets(flags)
	putAddress(r[fixed:], p.From, n)
	putAddress(r[fixed+n+2:], p.To, n)
	copy(r[head:], data)
	Mask(r[head:])
	b.count++
}

// makeRoom drops the oldest records, some more than it takes: what's left is moved each time.
func (b *block) makeRoom(need int) {
	from, free := 0, max(need, cap(b.buf)/4)
	for from < len(b.buf) && (cap(b.buf)-len(b.buf)+from < free || b.count == maxCount) {
		from += recordSize(b.buf[from:])
		b.count--
	}
	b.buf = b.buf[:copy(b.buf, b.buf[from:])]
}

func recordSize(r []byte) int { return header(r[12]) + int(binary.LittleEndian.Uint16(r[13:])) }

// packets appends copies of what the block holds.
func (b *block) packets(all []Packet) []Packet {
	for rest := b.buf; len(rest) > 0; {
		n := recordSize(rest)
		r := rest[:n]
		all = append(all, Packet{
			At:    time.Unix(0, int64(binary.LittleEndian.Uint64(r))), //nolint:gosec // The same bits.
			Index: int(binary.LittleEndian.Uint32(r[8:])), Sent: r[12]&flagSent != 0,
			Size: int(binary.LittleEndian.Uint16(r[15:])),
			From: address(r[fixed:], octets(r[12])), To: address(r[fixed+octets(r[12])+2:], octets(r[12])),
			Data: append([]byte{}, r[header(r[12]):]...),
		})
		rest = rest[n:]
	}
	return all
}

// putAddress writes an address of so many octets; one of another kind is all zeros.
func putAddress(b []byte, a netip.AddrPort, n int) {
	ip := a.Addr().Unmap()
	clear(b[:n])
	switch v4, v16 := [4]byte{}, [16]byte{}; {
	case n == len(v4) && ip.Is4():
		v4 = ip.As4()
		copy(b, v4[:])
	case n == len(v16) && ip.Is6():
		v16 = ip.As16()
		copy(b, v16[:])
	}
	binary.LittleEndian.PutUint16(b[n:], a.Port())
}

func address(b []byte, n int) netip.AddrPort {
	a, _ := netip.AddrFromSlice(b[:n])
	return netip.AddrPortFrom(a, binary.LittleEndian.Uint16(b[n:]))
}
