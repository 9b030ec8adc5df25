// Package pool lends temporary addresses to machines that nobody knows: which address comes first for whom, and who has which. It
// opens no sockets and reads no clock.
package pool

import (
	"encoding/binary"
	"hash/fnv"
	"net/netip"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// looks is how many addresses are looked at for one machine at most: a range that is nearly full costs no more than that.
const looks = 64

// Choose gives the first address for a machine that may be lent, of the ranges in their order; false: none of those that were looked at.
// Where it begins is by the machine's MAC, so that a machine which comes again finds its own, and two seldom want one.
func Choose(ranges []boot.Pool, mac boot.MAC, may func(netip.Addr) bool) (netip.Addr, bool) {
	all := uint32(0)
	for _, r := range ranges {
		all += size(r)
	}
	if all == 0 {
		return netip.Addr{}, false
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(mac))
	mixed := h.Sum64()
	at, step := uint32(mixed%uint64(all)), uint32(mixed>>32)%all+1 //nolint:gosec // Each less than all.
	for common(step, all) != 1 {                                   // Then every address comes once.
		step++
	}
	for range min(all, looks) {
		if a := nth(ranges, at); may(a) {
			return a, true
		}
		at = uint32((uint64(at) + uint64(step)) % uint64(all)) //nolint:gosec // Less than all.
	}
	return netip.Addr{}, false
}

// Of gives the range that an address is of.
func Of(ranges []boot.Pool, a netip.Addr) (boot.Pool, bool) {
	for _, r := range ranges {
		if r.Contains(a) {
			return r, true
		}
	}
	return boot.Pool{}, false
}

func size(r boot.Pool) uint32 {
	if !r.Start.Is4() || !r.End.Is4() || r.End.Less(r.Start) {
		return 0
	}
	return number(r.End) - number(r.Start) + 1
}

func nth(ranges []boot.Pool, n uint32) netip.Addr {
	for _, r := range ranges {
		s := size(r)
		if n < s {
			return address(number(r.Start) + n)
		}
		n -= s
	}
	return netip.Addr{}
}

func number(a netip.Addr) uint32 {
	b := a.As4()
	return binary.BigEndian.Uint32(b[:])
}

func address(n uint32) netip.Addr {
	var b [4]byte
	binary.BigEndian.PutUint32(b[:], n)
	return netip.AddrFrom4(b)
}

// common is the greatest common divisor.
func common(a, b uint32) uint32 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
