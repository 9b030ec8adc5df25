package netbox

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
)

// GetRange reads one IP range by its number. One that was found is remembered for a minute.
func (c *Client) GetRange(ctx context.Context, number int64) (Parent, error) {
	return c.getParent(ctx, Parent{Kind: ParentRange, ID: number}, decodeRange)
}

// PopulatedAround returns the IP ranges marked as populated that hold an address, in one table: that of a VRF, or the global one where vrf
// is nil. NetBox's own filter for that finds none whose mask isn't the address's (434).
func (c *Client) PopulatedAround(ctx context.Context, a netip.Addr, vrf *VRF) ([]Parent, error) {
	k := call{
		op: "find the ranges that hold address", subject: a.String(), method: http.MethodGet, path: rangesPath, want: http.StatusOK,
		query: url.Values{"mark_populated": {"true"}},
	}
	inTable(k.query, vrf)
	all, err := listAll(ctx, c, k, bare(decodeRange))
	return slices.DeleteFunc(all, func(p Parent) bool {
		return !p.Populated || !p.Contains(a) || vrfNumber(p.VRF) != vrfNumber(vrf)
	}), err
}

// FindRange returns the one IP range that begins with an address, given with its mask, in this table or in any. None is KindNotFound,
// several are KindAmbiguous. One that was found is remembered for a minute.
func (c *Client) FindRange(ctx context.Context, start string, vrf VRFRef) (Parent, error) {
	return one(c.parents.of(parentKey{kind: ParentRange, text: start, vrf: vrf}, memoTTL, func() ([]Parent, error) {
		k := call{
			op: "find" + vrf.in() + " the range that starts at", subject: start,
			method: http.MethodGet, path: rangesPath, want: http.StatusOK,
		}
		want, err := netip.ParsePrefix(start)
		if err != nil {
			return nil, invalid(k.op, start, "it must be an address with its mask, such as 10.77.0.100/24")
		}
		k.query = url.Values{"start_address": {want.String()}}
		all, err := listAll(ctx, c, k, bare(decodeRange))
		if err != nil {
			return nil, err
		}
		found := slices.DeleteFunc(all, func(p Parent) bool {
			return p.First != want.Addr() || p.Prefix != want.Masked()
		})
		if len(found) == 0 {
			return nil, c.otherMask(ctx, k, want)
		}
		return chooseParent(k, vrf, found)
	}))
}

// otherMask says of a range that isn't there whether one begins with that address, and has another mask: without one NetBox finds either (430).
func (c *Client) otherMask(ctx context.Context, k call, want netip.Prefix) error {
	k.query = url.Values{"start_address": {want.Addr().String()}}
	all, err := listAll(ctx, c, k, bare(decodeRange))
	if i := slices.IndexFunc(all, func(p Parent) bool { return p.First == want.Addr() }); err == nil && i >= 0 {
		return k.elsewhere(fmt.Sprintf("the one that starts there has another mask, /%d", all[i].Prefix.Bits()), nil)
	}
	return k.failed(KindNotFound, "NetBox has none, or the token may not see it", nil)
}
