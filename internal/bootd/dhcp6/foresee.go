package dhcp6

import (
	"encoding/hex"
	"fmt"
	"net/netip"
	"strings"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp6/wire"
)

// Solicit writes the SOLICIT that a machine would send in a guise, and gives the address on its link that it would send it from. Through a
// relay it's what the relay makes of it: link is an address on the link that it speaks for; invalid: there's no relay.
func Solicit(mac boot.MAC, g dhcp.Guise, link netip.Addr) ([]byte, netip.Addr, error) {
	hw, err := hex.DecodeString(strings.ReplaceAll(string(mac), ":", ""))
	if err != nil || len(hw) != macSize {
		return nil, netip.Addr{}, fmt.Errorf("MAC %q is malformed", mac)
	}
	from := netip.AddrFrom16([16]byte{0: 0xfe, 1: 0x80, 8: hw[0] ^ 2, 9: hw[1], 10: hw[2], 11: 0xff, 12: 0xfe, 13: hw[3], 14: hw[4], 15: hw[5]})
	w := &wire.Writer{}
	w.Begin(nil, wire.Solicit, [3]byte([]byte("why")), nil)
	w.Bytes(wire.OptionClientID, append([]byte{0, duidLL, 0, ethernet}, hw...))
	w.OpenIA(wire.OptionIANA, [4]byte(hw[2:]), 0, 0)
	w.Close()
	w.Bytes(wire.OptionRequest, []byte{0, wire.OptionDNS, 0, wire.OptionDomain, 0, wire.OptionNTP, 0, wire.OptionBootFile})
	class := classPXE
	if g.Client == dhcp.ClientHTTP {
		class = classHTTP
	}
	if g.Client != dhcp.ClientOS {
		text := fmt.Sprintf("%s:Arch:%05d:UNDI:003016", class, g.Arch)
		w.Bytes(wire.OptionVendorClass, append([]byte{0, 0, 1, 0x57, 0, byte(len(text))}, text...)) //nolint:gosec // Some thirty.
		w.Bytes(wire.OptionArchitecture, []byte{byte(g.Arch >> 8), byte(g.Arch & 0xff)})
		w.Bytes(wire.OptionNII, []byte{1, 3, 16})
	}
	if g.Client == dhcp.ClientIPXE {
		w.Bytes(wire.OptionUserClass, append([]byte{0, byte(len(classIPXE))}, classIPXE...))
	}
	if !link.IsValid() {
		return w.End(), from, nil
	}
	message := w.End()
	return wire.Forward(link, from, message), from, nil
}

// A Foreseen is what a request would be answered.
type Foreseen struct {
	Answer

	// Kind of the answer, and what is in it.
	Kind    wire.Type
	Address netip.Addr
	File    string
}

// Foresee says what a request would be answered, and what it asks as. It's what Respond says; nothing is sent, noted or counted. An error
// says that it isn't a request at all.
func Foresee(v View, request []byte, in Ingress) (Foreseen, dhcp.Guise, error) {
	m := &wire.Message{}
	if err := m.Read(request); err != nil {
		return Foreseen{}, dhcp.Guise{}, fmt.Errorf("cannot read the request: %w", err)
	}
	f := Foreseen{Answer: Respond(v, m, in, nil)}
	as := dhcp.Guise{Client: f.Facts.Client, Arch: f.Facts.Arch}
	if f.Packet == nil {
		return f, as, nil
	}
	reply := &wire.Message{}
	if err := reply.ReadReply(f.Packet); err != nil {
		return f, as, fmt.Errorf("cannot read what bootd would answer: %w", err)
	}
	f.Kind = reply.Type
	for ia := range reply.IAs() {
		for a := range ia.Addresses() {
			f.Address = a
		}
	}
	file, _ := reply.Options.Get(wire.OptionBootFile)
	f.File = string(file)
	return f, as, nil
}
