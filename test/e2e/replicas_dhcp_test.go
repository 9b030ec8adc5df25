package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/insomniacslk/dhcp/dhcpv4"
	"github.com/insomniacslk/dhcp/iana"
	"golang.org/x/sync/errgroup"

	"github.com/crossplane-contrib/provider-baremetal/test/lab"
)

// relay is the address of the case's own DHCP relay: no bootd has it.
const relay = "127.0.0.77"

// patience with a DHCP answer; silence is awaited for as long.
const patience = 2 * time.Second

// speakers are the programs that talk DHCP with a machine's MAC, by how a server tells them apart.
func speakers() map[string][]dhcpv4.Modifier {
	pxe := func(arch iana.Arch) []dhcpv4.Modifier {
		return []dhcpv4.Modifier{
			dhcpv4.WithOption(dhcpv4.OptClassIdentifier(fmt.Sprintf("PXEClient:Arch:%05d:UNDI:003000", arch))), dhcpv4.WithOption(dhcpv4.OptClientArch(arch)),
		}
	}
	return map[string][]dhcpv4.Modifier{
		"BIOS": pxe(iana.INTEL_X86PC), "UEFI": pxe(iana.EFI_X86_64),
		"iPXE": append(pxe(iana.INTEL_X86PC), dhcpv4.WithUserClass("iPXE", false), dhcpv4.WithGeneric(dhcpv4.GenericOptionCode(175), []byte{0xb1, 1, 1})),
		"OS":   {dhcpv4.WithRequestedOptions(dhcpv4.OptionSubnetMask, dhcpv4.OptionRouter, dhcpv4.OptionDomainNameServer, dhcpv4.OptionHostName)},
	}
}

// A reply is what of a DHCP answer must not depend on who gave it.
type reply struct {
	Header  string
	Options map[uint8]string
}

// sameReplies fails the case where bootds answer the same bytes differently, answer for another, or answer a stranger.
func (e *env) sameReplies(h *lab.Host, servers []netip.AddrPort) {
	e.t.Helper()
	for name, is := range speakers() {
		discover := e.relayed(dhcpv4.MessageTypeDiscover, h.MAC, is...)
		var diff string
		for range 2 { // A token knows its minute, which may turn between two answers.
			first, second := e.exchange(discover, servers[0]), e.exchange(discover, servers[1])
			if first == nil || second == nil {
				e.must(fmt.Errorf("%s: no OFFER: %v, %v", name, first, second))
			}
			if diff = cmp.Diff(normal(first, servers[0].Addr()), normal(second, servers[1].Addr())); diff == "" {
				break
			}
		}
		if diff != "" {
			e.t.Errorf("%s: the bootds offer different things:\n%s", name, diff)
		}
	}
	request := e.relayed(dhcpv4.MessageTypeRequest, h.MAC, append(speakers()["OS"],
		dhcpv4.WithOption(dhcpv4.OptServerIdentifier(servers[0].Addr().AsSlice())),
		dhcpv4.WithOption(dhcpv4.OptRequestedIPAddress(h.Machine.Status().Lease.Address.AsSlice())))...)
	if got := e.exchange(request, servers[0]); got == nil || got.MessageType() != dhcpv4.MessageTypeAck {
		e.t.Errorf("want an ACK of the bootd whose offer was taken, got %v", got)
	}
	stranger := e.relayed(dhcpv4.MessageTypeDiscover, net.HardwareAddr{2, 0, 0, 0xff, 0xff, 1}, speakers()["BIOS"]...)
	g := errgroup.Group{} // Silence takes as long as patience: it's listened to all at once.
	for _, q := range []struct {
		what   string
		packet []byte
		to     netip.AddrPort
	}{
		{"a request that is for another", request, servers[1]},
		{"a machine that isn't ours", stranger, servers[0]},
		{"a machine that isn't ours", stranger, servers[1]},
	} {
		g.Go(func() error {
			got, err := exchange(q.packet, q.to)
			if got != nil {
				err = fmt.Errorf("a bootd answers %s: %s", q.what, got.Summary())
			}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		e.t.Error(err)
	}
}

// normal takes a server's own address out of its answer.
func normal(p *dhcpv4.DHCPv4, server netip.Addr) reply {
	raw, own := server.As4(), []byte(server.String()+":")
	r := reply{Options: map[uint8]string{}}
	for code, v := range p.Options {
		v = bytes.ReplaceAll(v, raw[:], []byte("bootd"))
		r.Options[code] = string(bytes.ReplaceAll(v, own, []byte("bootd:")))
		if strings.TrimRight(string(v), "\x00") == server.String() { // Option 66 names the TFTP server by its address.
			r.Options[code] = "bootd"
		}
	}
	r.Header = fmt.Sprintf("%s xid %s flags %04x hops %d your %s client %s relay %s name %q file %q", p.OpCode, p.TransactionID, p.Flags, p.HopCount,
		p.YourIPAddr, p.ClientIPAddr, p.GatewayIPAddr, p.ServerHostName, bytes.ReplaceAll([]byte(p.BootFileName), own, []byte("bootd:")))
	return r
}

// relayed is a packet of a machine as the relay forwards it, which asks for the answer at the relay's own port (RFC 8357).
func (e *env) relayed(kind dhcpv4.MessageType, mac net.HardwareAddr, is ...dhcpv4.Modifier) []byte {
	e.t.Helper()
	p, err := dhcpv4.New(append([]dhcpv4.Modifier{
		dhcpv4.WithHwAddr(mac), dhcpv4.WithMessageType(kind), dhcpv4.WithGatewayIP(net.ParseIP(relay)),
		dhcpv4.WithOption(dhcpv4.OptRelayAgentInfo(
			dhcpv4.OptGeneric(dhcpv4.AgentCircuitIDSubOption, []byte("e2e/7")),
			dhcpv4.OptGeneric(dhcpv4.RelaySourcePortSubOption, nil),
			dhcpv4.OptGeneric(dhcpv4.LinkSelectionSubOption, netip.MustParsePrefix(lab.Prefix).Addr().Next().AsSlice()))),
	}, is...)...)
	e.must(err)
	p.HopCount = 1
	return p.ToBytes()
}

// exchange is exchange below; an error ends the case.
func (e *env) exchange(packet []byte, to netip.AddrPort) *dhcpv4.DHCPv4 {
	e.t.Helper()
	p, err := exchange(packet, to)
	e.must(err)
	return p
}

// exchange sends a packet to one bootd and returns its answer; nil: it was silent.
func exchange(packet []byte, to netip.AddrPort) (*dhcpv4.DHCPv4, error) {
	conn, err := (&net.ListenConfig{}).ListenPacket(context.Background(), "udp4", relay+":0")
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close() }()
	if _, err := conn.WriteTo(packet, net.UDPAddrFromAddrPort(to)); err != nil {
		return nil, err
	}
	if err := conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
		return nil, err
	}
	buf := make([]byte, 1<<16)
	n, _, err := conn.ReadFrom(buf)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return nil, nil //nolint:nilnil // Silence is an answer here, not an error.
	}
	if err != nil {
		return nil, err
	}
	return dhcpv4.FromBytes(buf[:n])
}
