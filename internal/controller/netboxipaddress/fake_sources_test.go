package netboxipaddress

import (
	"context"
	"net/netip"
	"slices"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

func (f *fakeNetBox) FindPrefix(_ context.Context, cidr string, vrf netbox.VRFRef) (netbox.Parent, error) {
	return f.pick("FindPrefix", f.prefixes, func(p netbox.Parent) bool { return p.Prefix.String() == cidr && vrf.Matches(p.VRF) })
}

func (f *fakeNetBox) GetPrefix(_ context.Context, number int64) (netbox.Parent, error) {
	return f.pick("GetPrefix", f.prefixes, func(p netbox.Parent) bool { return p.ID == number })
}

func (f *fakeNetBox) FindRange(_ context.Context, start string, vrf netbox.VRFRef) (netbox.Parent, error) {
	return f.pick("FindRange", f.ranges, func(p netbox.Parent) bool {
		return netip.PrefixFrom(p.First, p.Prefix.Bits()).String() == start && vrf.Matches(p.VRF)
	})
}

func (f *fakeNetBox) GetRange(_ context.Context, number int64) (netbox.Parent, error) {
	return f.pick("GetRange", f.ranges, func(p netbox.Parent) bool { return p.ID == number })
}

// FindAround takes the first that holds the address: what's longest is the client's to know.
func (f *fakeNetBox) FindAround(_ context.Context, a netip.Addr, vrf netbox.VRFRef) (netbox.Parent, error) {
	return f.pick("FindAround", f.prefixes, func(p netbox.Parent) bool { return p.Prefix.Contains(a) && vrf.Matches(p.VRF) })
}

func (f *fakeNetBox) pick(call string, all []netbox.Parent, is func(netbox.Parent) bool) (netbox.Parent, error) {
	if err := f.call(call); err != nil {
		return netbox.Parent{}, err
	}
	if i := slices.IndexFunc(all, is); i >= 0 {
		return all[i], nil
	}
	return netbox.Parent{}, kind(netbox.KindNotFound)
}

// FindPrefixes takes all that are of the family, or all.
func (f *fakeNetBox) FindPrefixes(_ context.Context, by netbox.Filter) ([]netbox.Parent, error) {
	return slices.DeleteFunc(slices.Clone(f.prefixes), func(p netbox.Parent) bool {
		return by.Family != 0 && p.Prefix.Addr().Is4() != (by.Family == 4)
	}), f.call("FindPrefixes")
}

func (f *fakeNetBox) FindRanges(context.Context, netbox.Filter) ([]netbox.Parent, error) {
	return f.ranges, f.call("FindRanges")
}

// Usage says what full does: nothing is free, or all that nobody has.
func (f *fakeNetBox) Usage(_ context.Context, p netbox.Parent) (netbox.Usage, error) {
	u := netbox.Usage{}
	u.Size, u.SizeKnown = p.Size()
	if !slices.Contains(f.full, p.ID) {
		u.Free = u.Size
		for _, ip := range f.records {
			if gave(p, ip) {
				u.Free--
			}
		}
	}
	return u, f.call("Usage")
}

// NextFree is what Allocate would give.
func (f *fakeNetBox) NextFree(_ context.Context, p netbox.Parent) (netip.Prefix, error) {
	a := p.Prefix.Addr()
	if p.Kind == netbox.ParentRange {
		a = p.First
	} else if !p.Pool {
		a = a.Next()
	}
	for range f.records {
		a = a.Next()
	}
	return netip.PrefixFrom(a, p.Prefix.Bits()), f.call("NextFree")
}

// PopulatedAround are of all tables: which one is meant is the client's to know.
func (f *fakeNetBox) PopulatedAround(_ context.Context, a netip.Addr, _ *netbox.VRF) ([]netbox.Parent, error) {
	return slices.DeleteFunc(slices.Clone(f.ranges), func(p netbox.Parent) bool { return !p.Populated || !p.Contains(a) }), f.call("PopulatedAround")
}

func inPrefix(id int64, cidr string) netbox.Parent {
	return netbox.Parent{Kind: netbox.ParentPrefix, ID: id, Prefix: netip.MustParsePrefix(cidr), Status: "active"}
}

func inRange(id int64, first, last string) netbox.Parent {
	f := netip.MustParsePrefix(first)
	return netbox.Parent{Kind: netbox.ParentRange, ID: id, Prefix: f.Masked(), First: f.Addr(), Last: netip.MustParsePrefix(last).Addr(), Status: "active"}
}
