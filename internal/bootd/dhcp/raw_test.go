package dhcp

import (
	"bytes"
	"encoding/binary"
	"net/netip"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// raw is a DHCP message as it's on the wire, read and edited here without any of the code under test.
type raw []byte

const (
	rawFlags, rawCiaddr, rawGiaddr, rawChaddr, rawSname, rawFile, rawOptions = 10, 12, 24, 28, 44, 108, 240
)

// rawOption is one option with its place: from its code to behind its value.
type rawOption struct {
	code     byte
	from, to int
}

// options lists those behind the cookie, and whether a whole one stands everywhere up to the end mark.
func (p raw) options() (list []rawOption, end int, ok bool) {
	for i := rawOptions; i < len(p); {
		switch {
		case p[i] == 0:
			i++
		case p[i] == 255:
			return list, i, true
		case i+1 >= len(p) || i+2+int(p[i+1]) > len(p):
			return list, i, false
		default:
			n := 2 + int(p[i+1])
			list = append(list, rawOption{p[i], i, i + n})
			i += n
		}
	}
	return list, len(p), false
}

// get joins all values of an option (RFC 3396); false: it isn't there.
func (p raw) get(code byte) ([]byte, bool) {
	list, _, _ := p.options()
	var v []byte
	found := false
	for _, o := range list {
		if o.code == code {
			v, found = append(v, p[o.from+2:o.to]...), true
		}
	}
	return v, found
}

// without is the packet less one kind of option.
func (p raw) without(code byte) raw {
	list, end, _ := p.options()
	out := bytes.Clone(p[:min(len(p), rawOptions)])
	for _, o := range list {
		if o.code != code {
			out = append(out, p[o.from:o.to]...)
		}
	}
	return append(out, p[end:]...)
}

// with is the packet with one option, at the end.
func (p raw) with(code byte, value ...byte) raw {
	p = p.without(code)
	_, end, _ := p.options()
	out := append(bytes.Clone(p[:end]), code, byte(len(value)&255))
	out = append(out, value...)
	if end == len(p) {
		return append(out, 255)
	}
	return append(out, p[end:]...)
}

// at writes over the header.
func (p raw) at(offset int, b ...byte) raw {
	out := bytes.Clone(p)
	copy(out[offset:], b)
	return out
}

// mac is the hardware address, where it's one that a machine may have.
func (p raw) mac() (boot.MAC, bool) {
	if len(p) < rawOptions || p[2] != 6 {
		return "", false
	}
	const digits = "0123456789abcdef"
	var b []byte
	for _, o := range p[rawChaddr : rawChaddr+6] {
		b = append(b, digits[o>>4], digits[o&15])
	}
	m, err := boot.ParseMAC(string(b))
	return m, err == nil
}

// wanted is the address of option 50.
func (p raw) wanted() (netip.Addr, bool) {
	v, _ := p.get(50)
	a, ok := netip.AddrFromSlice(v)
	return a, ok && a.Is4() && !a.IsUnspecified()
}

// most is how long an answer may be: option 57 less the headers of IP and UDP, at least 576 and at most what a link takes.
func (p raw) most() int {
	size := 576
	if v, _ := p.get(57); len(v) == 2 {
		size = max(size, int(binary.BigEndian.Uint16(v)))
	}
	return min(size, 1500) - 28
}
