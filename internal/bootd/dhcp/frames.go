package dhcp

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// Frames send an answer to the hardware address of a machine that has no IP address yet, and so answers no ARP (RFC 2131 §4.1). Nothing
// is written into the system's neighbour table. They take CAP_NET_RAW.
type Frames struct {
	mu   sync.Mutex
	file *os.File
	raw  syscall.RawConn
	to   unix.SockaddrLinklayer
	buf  []byte
	err  error
	// write is made once: one for each packet would be garbage.
	write func(fd uintptr) bool
}

// OpenFrames opens a packet socket that hears nothing.
func OpenFrames() (*Frames, error) {
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("cannot open a packet socket: %w", err)
	}
	f := &Frames{file: os.NewFile(uintptr(fd), "frames"), buf: make([]byte, 0, linkSize)}
	if f.raw, err = f.file.SyscallConn(); err != nil {
		return nil, errors.Join(fmt.Errorf("cannot use a packet socket: %w", err), f.file.Close())
	}
	f.write = func(fd uintptr) bool {
		f.err = unix.Sendto(int(fd), f.buf, 0, &f.to)
		return true // Who isn't taken at once by this way is by the other one.
	}
	return f, nil
}

// Close ends it; nothing is sent any more.
func (f *Frames) Close() error { return f.file.Close() }

// send puts one packet onto the wire of an interface, from an address and port of ours.
func (f *Frames) send(o *Outgoing, from netip.AddrPort) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.buf = datagram(f.buf[:0], from, o.To, o.Data)
	f.to = unix.SockaddrLinklayer{Protocol: networkOrder(unix.ETH_P_IP), Ifindex: o.Index, Halen: uint8(len(o.Hardware))}
	copy(f.to.Addr[:], o.Hardware[:])
	if err := f.raw.Write(f.write); err != nil {
		return fmt.Errorf("cannot send a frame: %w", err)
	}
	return f.err
}

func networkOrder(v uint16) uint16 {
	return binary.NativeEndian.Uint16(binary.BigEndian.AppendUint16(nil, v))
}

const (
	// sizes of the headers of IPv4 without options, and of UDP.
	ipHeader, udpHeader = 20, 8
	// hops are as many as the kernel gives a packet.
	hops = 64
	// dontFragment: no answer is longer than a link.
	dontFragment = 0x40
)

// datagram appends a UDP packet with its header of IPv4, checksums included.
func datagram(b []byte, from, to netip.AddrPort, data []byte) []byte {
	at := len(b)
	source, target := from.Addr().As4(), to.Addr().As4()
	b = append(b, 0x45, 0)
	b = binary.BigEndian.AppendUint16(b, uint16(ipHeader+udpHeader+len(data))) //nolint:gosec // At most a link's.
	b = append(b, 0, 0, dontFragment, 0, hops, unix.IPPROTO_UDP, 0, 0)
	b = append(append(b, source[:]...), target[:]...)
	const ipSum, udpSum = 10, 6
	binary.BigEndian.PutUint16(b[at+ipSum:], ^folded(sum(0, b[at:])))
	udp := len(b)
	b = binary.BigEndian.AppendUint16(b, from.Port())
	b = binary.BigEndian.AppendUint16(b, to.Port())
	length := uint16(udpHeader + len(data)) //nolint:gosec // As above.
	b = append(binary.BigEndian.AppendUint16(b, length), 0, 0)
	b = append(b, data...)
	pseudo := sum(sum(uint32(unix.IPPROTO_UDP)+uint32(length), source[:]), target[:]) // RFC 768.
	check := ^folded(sum(pseudo, b[udp:]))
	if check == 0 {
		check = 0xffff // 0 would mean that there's none.
	}
	binary.BigEndian.PutUint16(b[udp+udpSum:], check)
	return b
}

// sum adds up 16-bit words (RFC 1071).
func sum(s uint32, b []byte) uint32 {
	for ; len(b) >= 2; b = b[2:] { // Two octets each.
		s += uint32(b[0])<<8 | uint32(b[1])
	}
	if len(b) > 0 {
		s += uint32(b[0]) << 8
	}
	return s
}

func folded(s uint32) uint16 {
	for s > 0xffff {
		s = s>>16 + s&0xffff
	}
	return uint16(s)
}
