package netboxipaddress

import (
	"context"
	"fmt"
	"net/netip"
	"slices"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// reasonServed is the reason of the source that gave an address.
const reasonServed = "Served"

// An origin is where an address was just taken from, and what was passed over for it.
type origin struct {
	parent  netbox.Parent
	sources []v1alpha1.SourceObservation
}

// showOrigin puts on a resource where its address is from: what was said before as long as that fits, else what was just noted, else the first
// of its sources that fits. It's a nicety: what can't be read is left out.
func (e *external) showOrigin(ctx context.Context, mg *v1alpha1.NetBoxIPAddress, now *v1alpha1.NetBoxIPAddressObservation, before v1alpha1.NetBoxIPAddressObservation) {
	if served(before.Sources) {
		now.Sources = before.Sources
	}
	if now.Prefix, now.Range = prefixOf(nil, before.Prefix, *e.record), rangeOf(before.Range, *e.record); now.Prefix != nil || now.Range != nil {
		e.connector.origins.forget(mg.GetUID())
		e.hear(*now)
		return
	}
	from, ok := e.connector.origins.get(mg.GetUID())
	parents := []netbox.Parent{from.parent}
	if ok {
		now.Sources = from.sources
	} else {
		parents = e.knownSources(ctx, mg.Spec.ForProvider, before.Address == "")
	}
	now.Prefix = prefixOf(parents, before.Prefix, *e.record)
	if i := slices.IndexFunc(parents, func(p netbox.Parent) bool { return p.Kind == netbox.ParentRange && gave(p, *e.record) }); i >= 0 && now.Prefix == nil {
		p := parents[i]
		now.Range = &v1alpha1.RangeObservation{
			ID: p.ID, Start: netip.PrefixFrom(p.First, p.Prefix.Bits()).String(), End: netip.PrefixFrom(p.Last, p.Prefix.Bits()).String(),
		}
	}
}

// hear has the source of an address kept in sight, as status names it: how full it is stays known without a request for each resource.
func (e *external) hear(o v1alpha1.NetBoxIPAddressObservation) {
	p := netbox.Parent{Kind: netbox.ParentPrefix, VRF: e.record.VRF}
	if o.Range != nil {
		first, ferr := netip.ParsePrefix(o.Range.Start)
		last, lerr := netip.ParsePrefix(o.Range.End)
		if ferr != nil || lerr != nil {
			return
		}
		p.Kind, p.ID, p.Prefix, p.First, p.Last = netbox.ParentRange, o.Range.ID, first.Masked(), first.Addr(), last.Addr()
	} else if n, err := netip.ParsePrefix(o.Prefix.CIDR); err == nil {
		p.ID, p.Prefix = o.Prefix.ID, n
	}
	if p.ID != 0 {
		e.connector.stocks.heard(e, p)
	}
}

// knownSources are all prefixes and ranges of the sources; of a fixed address that is new, the prefix that holds it.
func (e *external) knownSources(ctx context.Context, p v1alpha1.NetBoxIPAddressParameters, isNew bool) []netbox.Parent {
	var out []netbox.Parent
	if p.Address != "" && isNew {
		around, err := e.netbox.FindAround(ctx, e.record.Address.Addr(), vrfRef(p.VRF))
		if err == nil {
			_, err = e.allowedAll(around, deref(p.DNSName))
		}
		if err == nil {
			out = append(out, around)
		}
	}
	for _, f := range p.From {
		if found, err := e.resolve(ctx, f, deref(p.DNSName)); err == nil {
			out = append(out, found...)
		}
	}
	return out
}

// served says that sources are those of an address that was given.
func served(sources []v1alpha1.SourceObservation) bool {
	return slices.ContainsFunc(sources, func(s v1alpha1.SourceObservation) bool { return s.Reason == reasonServed })
}

// unsourced says of an address that was given that it's of none of the sources that spec names by now, for a person; "" where it may be
// of one, or nobody knows. It stays: a machine uses it.
func unsourced(mg *v1alpha1.NetBoxIPAddress) string {
	p, o := mg.Spec.ForProvider, mg.Status.AtProvider
	from := ""
	switch {
	case o.Range != nil:
		from = fmt.Sprintf("the range %s to %s", o.Range.Start, o.Range.End)
	case o.Prefix != nil:
		from = fmt.Sprintf("prefix %s", o.Prefix.CIDR)
	}
	if from == "" || len(p.From) == 0 || slices.ContainsFunc(p.From, func(f v1alpha1.AddressSource) bool { return mayBeOf(f, o) }) {
		return ""
	}
	return fmt.Sprintf("the address is from %s, which spec.forProvider.from doesn't name any more: it stays; for an address from elsewhere make another NetBoxIPAddress", from)
}

// mayBeOf says whether an address may be of a source, by what status says of it alone.
func mayBeOf(f v1alpha1.AddressSource, o v1alpha1.NetBoxIPAddressObservation) bool {
	a, _, seen := lastSeen(o)
	switch p, r := f.Prefix, f.Range; {
	case !seen || filters(f):
		return true
	case p != nil && p.ID != nil:
		return o.Prefix == nil || o.Prefix.ID == 0 || o.Prefix.ID == *p.ID
	case p != nil:
		n, err := netip.ParsePrefix(p.CIDR)
		return err != nil || (n.Contains(a.Addr()) && mayBeTable(p.VRF, o.VRF))
	case r != nil && r.ID != nil:
		return o.Range == nil || o.Range.ID == *r.ID
	case r != nil && o.Range != nil:
		first, err := netip.ParsePrefix(r.Start)
		was, werr := netip.ParsePrefix(o.Range.Start)
		return err != nil || werr != nil || (first.Addr() == was.Addr() && mayBeTable(r.VRF, o.VRF))
	}
	return true
}

// mayBeTable says whether a selector may mean a table that status names, which doesn't say its RD.
func mayBeTable(s *v1alpha1.VRFSelector, o *v1alpha1.VRFObservation) bool {
	if s == nil || s.RD != "" {
		return true
	}
	if o == nil {
		return vrfRef(s).Matches(nil)
	}
	return vrfRef(s).Matches(&netbox.VRF{ID: o.ID, Name: o.Name})
}

// gave says whether an address may be from a parent.
func gave(p netbox.Parent, ip netbox.IPAddress) bool {
	return p.Contains(ip.Address.Addr()) && sameTable(p.VRF, ip.VRF)
}

// prefixOf is what status says of the prefix that an address came from: what it said before as long as that fits, else the first source
// that fits, else nil. A CIDR alone says enough; its number is filled in where it's known.
func prefixOf(sources []netbox.Parent, before *v1alpha1.PrefixObservation, ip netbox.IPAddress) *v1alpha1.PrefixObservation {
	if before != nil && before.ID != 0 {
		if p, err := netip.ParsePrefix(before.CIDR); err == nil && p.Contains(ip.Address.Addr()) {
			return before
		}
	}
	for _, s := range sources {
		if gave(s, ip) {
			if s.Kind == netbox.ParentRange {
				return nil
			}
			return &v1alpha1.PrefixObservation{ID: s.ID, CIDR: s.Prefix.String(), VLAN: int32(s.VLAN)} //nolint:gosec // Bounded as it's decoded.
		}
	}
	return nil
}

// rangeOf is what status said of the range that an address came from, as long as that fits.
func rangeOf(before *v1alpha1.RangeObservation, ip netbox.IPAddress) *v1alpha1.RangeObservation {
	if before == nil {
		return nil
	}
	first, err := netip.ParsePrefix(before.Start)
	last, lerr := netip.ParsePrefix(before.End)
	p := netbox.Parent{Kind: netbox.ParentRange, First: first.Addr(), Last: last.Addr()}
	if err != nil || lerr != nil || !p.Contains(ip.Address.Addr()) {
		return nil
	}
	return before
}

func sameTable(a, b *netbox.VRF) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.ID == b.ID
}
