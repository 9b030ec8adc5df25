package netbox

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// A parentKey is what parents were looked for by.
type parentKey struct {
	kind   ParentKind
	text   string
	vrf    VRFRef
	number int64
}

// FindPrefix returns the one prefix with this CIDR in this table, or in any. None is KindNotFound; several, as NetBox allows within one
// table and across VRFs of one name, are KindAmbiguous. One that was found is remembered for a minute.
func (c *Client) FindPrefix(ctx context.Context, cidr string, vrf VRFRef) (Parent, error) {
	return one(c.parents.of(parentKey{kind: ParentPrefix, text: cidr, vrf: vrf}, memoTTL, func() ([]Parent, error) {
		k := call{
			op: "find" + vrf.in() + " the prefix", subject: cidr,
			method: http.MethodGet, path: "ipam/prefixes/", want: http.StatusOK,
		}
		want, err := netip.ParsePrefix(cidr)
		if err != nil || want != want.Masked() {
			return nil, invalid(k.op, cidr, "it must be a network such as 10.77.0.0/24, without host bits")
		}
		// All tables are read, for the sentence to say where it is, if not here.
		k.query = url.Values{"prefix": {want.String()}}
		all, err := listAll(ctx, c, k, bare(decodePrefix))
		if err != nil {
			return nil, err
		}
		return chooseParent(k, vrf, slices.DeleteFunc(all, func(p Parent) bool { return p.Prefix != want }))
	}))
}

// one is the first of what was found.
func one(found []Parent, err error) (Parent, error) {
	if err != nil || len(found) == 0 {
		return Parent{}, err
	}
	return found[0], nil
}

// chooseParent is the one that is in the table, of all that are what was looked for. Pure.
func chooseParent(k call, vrf VRFRef, all []Parent) ([]Parent, error) {
	found := slices.DeleteFunc(slices.Clone(all), func(p Parent) bool { return !vrf.Matches(p.VRF) })
	switch {
	case len(found) == 1:
		return found, nil
	case len(found) == 0 && len(all) > 0:
		return nil, k.elsewhere("it is in "+listed(tablesOf(all), " and in ")+", not there", nil)
	case len(found) == 0:
		return nil, k.failed(KindNotFound, "NetBox has none, or the token may not see it", nil)
	case vrf.Any() && len(tablesOf(found)) == len(found):
		return nil, k.failed(KindAmbiguous, severalTables(found), nil)
	}
	ids := make([]string, 0, len(found))
	for _, p := range ordered(found) {
		ids = append(ids, fmt.Sprint(p.ID))
	}
	return nil, k.failed(KindAmbiguous, "NetBox has several, numbers "+strings.Join(ids, ", ")+"; name one by its id", nil)
}

// GetPrefix reads one prefix by its number. One that was found is remembered for a minute.
func (c *Client) GetPrefix(ctx context.Context, number int64) (Parent, error) {
	return c.getParent(ctx, Parent{Kind: ParentPrefix, ID: number}, decodePrefix)
}

func (c *Client) getParent(ctx context.Context, want Parent, decode func([]byte) (Parent, error)) (Parent, error) {
	return one(c.parents.of(parentKey{kind: want.Kind, number: want.ID}, memoTTL, func() ([]Parent, error) {
		k := call{
			op: fmt.Sprintf("read %s number", want.Kind), subject: fmt.Sprint(want.ID),
			method: http.MethodGet, path: want.path(""), want: http.StatusOK,
		}
		a, err := c.do(ctx, k)
		if err != nil {
			return nil, err
		}
		p, err := decode(a.body)
		if err != nil || p.ID != want.ID {
			return nil, k.failed(KindUnexpected, fmt.Sprintf("its answer isn't that %s", want.Kind), err)
		}
		return []Parent{p.bare()}, nil
	}))
}

// FindAround returns the longest prefix that holds an address in this table. Where any table will do, it must be held in one alone:
// several are KindAmbiguous. None is KindNotFound. What was found is remembered for a minute.
func (c *Client) FindAround(ctx context.Context, a netip.Addr, vrf VRFRef) (Parent, error) {
	return one(c.parents.of(parentKey{kind: ParentPrefix, text: "holds " + a.String(), vrf: vrf}, memoTTL, func() ([]Parent, error) {
		k := call{
			op: "find" + vrf.in() + " a prefix that holds address", subject: a.String(),
			method: http.MethodGet, path: "ipam/prefixes/", want: http.StatusOK, query: url.Values{"contains": {a.String()}},
		}
		all, err := listAll(ctx, c, k, bare(decodePrefix))
		if err != nil {
			return nil, err
		}
		return chooseAround(k, vrf, slices.DeleteFunc(all, func(p Parent) bool { return !p.Prefix.Contains(a) }))
	}))
}

// chooseAround picks the longest prefix of the one table. Of two alike in one table, either says as much. Pure.
func chooseAround(k call, vrf VRFRef, all []Parent) ([]Parent, error) {
	longest := map[int64]Parent{}
	for _, p := range ordered(all) {
		if old, ok := longest[vrfNumber(p.VRF)]; vrf.Matches(p.VRF) && (!ok || old.Prefix.Bits() < p.Prefix.Bits()) {
			longest[vrfNumber(p.VRF)] = p
		}
	}
	var found []Parent
	for _, p := range longest {
		found = append(found, p)
	}
	slices.SortFunc(found, func(a, b Parent) int { return int(vrfNumber(a.VRF) - vrfNumber(b.VRF)) })
	switch {
	case len(found) == 1:
		return found, nil
	case len(found) > 1 && vrf.Any():
		return nil, k.failed(KindAmbiguous, severalTables(found), nil)
	case len(found) > 1:
		return nil, k.failed(KindAmbiguous, fmt.Sprintf("NetBox has %d VRFs of that name; name one by its rd or id", len(found)), nil)
	case len(all) > 0:
		return nil, k.elsewhere("it is inside one of "+listed(tablesOf(all), " and of "), nil)
	}
	return nil, k.failed(KindNotFound, "NetBox has none, or the token may not see it", nil)
}
