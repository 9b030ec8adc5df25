package dhcp

import (
	"encoding/binary"
	"net/netip"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A batch moves many packets by one call, recvmmsg(2) or sendmmsg(2), in memory that is used again: nothing is left for the collector. The calls
// never wait in the kernel, and Go's runtime isn't told of them: it would start another thread meanwhile, which takes the only processor
// from this one.
type batch struct {
	number  uintptr                             // of the system call
	act     func(f func(fd uintptr) bool) error // waits for the socket
	headers []unix.Mmsghdr
	vectors []unix.Iovec
	peers   []unix.RawSockaddrInet4
	control [][]byte
	// from and to are what is moved now; wait says whether it's tried until it can be done; moved and failed are what became of it.
	from, to int
	wait     bool
	moved    int
	failed   unix.Errno
	try      func(fd uintptr) bool // once, made once
}

func newBatch(number uintptr, act func(f func(fd uintptr) bool) error) *batch {
	b := &batch{
		number: number, act: act,
		headers: make([]unix.Mmsghdr, atOnce), vectors: make([]unix.Iovec, atOnce), peers: make([]unix.RawSockaddrInet4, atOnce), control: make([][]byte, atOnce),
	}
	for i := range b.headers {
		h := &b.headers[i].Hdr
		b.control[i] = make([]byte, unix.CmsgSpace(unix.SizeofInet4Pktinfo))
		h.Iov, h.Name, h.Control = &b.vectors[i], (*byte)(unsafe.Pointer(&b.peers[i])), &b.control[i][0] //nolint:gosec // An address is passed as bytes.
		h.SetIovlen(1)
	}
	b.try = b.once
	return b
}

// put says where a packet's bytes are, or are to be.
func (b *batch) put(i int, data []byte) {
	h := &b.headers[i].Hdr
	b.vectors[i].Base = unsafe.SliceData(data) //nolint:gosec // It's what the call takes.
	b.vectors[i].SetLen(len(data))
	h.Namelen, h.Flags = unix.SizeofSockaddrInet4, 0
	h.SetControllen(len(b.control[i]))
}

// move moves the packets from..to, as many as go at once; none without an error means that there is none, where nobody is to wait.
func (b *batch) move(from, to int, wait bool) (int, error) {
	b.from, b.to, b.wait, b.moved, b.failed = from, to, wait, 0, 0
	if err := b.act(b.try); err != nil {
		return 0, err
	}
	switch {
	case b.failed == unix.EAGAIN:
		return 0, nil
	case b.failed != 0:
		return 0, b.failed
	}
	return b.moved, nil
}

// once says whether it's done, or is to be tried again when the socket is ready.
func (b *batch) once(fd uintptr) bool {
	for {
		n, _, errno := unix.RawSyscall6(b.number, fd, uintptr(unsafe.Pointer(&b.headers[b.from])), uintptr(b.to-b.from), unix.MSG_DONTWAIT, 0, 0) //nolint:gosec // As unix.Recvmsg has it.
		if errno == unix.EINTR {
			continue
		}
		b.moved, b.failed = int(n), errno
		return errno != unix.EAGAIN || !b.wait
	}
}

// peer is who a packet came from.
func (b *batch) peer(i int) netip.AddrPort {
	p := &b.peers[i]
	return netip.AddrPortFrom(netip.AddrFrom4(p.Addr), networkPort(p.Port))
}

// networkPort reads a port, or writes one, in the order of the network.
func networkPort(p uint16) uint16 {
	var b [2]byte
	binary.NativeEndian.PutUint16(b[:], p)
	return binary.BigEndian.Uint16(b[:])
}

// oob is what the kernel says of a packet that came in.
func (b *batch) oob(i int) []byte {
	n := int(b.headers[i].Hdr.Controllen) //nolint:gosec // It wrote as much at most.
	return b.control[i][:min(n, len(b.control[i]))]
}

// length of a packet that came in.
func (b *batch) length(i int) int { return int(b.headers[i].Len) }

// address says where a packet goes, and from where (ip(7), IP_PKTINFO).
func (b *batch) address(i int, o *Outgoing) {
	b.peers[i] = unix.RawSockaddrInet4{Family: unix.AF_INET, Port: networkPort(o.To.Port()), Addr: o.To.Addr().As4()}
	c := b.control[i]
	h := (*unix.Cmsghdr)(unsafe.Pointer(&c[0])) //nolint:gosec // As unix.PktInfo4 makes it, which makes a new one each time.
	h.Level, h.Type = unix.IPPROTO_IP, unix.IP_PKTINFO
	h.SetLen(unix.CmsgLen(unix.SizeofInet4Pktinfo))
	info := (*unix.Inet4Pktinfo)(unsafe.Pointer(&c[unix.CmsgLen(0)])) //nolint:gosec // The same.
	*info = unix.Inet4Pktinfo{Ifindex: int32(o.Index)}                //nolint:gosec // The kernel counts interfaces from 1.
	if o.From.Is4() {
		info.Spec_dst = o.From.As4()
	}
}
