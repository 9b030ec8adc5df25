package foreign

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"time"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"

	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp/wire"
)

const (
	portServer, portClient = 67, 68
	// addressesFor is how long the addresses of an interface are believed.
	addressesFor = 5 * time.Second
	// longest frame that is read: no answer of DHCP is longer on a link.
	longest = 2048
)

// A frame is what a server sent, from the header of IP on.
type frame struct {
	data  []byte
	from  net.HardwareAddr
	index int
}

// filter lets only UDP from port 67 to port 68 by, unfragmented or first fragments: what servers say to machines. A relay's requests come from
// port 67, too, and each would wake us.
func filter() []bpf.Instruction {
	const protocol, fragment, destination = 9, 6, 2
	return []bpf.Instruction{
		bpf.LoadAbsolute{Off: protocol, Size: 1},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.IPPROTO_UDP, SkipFalse: 8},
		bpf.LoadAbsolute{Off: fragment, Size: 2},
		bpf.JumpIf{Cond: bpf.JumpBitsSet, Val: 0x1fff, SkipTrue: 6},
		bpf.LoadMemShift{Off: 0},
		bpf.LoadIndirect{Off: 0, Size: 2},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: portServer, SkipFalse: 3},
		bpf.LoadIndirect{Off: destination, Size: 2},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: portClient, SkipFalse: 1},
		bpf.RetConstant{Val: longest},
		bpf.RetConstant{Val: 0},
	}
}

// untagged lets only IPv4 by that is of no VLAN: what is tagged for an interface of this host is seen there, too, then without its tag. A tag of
// VLAN 0 says a priority alone (IEEE 802.1Q).
func untagged() []bpf.Instruction {
	const vlan = 0xfff
	return []bpf.Instruction{
		bpf.LoadExtension{Num: bpf.ExtProto},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.ETH_P_IP, SkipFalse: 4},
		bpf.LoadExtension{Num: bpf.ExtVLANTagPresent}, // Without one Linux before 6.2 may have the number of one that was taken off.
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: 0, SkipTrue: 3},
		bpf.LoadExtension{Num: bpf.ExtVLANTag},
		bpf.JumpIf{Cond: bpf.JumpBitsSet, Val: vlan, SkipFalse: 1},
		bpf.RetConstant{Val: 0},
	}
}

// open makes a socket that hears what servers say, on all interfaces, without taking anything from anybody. It takes CAP_NET_RAW.
func open() (*os.File, error) {
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0) // Deaf until the filter stands.
	if err != nil {
		return nil, fmt.Errorf("cannot open a packet socket: %w", err)
	}
	f := os.NewFile(uintptr(fd), "packet")
	raw, err := bpf.Assemble(append(untagged(), filter()...))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("cannot make a filter: %w", err), f.Close())
	}
	program := make([]unix.SockFilter, 0, len(raw))
	for _, r := range raw {
		program = append(program, unix.SockFilter{Code: r.Op, Jt: r.Jt, Jf: r.Jf, K: r.K})
	}
	err = unix.SetsockoptSockFprog(fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}) //nolint:gosec // Eighteen.
	_ = unix.SetsockoptInt(fd, unix.SOL_PACKET, unix.PACKET_IGNORE_OUTGOING, 1)                                                                 // Linux 4.20; without, our own answers are read and dropped.
	// Of all protocols, since those are shown a packet before IP is. What listens to IP alone has newer kernels (seen with Linux 6.18) copy
	// each packet of this host before IP takes it, which is a twentieth of what a packet costs, be it of boots or not.
	if err == nil {
		err = unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: networkOrder(unix.ETH_P_ALL)})
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("cannot listen to what DHCP servers say: %w", err), f.Close())
	}
	return f, nil
}

func networkOrder(v uint16) uint16 {
	return binary.NativeEndian.Uint16(binary.BigEndian.AppendUint16(nil, v))
}

// listenTo reads frames until ctx ends.
func listenTo(ctx context.Context, f *os.File, heard func(frame)) error {
	defer context.AfterFunc(ctx, func() { _ = f.Close() })()
	raw, err := f.SyscallConn()
	if err != nil {
		return fmt.Errorf("cannot read a packet socket: %w", err)
	}
	buf := make([]byte, longest)
	for {
		var n int
		var from unix.Sockaddr
		var rerr error
		err := raw.Read(func(fd uintptr) bool {
			n, from, rerr = unix.Recvfrom(int(fd), buf, 0)
			return !errors.Is(rerr, unix.EAGAIN) && !errors.Is(rerr, unix.EINTR)
		})
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return fmt.Errorf("cannot read a packet socket: %w", err)
		case rerr != nil: // Such as ENETDOWN, which an interface that goes leaves behind.
			time.Sleep(10 * time.Millisecond) //nolint:mnd // Not as fast as a broken socket fails.
			continue
		}
		// What a switch floods is another host's.
		if l, ok := from.(*unix.SockaddrLinklayer); ok && (l.Pkttype == unix.PACKET_BROADCAST || l.Pkttype == unix.PACKET_HOST || l.Pkttype == unix.PACKET_MULTICAST) {
			heard(frame{data: buf[:n], from: l.Addr[:min(int(l.Halen), len(l.Addr))], index: l.Ifindex})
		}
	}
}

// answer reads which server answers a client in a frame; false: none does.
func answer(ip []byte) (server netip.Addr, ok bool) {
	const least, ports = 20, 8
	if len(ip) < least || ip[0]>>4 != 4 || int(ip[0]&15)*4 < least {
		return netip.Addr{}, false
	}
	head := int(ip[0]&15) * 4
	if len(ip) < head+ports {
		return netip.Addr{}, false
	}
	udp := ip[head:]
	if binary.BigEndian.Uint16(udp) != portServer || binary.BigEndian.Uint16(udp[2:]) != portClient {
		return netip.Addr{}, false
	}
	var m wire.Message
	if m.Read(udp[ports:]) != nil || m.IsRequest() {
		return netip.Addr{}, false
	}
	switch m.Type() { //nolint:exhaustive // The others are a client's.
	case wire.Offer, wire.ACK, wire.NAK:
		server = m.Address(wire.OptionServer)
		return server, server.IsValid()
	}
	return netip.Addr{}, false
}

// An ear knows the interfaces that frames come from.
type ear struct {
	watch  *Watch
	places map[int]placed
}

type placed struct {
	Place

	at time.Time
}

func (e *ear) heard(f frame) {
	server, ok := answer(f.data)
	if !ok {
		return
	}
	p, known := e.places[f.index]
	if !known || time.Since(p.at) > addressesFor {
		p = placed{at: time.Now()}
		if i, err := net.InterfaceByIndex(f.index); err == nil {
			p.Place = placeOf(i)
		}
		e.places[f.index] = p
	}
	e.watch.Heard(server, f.from.String(), p.Place)
}
