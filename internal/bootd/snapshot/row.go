package snapshot

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net/netip"
	"reflect"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// own are the texts of a plan that are another machine's in no other.
func own(p *boot.Plan) []*string {
	return []*string{&p.Entry.Namespace, &p.Entry.Name, &p.EntryUID, &p.HostUID, &p.UUID, &p.Serial, &p.Hostname, &p.UserDataSecret, &p.UserDataDigest}
}

// numbers of a plan that are its own.
func numbers(p *boot.Plan) []*int64 { return []*int64{&p.InstallGeneration, &p.InstalledGeneration} }

// shapeOf a plan is the plan without what is its own.
func shapeOf(p *boot.Plan) *boot.Plan {
	shape := *p
	for _, t := range own(&shape) {
		*t = ""
	}
	for _, n := range numbers(&shape) {
		*n = 0
	}
	shape.MACs, shape.Since, shape.Network.Address = nil, time.Time{}, netip.Prefix{}
	if shape.Network.Six != nil {
		six := *shape.Network.Six
		six.Address = netip.Prefix{}
		shape.Network.Six = &six
	}
	return &shape
}

// shapes of plans, each by its number. Most plans have the shape of one before that has the same profile and network.
type shapes struct {
	texts   []string
	numbers map[string]uint64
	like    map[likeness]numbered
}

type likeness struct {
	network boot.Name
	profile string
	method  boot.Method
}

type numbered struct {
	shape  *boot.Plan
	number uint64
}

func newShapes() *shapes { return &shapes{numbers: map[string]uint64{}, like: map[likeness]numbered{}} }

func (s *shapes) number(p *boot.Plan) (uint64, error) {
	l := likeness{p.Network.Name, p.ProfileDigest, p.Method}
	if x, ok := s.like[l]; ok && reflect.DeepEqual(x.shape, p) {
		return x.number, nil
	}
	text, err := json.Marshal(p) //nolint:musttag // The domain's own names are the format.
	if err != nil {
		return 0, err
	}
	n, known := s.numbers[string(text)]
	if !known {
		n = uint64(len(s.texts))
		s.numbers[string(text)], s.texts = n, append(s.texts, string(text))
	}
	s.like[l] = numbered{p, n}
	return n, nil
}

// row appends what is a plan's own; dual: with a second address, where it has one.
func row(b []byte, p *boot.Plan, dual bool) []byte {
	for _, t := range own(p) {
		b = appendText(b, *t)
	}
	for _, n := range numbers(p) {
		b = binary.AppendVarint(b, *n)
	}
	b = binary.AppendUvarint(b, uint64(len(p.MACs)))
	for _, m := range p.MACs {
		b = appendText(b, string(m))
	}
	b = binary.AppendVarint(binary.AppendVarint(b, p.Since.Unix()), int64(p.Since.Nanosecond()))
	b = appendAddress(b, p.Network.Address)
	if !dual {
		return b
	}
	if p.Network.Six == nil {
		return appendAddress(b, netip.Prefix{})
	}
	return appendAddress(b, p.Network.Six.Address)
}

// appendAddress appends an address and the length of its mask; nothing for an invalid one.
func appendAddress(b []byte, p netip.Prefix) []byte {
	if !p.IsValid() {
		return appendText(b, "")
	}
	return appendText(b, string(append(p.Addr().AsSlice(), byte(p.Bits())))) //nolint:gosec // At most 128.
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// A reader takes a snapshot apart. Once it has failed it gives nothing more.
type reader struct {
	rest string
	err  error
}

func (r *reader) row(p *boot.Plan, dual bool) {
	for _, t := range own(p) {
		*t = r.text()
	}
	for _, n := range numbers(p) {
		*n = r.signed()
	}
	p.MACs = make([]boot.MAC, r.count(1))
	for i := range p.MACs {
		p.MACs[i] = boot.MAC(r.text())
	}
	seconds, nanoseconds := r.signed(), r.signed()
	p.Since = time.Unix(seconds, nanoseconds).UTC()
	p.Network.Address = r.address()
	if !dual {
		return
	}
	a := r.address()
	if p.Network.Six == nil || !a.IsValid() {
		p.Network.Six = nil
		return
	}
	six := *p.Network.Six // The shape's is that of all of its plans.
	six.Address, p.Network.Six = a, &six
}

// address reads one with its mask; invalid where nothing stands for it.
func (r *reader) address() netip.Prefix {
	text := r.text()
	if text == "" {
		return netip.Prefix{}
	}
	a, ok := netip.AddrFromSlice([]byte(text[:len(text)-1]))
	p := netip.PrefixFrom(a, int(text[len(text)-1]))
	if (!ok || !p.IsValid()) && r.err == nil {
		r.err = fmt.Errorf("%x is no address", text)
	}
	return p
}

func (r *reader) number() uint64 {
	n := uint64(0)
	for shift, i := uint(0), 0; i < len(r.rest) && i < binary.MaxVarintLen64; shift, i = shift+7, i+1 {
		c := r.rest[i]
		n |= uint64(c&0x7f) << shift
		if c < 0x80 {
			r.rest = r.rest[i+1:]
			return n
		}
	}
	r.fail()
	return 0
}

func (r *reader) signed() int64 {
	n := r.number()
	return int64(n>>1) ^ -int64(n&1) // Zigzag, as encoding/binary has it.
}

// leastRow is the least number of bytes that a row takes, or a shape.
const leastRow = 16

// count of what follows, each of it at least so many bytes long.
func (r *reader) count(least int) int {
	n := r.number()
	if n > uint64(len(r.rest)/least) { //nolint:gosec // A length.
		r.fail()
		return 0
	}
	return int(n) //nolint:gosec // At most what is left.
}

func (r *reader) text() string {
	n := r.count(1)
	s := r.rest[:n]
	r.rest = r.rest[n:]
	return s
}

func (r *reader) fail() {
	r.rest = ""
	if r.err == nil {
		r.err = errShort
	}
}
