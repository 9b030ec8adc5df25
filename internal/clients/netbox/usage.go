package netbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/netip"
	"net/url"
)

// mostShown is the most free addresses that NetBox lists at once.
const mostShown = 1000

// A Usage is how full a parent is.
type Usage struct {
	// Size is how many addresses it can give in all, and Free how many of them aren't taken. Known says of each whether it's known:
	// huge prefixes have no size, and of what is free beyond a thousand in a huge range only that is.
	Size, Free int64
	SizeKnown  bool
	// AtLeast says that more than Free may be free.
	AtLeast bool
}

// Used is how many addresses are taken, where that is known.
func (u Usage) Used() (int64, bool) { return max(0, u.Size-u.Free), u.SizeKnown && !u.AtLeast }

// Usage counts what is free in a parent just now. It needs the right to view addresses, and proves nothing about the next moment: only
// Allocate takes one.
//
// Where at most a thousand can be free, NetBox lists them, with all its rules. Else the records are counted, and the addresses of ranges that a
// prefix gives nothing of: what is in both counts twice, so less may seem free than is. What NetBox lists is the answer all the same as soon as
// that count leaves less than a thousand.
func (c *Client) Usage(ctx context.Context, p Parent) (Usage, error) {
	u := Usage{}
	u.Size, u.SizeKnown = p.Size()
	if p.Kind == ParentPrefix && (!u.SizeKnown || u.Size > mostShown) {
		taken, err := c.countIn(ctx, p)
		if err != nil {
			return u, err
		}
		if !u.SizeKnown {
			u.Free, u.AtLeast = mostShown, true
			return u, nil
		}
		if u.Free = u.Size - taken; u.Free > mostShown {
			withheld, err := c.withheld(ctx, p)
			if u.Free -= withheld; u.Free > mostShown || err != nil {
				return u, err
			}
		}
	}
	n, err := c.listFree(ctx, p)
	if err != nil {
		return u, err
	}
	u.Free = n
	u.AtLeast, err = c.cutShort(ctx, p, u)
	return u, err
}

// cutShort says whether more may be free than NetBox lists: it lists a thousand, or as many as its MAX_PAGE_SIZE says, and doesn't tell. That is
// known of lists that say so, and else it's a round number, which a count of a prefix's records contradicts.
func (c *Client) cutShort(ctx context.Context, p Parent, u Usage) (bool, error) {
	cut := c.cut.Load()
	switch {
	case u.Free == 0 || u.SizeKnown && u.Free >= u.Size:
		return false, nil
	case u.Free >= mostShown || u.Free == cut:
		return true, nil
	case cut != 0 || p.Kind != ParentPrefix || !u.SizeKnown || u.Free%50 != 0:
		return false, nil
	}
	taken, err := c.countIn(ctx, p)
	if err != nil || u.Size-taken <= u.Free {
		return false, err
	}
	withheld, err := c.withheld(ctx, p)
	return u.Size-taken-withheld > u.Free, err
}

// withheld counts the addresses of a prefix that it doesn't give since they are in a range that is marked as populated; before 4.3, which knows
// no such mark, in any range (421). A token that may not see ranges sees none.
func (c *Client) withheld(ctx context.Context, p Parent) (int64, error) {
	ref := refOf(p.VRF)
	all, err := c.parents.of(parentKey{kind: ParentRange, text: "in " + p.Prefix.String(), vrf: ref}, memoTTL, func() ([]Parent, error) {
		k := call{
			op: "find the ranges in prefix", subject: p.CIDR(), method: http.MethodGet, path: rangesPath, want: http.StatusOK,
			query: url.Values{"parent": {p.Prefix.String()}, "mark_populated": {"true"}, "fields": {"id,vrf,start_address,end_address,mark_populated"}},
		}
		ref.query(k.query)
		found, err := listAll(ctx, c, k, decodeWithheld)
		if IsForbidden(err) {
			return nil, nil
		}
		return found, err
	})
	n := int64(0)
	for _, r := range all {
		size, ok := r.Size()
		switch {
		case !r.Populated || vrfNumber(r.VRF) != vrfNumber(p.VRF) || !p.Contains(r.First) || !p.Contains(r.Last):
		case !ok || n+size < n:
			return math.MaxInt64, err
		default:
			n += size
		}
	}
	return n, err
}

// decodeWithheld reads a range, which is as if it were populated where it doesn't say whether it is.
func decodeWithheld(b []byte) (Parent, error) {
	p, err := decodeRange(b)
	p.Populated = p.Populated || !bytes.Contains(b, []byte(`"mark_populated"`))
	return p.bare(), err
}

// listFree counts the addresses that NetBox offers, up to a thousand.
func (c *Client) listFree(ctx context.Context, p Parent) (int64, error) {
	free, _, err := c.offers(ctx, p, mostShown)
	return int64(len(free)), err
}

// NextFree is the address that NetBox would give next, with the parent's mask. None is KindFull.
func (c *Client) NextFree(ctx context.Context, p Parent) (netip.Prefix, error) {
	free, k, err := c.offers(ctx, p, 1)
	if err != nil {
		return netip.Prefix{}, err
	}
	if len(free) == 0 {
		return netip.Prefix{}, k.failed(KindFull, "no address of it is free", nil)
	}
	a, err := decodeOffered(free[0])
	if err != nil || !p.Contains(a.Addr()) {
		return netip.Prefix{}, k.failed(KindUnexpected, "its answer has no address of it", err)
	}
	return a, nil
}

// decodeOffered reads one free address of a list, which fails where there's none in it.
func decodeOffered(b []byte) (netip.Prefix, error) {
	var w struct {
		Address text `json:"address"`
	}
	_ = json.Unmarshal(b, &w) // What isn't an object has no address.
	return netip.ParsePrefix(string(w.Address))
}

// decodeFree reads a list of free addresses, which is a plain one and not a page (300). It fails for what isn't a list: that isn't one that is empty.
func decodeFree(b []byte) ([]json.RawMessage, error) {
	var free []json.RawMessage
	if err := json.Unmarshal(b, &free); err != nil {
		return nil, err
	}
	if free == nil {
		return nil, errors.New("null isn't a list")
	}
	return free, nil
}

// offers are the first addresses that NetBox would give.
func (c *Client) offers(ctx context.Context, p Parent, most int) ([]json.RawMessage, call, error) {
	k := call{
		op: fmt.Sprintf("look for free addresses in %s", p.Kind), subject: p.CIDR(), method: http.MethodGet,
		path: p.path("available-ips/"), want: http.StatusOK, query: url.Values{"limit": {fmt.Sprint(most)}},
	}
	defer c.weigh(&k)()
	a, err := c.do(ctx, k)
	if err != nil {
		return nil, k, err
	}
	free, err := decodeFree(a.body)
	if err != nil {
		return nil, k, k.failed(KindUnexpected, "its answer isn't a list", err)
	}
	return free, k, nil
}

// countIn counts the records in a prefix, in its own table; in a global container those of all tables, as NetBox does there.
func (c *Client) countIn(ctx context.Context, p Parent) (int64, error) {
	k := call{
		op: "count the addresses in prefix", subject: p.CIDR(), method: http.MethodGet, path: addressesPath, want: http.StatusOK,
		query: url.Values{"parent": {p.Prefix.String()}, "limit": {"1"}, "fields": {"id,address"}},
	}
	if p.VRF != nil || p.Status != "container" {
		inTable(k.query, p.VRF)
	}
	l, err := list(ctx, c, k, decodeIPAddress)
	if err != nil {
		return 0, err
	}
	if l.Count < 0 || len(l.Items) > 0 && !p.Prefix.Contains(l.Items[0].Address.Addr()) {
		return 0, k.failed(KindUnexpected, "it doesn't count the addresses of a prefix", nil)
	}
	return int64(l.Count), nil
}

// inTable narrows a list to one table, nil being the global one.
func inTable(q url.Values, vrf *VRF) { refOf(vrf).query(q) }

// refOf names a table by its number, nil being the global one.
func refOf(vrf *VRF) VRFRef {
	if vrf == nil {
		return VRFRef{Global: true}
	}
	return VRFRef{ID: vrf.ID}
}
