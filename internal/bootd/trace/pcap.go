package trace

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"net/netip"
	"strings"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// What a pcap begins with, and the headers before each payload (https://www.ietf.org/archive/id/draft-ietf-opsawg-pcap-04.html).
const (
	pcapMagic = 0xa1b2c3d4 // Times are in microseconds.
	snapLen   = 1 << 16
	ethernet  = 1 // LINKTYPE_ETHERNET

	ethernetSize, ipSize, ip6Size, udpSize = 14, 20, 40, 8
)

// WritePCAP writes packets as tcpdump and Wireshark read them. A socket tells nothing of what lies around a datagram: the headers of
// Ethernet and IP are made here. The machine has its MAC, also where a relay spoke for it, and bootd has 02:00:00:00:00:01.
func WritePCAP(w io.Writer, mac boot.MAC, packets []Packet) error {
	b := make([]byte, 0, 24)
	b = binary.LittleEndian.AppendUint32(b, pcapMagic)
	b = binary.LittleEndian.AppendUint16(b, 2) // Version 2.4.
	b = binary.LittleEndian.AppendUint16(b, 4)
	b = append(b, make([]byte, 8)...)
	b = binary.LittleEndian.AppendUint32(b, snapLen)
	b = binary.LittleEndian.AppendUint32(b, ethernet)
	theirs := [6]byte{}
	if hw, err := hex.DecodeString(strings.ReplaceAll(string(mac), ":", "")); err == nil {
		copy(theirs[:], hw)
	}
	for _, p := range packets {
		b = appendPacket(b, theirs, p)
	}
	if _, err := w.Write(b); err != nil {
		return fmt.Errorf("cannot write the packets: %w", err)
	}
	return nil
}

func appendPacket(b []byte, theirs [6]byte, p Packet) []byte {
	ip, kind := ipHeader(p)
	headers := ethernetSize + len(ip) + udpSize
	us := p.At.UnixNano() / int64(time.Microsecond)
	b = binary.LittleEndian.AppendUint32(b, uint32(us/1e6)) //nolint:gosec // Good until 2106.
	b = binary.LittleEndian.AppendUint32(b, uint32(us%1e6))
	b = binary.LittleEndian.AppendUint32(b, uint32(headers+len(p.Data)))              //nolint:gosec // At most a packet's.
	b = binary.LittleEndian.AppendUint32(b, uint32(headers+max(p.Size, len(p.Data)))) //nolint:gosec // The same.

	from, to := theirs, [6]byte{2, 0, 0, 0, 0, 1}
	if p.Sent {
		from, to = to, from
	}
	switch at := p.To.Addr(); {
	case at == netip.AddrFrom4([4]byte{255, 255, 255, 255}):
		to = [6]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}
	case at.Is6() && at.IsMulticast(): // RFC 2464 §7.
		v := at.As16()
		to = [6]byte{0x33, 0x33, v[12], v[13], v[14], v[15]}
	}
	b = append(append(b, to[:]...), from[:]...)
	b = append(append(b, kind[:]...), ip...)

	b = binary.BigEndian.AppendUint16(b, p.From.Port())
	b = binary.BigEndian.AppendUint16(b, p.To.Port())
	b = binary.BigEndian.AppendUint16(b, uint16(min(udpSize+max(p.Size, len(p.Data)), 1<<16-1))) //nolint:gosec // As it says.
	at := len(b)
	b = append(append(b, 0, 0), p.Data...) // IPv4 takes it for none: over what was blotted out it would be another one than that which was sent.
	if kind == ethernetIPv6 {
		binary.BigEndian.PutUint16(b[at:], checksum6(ip, b[at-udpSize+2:]))
	}
	return b
}

// checksum6 of a packet of UDP, which in IPv6 has one (RFC 8200 §8.1).
func checksum6(ip, udp []byte) uint16 {
	pseudo := append([]byte{}, ip[8:ip6Size]...)
	pseudo = append(pseudo, 0, 0, udp[4], udp[5], 0, 0, 0, ip[6])
	pseudo = append(append(pseudo, udp...), 0) // An odd octet is padded.
	if sum := checksum(pseudo); sum != 0 {
		return sum
	}
	return 0xffff
}

// ethernetIPv6 is IPv6 in Ethernet's words.
var ethernetIPv6 = [2]byte{0x86, 0xdd} //nolint:gochecknoglobals // A constant.

// ipHeader makes the header of IP, and says which protocol that is in Ethernet's words.
func ipHeader(p Packet) (ip []byte, kind [2]byte) {
	const protocol, hops = 17, 64 // UDP
	udp := udpSize + max(p.Size, len(p.Data))
	if isSix(p.From) || isSix(p.To) {
		ip = make([]byte, ip6Size)
		ip[0], ip[6], ip[7] = 0x60, protocol, hops
		binary.BigEndian.PutUint16(ip[4:], uint16(min(udp, 1<<16-1))) //nolint:gosec // As it says.
		src, dst := p.From.Addr().As16(), p.To.Addr().As16()
		copy(ip[8:], src[:])
		copy(ip[24:], dst[:])
		return ip, ethernetIPv6
	}
	ip = make([]byte, ipSize)
	ip[0], ip[8], ip[9] = 0x45, hops, protocol                           // Twenty octets.
	binary.BigEndian.PutUint16(ip[2:], uint16(min(ipSize+udp, 1<<16-1))) //nolint:gosec // As it says.
	src, dst := four(p.From), four(p.To)
	copy(ip[12:], src[:])
	copy(ip[16:], dst[:])
	binary.BigEndian.PutUint16(ip[10:], checksum(ip))
	return ip, [2]byte{8, 0}
}

func four(a netip.AddrPort) [4]byte {
	if ip := a.Addr().Unmap(); ip.Is4() {
		return ip.As4()
	}
	return [4]byte{}
}

// checksum of what the header of IP or of UDP is over (RFC 1071).
func checksum(b []byte) uint16 {
	sum := uint32(0)
	for i := 0; i+1 < len(b); i += 2 {
		sum += uint32(binary.BigEndian.Uint16(b[i:]))
	}
	for sum > 0xffff {
		sum = sum>>16 + sum&0xffff
	}
	return ^uint16(sum)
}
