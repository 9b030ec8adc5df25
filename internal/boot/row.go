package boot

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot/pieces"
)

// A row is what of a plan is its own, as one text: names, numbers, MACs and addresses. All else is its shape, which most machines of a site
// have in common. A row has a second address where its shape has a place in IPv6 beside.

// ownTexts of a plan are another machine's in no other.
func ownTexts(p *Plan) [9]*string {
	return [...]*string{&p.Entry.Namespace, &p.Entry.Name, &p.EntryUID, &p.HostUID, &p.UUID, &p.Serial, &p.Hostname, &p.UserDataSecret, &p.UserDataDigest}
}

// shapeInto puts a plan without what is its own into another one. It may have a place of its own in IPv6, for which there's room in six.
func shapeInto(shape *Plan, six *Place, p *Plan) {
	*shape = *p
	for _, t := range ownTexts(shape) {
		*t = ""
	}
	shape.InstallGeneration, shape.InstalledGeneration = 0, 0
	shape.MACs, shape.Since, shape.Network.Address = nil, time.Time{}, netip.Prefix{}
	if p.Network.Six != nil {
		*six = *p.Network.Six
		six.Address = netip.Prefix{}
		shape.Network.Six = six
	}
}

// appendRow appends a plan's row.
func appendRow(b []byte, p *Plan) []byte {
	for _, t := range ownTexts(p) {
		b = pieces.AppendText(b, *t)
	}
	b = binary.AppendVarint(binary.AppendVarint(b, p.InstallGeneration), p.InstalledGeneration)
	b = binary.AppendUvarint(b, uint64(len(p.MACs)))
	for _, m := range p.MACs {
		b = pieces.AppendText(b, string(m))
	}
	b = binary.AppendVarint(binary.AppendVarint(b, p.Since.Unix()), int64(p.Since.Nanosecond()))
	b = appendAddress(b, p.Network.Address)
	if p.Network.Six != nil {
		b = appendAddress(b, p.Network.Six.Address)
	}
	return b
}

// appendAddress appends an address and the length of its mask; nothing for an invalid one.
func appendAddress(b []byte, p netip.Prefix) []byte {
	if !p.IsValid() {
		return pieces.AppendText(b, "")
	}
	return pieces.AppendText(b, string(append(p.Addr().AsSlice(), byte(p.Bits())))) //nolint:gosec // At most 128.
}

// readRow fills in what is a plan's own, into one of its shape. It has room for its MACs already; six is room for a second place, nil: it's made.
func readRow(r *pieces.Reader, p *Plan, six *Place) {
	readOwn(r, p)
	if p.Network.Six == nil {
		return
	}
	if six == nil {
		six = new(Place)
	}
	*six = *p.Network.Six // The shape's is that of all of its plans.
	six.Address = readAddress(r)
	p.Network.Six = six
}

// readOwn reads all of a row but the second address.
func readOwn(r *pieces.Reader, p *Plan) {
	for _, t := range ownTexts(p) {
		*t = r.Text()
	}
	p.InstallGeneration, p.InstalledGeneration = r.Signed(), r.Signed()
	p.MACs = p.MACs[:0]
	for n := r.Count(1); n > 0; n-- {
		p.MACs = append(p.MACs, MAC(r.Text()))
	}
	seconds, nanoseconds := r.Signed(), r.Signed()
	p.Since = time.Unix(seconds, nanoseconds).UTC()
	p.Network.Address = readAddress(r)
}

// readAddress reads one with its mask; invalid where nothing stands for it.
func readAddress(r *pieces.Reader) netip.Prefix {
	text := r.Text()
	if text == "" {
		return netip.Prefix{}
	}
	a, ok := netip.Addr{}, true
	switch host := text[:len(text)-1]; len(host) {
	case 4:
		a = netip.AddrFrom4([4]byte([]byte(host)))
	case 16:
		a = netip.AddrFrom16([16]byte([]byte(host)))
	default:
		ok = false
	}
	p := netip.PrefixFrom(a, int(text[len(text)-1]))
	if !ok || !p.IsValid() {
		r.Fail(fmt.Errorf("%x is no address", text))
	}
	return p
}
