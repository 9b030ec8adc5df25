package dhcp

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"time"

	"golang.org/x/net/ipv4"
	"golang.org/x/sys/unix"
)

const (
	sendTimeout = time.Second
	// interfacesFor is how long the addresses of an interface are believed.
	interfacesFor = 5 * time.Second
	// received is what the kernel may hold for us: some thousand packets, which a rack sends at once when it's powered on.
	received = 4 << 20
	// maxPacket is the longest request that's read whole; links carry no longer ones.
	maxPacket = 2048
	// atOnce is how many packets one call moves.
	atOnce = 64
)

// udpConn is a Conn over one UDP socket for all interfaces: the kernel says on which one a packet came in.
type udpConn struct {
	conn       *net.UDPConn
	interfaces map[int]knownInterface // used by Receive alone
	in, out    *batch
	deadline   time.Time // of writes, as it was last set
	// frames go to who has no address yet; nil: such an answer is broadcast. They come from port.
	frames *Frames
	port   uint16
	// proxy: it hears the port of proxyDHCP.
	proxy bool
	// single: packets are read one by one, since a sandbox doesn't allow recvmmsg.
	single bool
}

type knownInterface struct {
	name      string
	addresses []netip.Addr
	directed  []netip.Addr // broadcast addresses of its subnets
	at        time.Time
}

// NewConn makes a Conn of a socket: bound to 0.0.0.0:67 it hears broadcasts, bound to one address only relays and renewals.
// The socket is closed with the Conn. Frames, which stay open, may be shared by many; nil: there are none.
func NewConn(c *net.UDPConn, f *Frames) (Conn, error) { return newConn(c, f, false) }

// NewProxyConn makes a Conn of a socket that hears the port of proxyDHCP.
func NewProxyConn(c *net.UDPConn) (Conn, error) { return newConn(c, nil, true) }

func newConn(c *net.UDPConn, f *Frames, proxy bool) (Conn, error) {
	if err := ipv4.NewPacketConn(c).SetControlMessage(ipv4.FlagInterface|ipv4.FlagDst, true); err != nil {
		return nil, fmt.Errorf("cannot learn on which interface DHCP requests to %s come in: %w", c.LocalAddr(), err)
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return nil, fmt.Errorf("cannot use the socket of %s: %w", c.LocalAddr(), err)
	}
	_ = c.SetReadBuffer(received) // As much as the system allows.
	u := &udpConn{
		conn: c, interfaces: map[int]knownInterface{}, frames: f, proxy: proxy,
		in: newBatch(unix.SYS_RECVMMSG, raw.Read), out: newBatch(unix.SYS_SENDMMSG, raw.Write),
	}
	if a, ok := c.LocalAddr().(*net.UDPAddr); ok {
		u.port = a.AddrPort().Port()
	}
	return u, nil
}

// Close makes Receive return net.ErrClosed.
func (u *udpConn) Close() error { return u.conn.Close() }

// Receive reads as many packets as there are, and waits for the first one where it's told to. It must not be called by two at
// once.
func (u *udpConn) Receive(ps []Packet, wait bool) (int, error) {
	if u.single {
		return u.receiveOne(ps, wait)
	}
	ps = ps[:min(len(ps), atOnce)]
	for i := range ps {
		u.in.put(i, ps[i].Data[:cap(ps[i].Data)])
	}
	n, err := u.in.move(0, len(ps), wait)
	if notAllowed(err) {
		u.single = true
		return u.receiveOne(ps, wait)
	}
	for i := range ps[:n] {
		ps[i].Data = ps[i].Data[:u.in.length(i)]
		ps[i].In = u.ingress(u.in.peer(i), u.in.oob(i))
	}
	return n, err
}

// notAllowed says that a sandbox doesn't let us move many packets by one call. It may mean as well that a firewall lets one out.
func notAllowed(err error) bool { return errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EPERM) }

// receiveOne reads one packet, and none where it isn't to wait: that would be another call.
func (u *udpConn) receiveOne(ps []Packet, wait bool) (int, error) {
	if !wait {
		return 0, nil
	}
	oob := u.in.control[0]
	n, nn, _, from, err := u.conn.ReadMsgUDPAddrPort(ps[0].Data[:cap(ps[0].Data)], oob)
	if err != nil {
		return 0, err
	}
	ps[0].Data, ps[0].In = ps[0].Data[:n], u.ingress(netip.AddrPortFrom(from.Addr().Unmap(), from.Port()), oob[:nn])
	return 1, nil
}

func (u *udpConn) ingress(from netip.AddrPort, oob []byte) Ingress {
	in := Ingress{Proxy: u.proxy, From: from}
	index, to, ok := pktinfo(oob)
	if !ok {
		return in
	}
	i := u.interfaceOf(index)
	in.Index, in.Interface, in.Addresses = index, i.name, i.addresses
	in.To = i.unicast(to)
	return in
}

// pktinfo reads where a packet came in, and which address it was sent to (ip(7), IP_PKTINFO).
func pktinfo(oob []byte) (index int, to netip.Addr, ok bool) {
	for len(oob) > 0 {
		h, data, rest, err := unix.ParseOneSocketControlMessage(oob)
		if err != nil {
			return 0, netip.Addr{}, false
		}
		if h.Level == unix.IPPROTO_IP && h.Type == unix.IP_PKTINFO && len(data) >= unix.SizeofInet4Pktinfo {
			const address = 8
			return int(binary.NativeEndian.Uint32(data)), netip.AddrFrom4([4]byte(data[address:])), true
		}
		oob = rest
	}
	return 0, netip.Addr{}, false
}

// Send puts packets onto the wire: a broadcast on the interface of its request, anything else by the kernel's routes. Each
// gets its own error: that one can't be sent keeps no other from it.
func (u *udpConn) Send(out []Outgoing) {
	from := 0
	for i := range out {
		if u.framed(&out[i]) {
			u.batches(out[from:i])
			from = i + 1
		}
	}
	u.batches(out[from:])
}

// framed says whether a packet has left as a frame. One that is to, and can't, is broadcast.
func (u *udpConn) framed(o *Outgoing) bool {
	if o.Hardware == ([6]byte{}) {
		return false
	}
	if u.frames != nil && u.frames.send(o, netip.AddrPortFrom(o.From, u.port)) == nil {
		return true
	}
	o.To = netip.AddrPortFrom(everyone(), o.To.Port())
	return false
}

func (u *udpConn) batches(out []Outgoing) {
	for len(out) > 0 {
		n := min(len(out), atOnce)
		u.send(out[:n])
		out = out[n:]
	}
}

func (u *udpConn) send(out []Outgoing) {
	for i := range out {
		u.out.put(i, out[i].Data)
		u.out.address(i, &out[i])
	}
	if now := time.Now(); u.deadline.Sub(now) < sendTimeout {
		u.deadline = now.Add(2 * sendTimeout) // Set once a second, not once a packet.
		_ = u.conn.SetWriteDeadline(u.deadline)
	}
	for done := 0; done < len(out); {
		n, err := u.out.move(done, len(out), true)
		done += n
		if err == nil || done == len(out) {
			continue
		}
		if notAllowed(err) {
			_, _, err = u.conn.WriteMsgUDPAddrPort(out[done].Data, u.out.control[done], out[done].To)
		}
		if err != nil { // It's this one's: those behind it are somebody else's.
			out[done].Err = fmt.Errorf("cannot send %d bytes to %s: %w", len(out[done].Data), out[done].To, err)
		}
		done++
	}
}

func (u *udpConn) interfaceOf(index int) knownInterface {
	known, ok := u.interfaces[index]
	if ok && time.Since(known.at) < interfacesFor {
		return known
	}
	known = readInterface(index)
	u.interfaces[index] = known
	return known
}

func readInterface(index int) knownInterface {
	k := knownInterface{at: time.Now()}
	i, err := net.InterfaceByIndex(index)
	if err != nil {
		return k
	}
	k.name = i.Name
	as, err := i.Addrs()
	if err != nil {
		return k
	}
	for _, a := range as {
		p, err := netip.ParsePrefix(a.String())
		if err != nil || !p.Addr().Is4() {
			continue
		}
		k.addresses = append(k.addresses, p.Addr())
		k.directed = append(k.directed, broadcastOf(p))
	}
	return k
}

// unicast gives the address that a packet was sent to; invalid for broadcasts, which nothing can be sent from.
func (k knownInterface) unicast(to netip.Addr) netip.Addr {
	if to == everyone() || to.IsMulticast() || to.IsUnspecified() {
		return netip.Addr{}
	}
	if !slices.Contains(k.addresses, to) && slices.Contains(k.directed, to) {
		return netip.Addr{}
	}
	return to
}

// everyone on a link.
func everyone() netip.Addr { return netip.AddrFrom4([4]byte{255, 255, 255, 255}) }
