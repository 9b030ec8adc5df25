package trace

import (
	"encoding/binary"
	"net/netip"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// A Packet is a UDP datagram of IPv4 that came or went.
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
	// header of a record: time, interface, flags, how much is kept, size, and two addresses with their ports.
	header = 8 + 4 + 1 + 2 + 2 + 2*(4+2)
)

// A block holds records of one machine's packets, one behind another in memory that's taken once.
type block struct {
	mac          boot.MAC
	older, newer *block
	buf          []byte
	count        int
}

// add keeps a packet; what's oldest goes where there's no room.
func (b *block) add(p *Packet) {
	data := p.Data[:min(len(p.Data), longest, cap(b.buf)-header)]
	need := header + len(data)
	if len(b.buf)+need > cap(b.buf) || b.count == maxCount {
		b.makeRoom(need)
	}
	at := len(b.buf)
	b.buf = b.buf[:at+need]
	r := b.buf[at:]
	binary.LittleEndian.PutUint64(r[0:], uint64(p.At.UnixNano()))
	binary.LittleEndian.PutUint32(r[8:], uint32(p.Index)) //nolint:gosec // The kernel counts interfaces from 1.
	r[12] = 0
	if p.Sent {
		r[12] = 1
	}
	binary.LittleEndian.PutUint16(r[13:], uint16(len(data)))                 //nolint:gosec // At most longest.
	binary.LittleEndian.PutUint16(r[15:], uint16(min(len(p.Data), 1<<16-1))) //nolint:gosec // As it says.
	putAddress(r[17:], p.From)
	putAddress(r[23:], p.To)
	copy(r[header:], data)
	Mask(r[header:])
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

func recordSize(r []byte) int { return header + int(binary.LittleEndian.Uint16(r[13:])) }

// packets appends copies of what the block holds.
func (b *block) packets(all []Packet) []Packet {
	for rest := b.buf; len(rest) > 0; {
		n := recordSize(rest)
		r := rest[:n]
		all = append(all, Packet{
			At:    time.Unix(0, int64(binary.LittleEndian.Uint64(r))), //nolint:gosec // The same bits.
			Index: int(binary.LittleEndian.Uint32(r[8:])), Sent: r[12] == 1,
			Size: int(binary.LittleEndian.Uint16(r[15:])),
			From: address(r[17:]), To: address(r[23:]),
			Data: append([]byte{}, r[header:]...),
		})
		rest = rest[n:]
	}
	return all
}

// putAddress writes an address of IPv4; anything else is 0.0.0.0.
func putAddress(b []byte, a netip.AddrPort) {
	v := [4]byte{}
	if ip := a.Addr().Unmap(); ip.Is4() {
		v = ip.As4()
	}
	copy(b, v[:])
	binary.LittleEndian.PutUint16(b[4:], a.Port())
}

func address(b []byte) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte(b[:4])), binary.LittleEndian.Uint16(b[4:]))
}
