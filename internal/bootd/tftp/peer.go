package tftp

import (
	"encoding/binary"
	"errors"
	"net/netip"
	"strconv"

	"golang.org/x/sys/unix"
)

const (
	headerSize = 4 // of DATA and ACK
	// maxDatagram is what one UDP packet carries, and maxSegments how many of them the kernel makes of one write.
	maxDatagram = 65507
	maxSegments = 64
)

// A peer is the way to one client: a socket of its own, connected, so that the kernel gives it nobody else's packets and tells
// it when the client's port is closed; or the server's own socket, where all must come from the port that was asked.
type peer struct {
	fd     int
	shared bool
	to     unix.Sockaddr
	from   []byte // a control message that says our address, for the shared socket
	// segments says that the kernel cuts one large write into packets.
	segments bool
}

// canSegment says whether the kernel knows UDP_SEGMENT (Linux 4.18). One that doesn't says nothing about a control message of it,
// and sends all packets of a window as one.
func canSegment(fd int) bool {
	_, err := unix.GetsockoptInt(fd, unix.SOL_UDP, unix.UDP_SEGMENT)
	return err == nil
}

// connect opens a socket to a client, from the address that it asked.
func connect(client netip.AddrPort, ours netip.Addr, segments bool) (peer, error) {
	family := unix.AF_INET
	if client.Addr().Is6() {
		family = unix.AF_INET6
	}
	fd, err := unix.Socket(family, unix.SOCK_DGRAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return peer{}, err
	}
	p := peer{fd: fd, segments: segments}
	if ours.IsValid() && ours.Is4() == client.Addr().Is4() {
		err = unix.Bind(fd, sockaddr(netip.AddrPortFrom(ours, 0)))
	}
	if err == nil {
		err = unix.Connect(fd, sockaddr(client))
	}
	if err != nil {
		_ = unix.Close(fd)
		return peer{}, err
	}
	return p, nil
}

// share sends from the server's own socket.
func share(fd int, client netip.AddrPort, ours netip.Addr) peer {
	p := peer{fd: fd, shared: true, to: sockaddr(client)}
	switch {
	case ours.Is4():
		p.from = unix.PktInfo4(&unix.Inet4Pktinfo{Spec_dst: ours.As4()})
	case ours.Is6():
		p.from = unix.PktInfo6(&unix.Inet6Pktinfo{Addr: ours.As16(), Ifindex: zone(ours)})
	}
	return p
}

// sockaddr is an address as the kernel takes it.
func sockaddr(a netip.AddrPort) unix.Sockaddr {
	if a.Addr().Is4() {
		return &unix.SockaddrInet4{Addr: a.Addr().As4(), Port: int(a.Port())}
	}
	return &unix.SockaddrInet6{Addr: a.Addr().As16(), Port: int(a.Port()), ZoneId: zone(a.Addr())}
}

// addrPort is an address of the kernel's. One of the link alone has the number of its interface for its zone.
func addrPort(s unix.Sockaddr) (netip.AddrPort, bool) {
	switch a := s.(type) {
	case *unix.SockaddrInet4:
		return netip.AddrPortFrom(netip.AddrFrom4(a.Addr), uint16(a.Port)), true //nolint:gosec // A port.
	case *unix.SockaddrInet6:
		ip := netip.AddrFrom16(a.Addr)
		if a.ZoneId != 0 && ip.IsLinkLocalUnicast() {
			ip = ip.WithZone(strconv.FormatUint(uint64(a.ZoneId), 10))
		}
		return netip.AddrPortFrom(ip, uint16(a.Port)), true //nolint:gosec // A port.
	}
	return netip.AddrPort{}, false
}

func zone(a netip.Addr) uint32 {
	n, err := strconv.ParseUint(a.Zone(), 10, 32)
	if err != nil {
		return 0
	}
	return uint32(n)
}

func (p *peer) close() {
	if !p.shared {
		_ = unix.Close(p.fd)
	}
}

// send sends one packet. What a full buffer refuses is lost, like anything on a network. A router that can't take what was sent
// before is told as EMSGSIZE, once: from then on the kernel sends in fragments.
func (p *peer) send(b []byte) error {
	err := p.write(b)
	if errors.Is(err, unix.EMSGSIZE) {
		err = p.write(b)
	}
	if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.ENOBUFS) || errors.Is(err, unix.EINTR) {
		return nil
	}
	return err
}

func (p *peer) write(b []byte) error {
	if p.shared {
		return unix.Sendmsg(p.fd, b, p.from, p.to, 0)
	}
	_, err := writeNow(p.fd, b)
	return err
}

// sendAll sends packets that lie one behind another, all of one size but the last: by one call where the kernel cuts them
// apart, else one by one.
func (p *peer) sendAll(b []byte, size int) error {
	most := min(maxDatagram/size, maxSegments) * size
	for len(b) > 0 {
		part := b[:min(len(b), most)]
		if len(part) <= size || p.shared || !p.segments {
			part = part[:min(len(part), size)]
			if err := p.send(part); err != nil {
				return err
			}
			b = b[len(part):]
			continue
		}
		err := unix.Sendmsg(p.fd, part, segmented(size), nil, 0)
		switch {
		case errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.ENOBUFS) || errors.Is(err, unix.EINTR):
			return nil
		case unsegmented(err):
			p.segments = false
			continue
		case err != nil:
			return err
		}
		b = b[len(part):]
	}
	return nil
}

// unsegmented says that packets have to be sent one by one: a kernel that can't cut, an interface that computes no checksums, or a
// route that takes less than a packet; those the kernel cuts aren't sent in fragments, while others are.
func unsegmented(err error) bool {
	for _, e := range []error{unix.EINVAL, unix.EIO, unix.EOPNOTSUPP, unix.ENOPROTOOPT, unix.EMSGSIZE} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// segmented is the control message UDP_SEGMENT: cut this write into packets of a size (udp(7)).
func segmented(size int) []byte {
	const length = 2
	b := make([]byte, unix.CmsgSpace(length))
	head := unix.CmsgLen(0)
	if head > 12 { // The length of a control message is a word of the machine, here of 64 bits.
		binary.NativeEndian.PutUint64(b, uint64(unix.CmsgLen(length))) //nolint:gosec // Some twenty.
	} else {
		binary.NativeEndian.PutUint32(b, uint32(unix.CmsgLen(length))) //nolint:gosec // Some twenty.
	}
	binary.NativeEndian.PutUint32(b[head-8:], unix.SOL_UDP)
	binary.NativeEndian.PutUint32(b[head-4:], unix.UDP_SEGMENT)
	binary.NativeEndian.PutUint16(b[head:], uint16(size)) //nolint:gosec // At most what UDP carries.
	return b
}
