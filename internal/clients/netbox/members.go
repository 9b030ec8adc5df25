package netbox

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"strconv"
	"time"
)

// members are the ports of a link aggregation group (LAG).
type members struct {
	lag   int64
	ports []Interface
}

func (m members) number() int64 { return m.lag }

// changed is never, as of their MAC addresses.
func (m members) changed() time.Time { return time.Time{} }

// weight is about how much memory they take, in bytes.
func (m members) weight() int64 {
	n := int64(32)
	for _, i := range m.ports {
		n += i.weight()
	}
	return n
}

// newLAGs knows the ports of LAGs. They aren't asked for by numbers in a row: these would be of the ports.
func newLAGs(now func() time.Time, room *lodger, f *face) *roster[members] {
	r := newRoster[members](now, room, f)
	r.unranged = time.Unix(1<<40, 0)
	return r
}

// SeenMembers returns the ports of a LAG, by their names, as they were at some moment of the last maxAge, or of the last half an hour where that's
// longer; with a maxAge of 0 as they are now. Those of all LAGs that addresses are on are read together. One that isn't there has none.
func (c *Client) SeenMembers(ctx context.Context, lag int64, maxAge time.Duration) ([]Interface, error) {
	k := rosterCall("list the ports of the LAGs of each %s", Device, Device.api().interfaces, url.Values{"fields": {interfaceFields(Device)}})
	if maxAge > 0 {
		maxAge = max(maxAge, macAge)
	}
	m, _, err := c.lags.look(ctx, lag, maxAge, c.bonded, k, c.listMembers)
	if IsInvalid(err) { // NetBox refuses all where one of them isn't there any more.
		m, _, err = c.lags.look(ctx, lag, maxAge, func() []int64 { return nil }, k, c.listMembers)
	}
	return m.ports, err
}

// bonded are the LAGs that addresses are on, or on ports or parts of.
func (c *Client) bonded() []int64 {
	var out []int64
	for _, i := range c.interfaces[Device].those(c.wired(Device)) {
		if i.Type == TypeLAG {
			out = append(out, i.ID)
		}
	}
	return out
}

// listMembers reads the ports of the LAGs that a call names as records by their numbers.
func (c *Client) listMembers(ctx context.Context, k call, pages int, _ func(members) bool) ([]members, bool, error) {
	lags := k.query["id"]
	k = k.with("lag_id", lags...)
	delete(k.query, "id") // That of the ports.
	stray := func(i Interface) bool { return !slices.Contains(lags, strconv.FormatInt(i.LAG, 10)) }
	found, whole, err := listSome(ctx, c, k, pages, interfaceDecoder(Device), stray)
	switch {
	case IsInvalid(err) && len(lags) == 1:
		return nil, true, nil // There's no such LAG.
	case err != nil:
		return nil, false, err
	case slices.ContainsFunc(found, stray):
		return nil, false, k.failed(KindUnexpected, "it doesn't filter by the LAG", nil)
	}
	of := map[int64]*members{}
	for _, i := range found {
		if of[i.LAG] == nil {
			of[i.LAG] = &members{lag: i.LAG}
		}
		of[i.LAG].ports = append(of[i.LAG].ports, i)
	}
	var out []members
	for _, m := range of {
		slices.SortFunc(m.ports, func(a, b Interface) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID)) })
		out = append(out, *m)
	}
	return out, whole, nil
}
