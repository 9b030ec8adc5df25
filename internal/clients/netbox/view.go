package netbox

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	// lookPage is the most that NetBox puts on a page, and lookPages ends a list that never ends.
	lookPage  = 1000
	lookPages = 1000
	// lookBody caps a page of so many records. One with larger comments isn't looked at: its records are read one by one.
	lookBody = 32 << 20
	// lookFields are what decodeIPAddress reads: leaving the rest out makes a page ten times as fast (950).
	lookFields = "id,url,display_url,address,vrf,tenant,status,role,dns_name,description,comments,tags,custom_fields," +
		"assigned_object_type,assigned_object_id,assigned_object,last_updated"
	// lookRetry is how long a failed look stands for all who would look.
	lookRetry = 2 * time.Second
)

// A view is what a connection last saw of the addresses whose markers begin as ours do.
type view struct {
	now func() time.Time
	// slot lets one look at a time be made.
	slot slot

	mu   sync.Mutex
	seen map[int64]sighting
	// looked is when the last whole look began, and took how long it lasted.
	looked time.Time
	took   time.Duration
	// news are what was seen or gone while a look is under way, which it may not have seen; nil while none is.
	news map[int64]sighting
	// changed are those that a look showed to be other than before, or didn't show any more, since somebody last asked.
	changed map[int64]IPAddress
	// unfit says until when looks aren't tried, since NetBox doesn't answer them as it should.
	unfit time.Time
	// failed is why the last look failed, believed until then.
	failed      error
	failedUntil time.Time
}

// A sighting is a record as it was, or that it was gone.
type sighting struct {
	ip   IPAddress
	at   time.Time
	gone bool
}

func newView(now func() time.Time) *view {
	return &view{now: now, slot: newSlot(), seen: map[int64]sighting{}, changed: map[int64]IPAddress{}}
}

// put notes what NetBox said of one record by itself.
func (v *view) put(s sighting) {
	s.at = v.now()
	v.mu.Lock()
	defer v.mu.Unlock()
	v.keep(s)
	if v.news != nil {
		v.news[s.ip.ID] = s
	}
}

func (v *view) keep(s sighting) {
	if s.gone {
		delete(v.seen, s.ip.ID)
		return
	}
	v.seen[s.ip.ID] = s
}

// get returns a record that was seen lately. done is false where a look would tell more.
func (v *view) get(number int64, maxAge time.Duration) (ip IPAddress, ok, done bool, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	now := v.now()
	age := v.age(maxAge)
	s, there := v.seen[number]
	if old := now.Sub(s.at); there && (old < age || (v.news != nil && old < 2*age)) {
		return s.ip, true, true, nil
	}
	if now.Before(v.failedUntil) {
		return IPAddress{}, false, true, v.failed
	}
	return IPAddress{}, false, now.Before(v.unfit) || now.Sub(v.looked) < age, nil
}

// age is how old what is known may be where maxAge is asked for: no look is begun sooner after the last one's end than that one took. A
// NetBox that is slow, or has many addresses, isn't asked for them all the time; and who waited for a look goes by what it showed.
// While one is under way, what the one before showed is good enough.
func (v *view) age(maxAge time.Duration) time.Duration {
	if maxAge == 0 {
		return 0
	}
	return max(maxAge, 2*v.took)
}

// begin starts to take notes of what happens during a look.
func (v *view) begin() time.Time {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.news = map[int64]sighting{}
	return v.now()
}

// end takes over what a look saw that began then.
func (v *view) end(began time.Time, all []IPAddress) {
	v.mu.Lock()
	defer v.mu.Unlock()
	before := v.seen
	v.seen = make(map[int64]sighting, len(all))
	for _, ip := range all {
		v.seen[ip.ID] = sighting{ip: ip, at: began}
	}
	for id, was := range before {
		is, there := v.seen[id]
		switch {
		case !there:
			v.changed[id] = was.ip
		case is.ip.LastUpdated != was.ip.LastUpdated:
			v.changed[id] = is.ip
		}
	}
	for id, s := range v.news { // Known already, and newer than what the look saw.
		delete(v.changed, id)
		v.keep(s)
	}
	v.looked, v.took, v.news = began, v.now().Sub(began), nil
}

// fail notes that a look failed.
func (v *view) fail(err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.news = nil
	if IsInvalid(err) || IsNotFound(err) || KindOf(err) == KindUnexpected {
		v.unfit = v.now().Add(fieldTTL)
		return
	}
	v.failed, v.failedUntil = err, v.now().Add(lookRetry)
}

// Seen returns an address as it was at some moment of the last maxAge, or where looks take longer, since the last one began: as this connection
// has read or written it, or by one look at all addresses whose markers begin with Config.MarkersBegin, which is a request for a thousand of
// them instead of one for each. ok is false where only Get can tell: it isn't among them, or NetBox can't be asked so. What was seen so is
// enough to leave a record alone, and never to write to it.
func (c *Client) Seen(ctx context.Context, number int64, maxAge time.Duration) (ip IPAddress, ok bool, err error) {
	if c.begins == "" {
		return IPAddress{}, false, nil
	}
	ip, ok, done, err := c.view.get(number, maxAge)
	if done {
		return ip, ok, err
	}
	release, err := c.view.slot.hold(ctx, c.lookCall())
	if err != nil {
		return IPAddress{}, false, err
	}
	defer release()
	if ip, ok, done, err = c.view.get(number, maxAge); done {
		return ip, ok, err
	}
	began := c.view.begin()
	all, err := c.look(ctx)
	if err != nil {
		c.view.fail(err)
	} else {
		c.view.end(began, all)
	}
	ip, ok, _, err = c.view.get(number, maxAge)
	return ip, ok, err
}

// Refresh looks at all addresses of ours together, unless that was done within maxAge, and returns those that somebody else changed or
// took away since it was last asked: as they are, or as they were.
func (c *Client) Refresh(ctx context.Context, maxAge time.Duration) ([]IPAddress, error) {
	_, _, err := c.Seen(ctx, 0, maxAge) // No record has this number.
	c.view.mu.Lock()
	defer c.view.mu.Unlock()
	out := slices.Collect(maps.Values(c.view.changed))
	clear(c.view.changed)
	return out, err
}

func (c *Client) lookCall() call {
	return call{
		op: "list the addresses with markers of cluster", subject: strings.TrimSuffix(c.begins, "/"), method: http.MethodGet,
		path: addressesPath, want: http.StatusOK, most: lookBody,
		query: url.Values{"cf_" + c.field + "__isw": {c.begins}, "ordering": {"id"}, "fields": {lookFields}},
	}
}

// look reads all addresses of ours. A record that goes while it is read makes the next page begin one later: a look may miss records,
// and proves of none that it's gone.
func (c *Client) look(ctx context.Context) ([]IPAddress, error) {
	return listPages(ctx, c, c.lookCall(), lookPage, lookPages, func(b []byte) (IPAddress, error) {
		ip, err := decodeIPAddress(b)
		if m := ip.Marker(c.field); err == nil && (len(m) < len(c.begins) || !strings.EqualFold(m[:len(c.begins)], c.begins)) {
			err = errors.New("NetBox doesn't know how to filter by a marker's beginning")
		}
		return ip, err
	})
}
