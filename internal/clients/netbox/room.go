package netbox

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
)

// Limits bound what looks at all addresses take. What is kept is counted by about what it takes in memory, an address of ours some 1.2 kB:
// a server that packs its answers densely isn't let fill more of it than others.
type Limits struct {
	// Each connection keeps so many bytes at most, and All that share a Room so many together; 0 of All doesn't bound it.
	Each, All int64
	// Page is the most bytes of one page. Twice that is needed for as long as it's read.
	Page int
	// AtOnce are the most looks that are under way at once; 0 is one of each connection.
	AtOnce int64
}

const (
	// ownEach is what a connection may keep that shares its Room with nobody: 200,000 addresses.
	ownEach = 256 << 20
	// asItComes is how many times as much a list may be as it comes as what is kept of it: NetBox's JSON is some one and a half times that.
	asItComes = 4
	// mostRecord is the most that is kept of one record, and that its text may be for it to be looked at, in bytes. A larger one is read by itself.
	mostRecord = 256 << 10
	// turnPatience is how long a look waits for its turn among those that share a Room, and how long, where it has none, nobody tries again.
	turnPatience = 30 * time.Second
)

// errNoTurn says that other connections' looks take all the time.
var errNoTurn = errors.New("no turn")

// A Room is the memory that the looks of several connections share. Safe for concurrent use.
type Room struct {
	limits Limits
	turns  *semaphore.Weighted

	mu   sync.Mutex
	kept int64
}

// NewRoom returns one in which nothing is kept yet.
func NewRoom(l Limits) *Room {
	r := &Room{limits: l}
	if l.AtOnce > 0 {
		r.turns = semaphore.NewWeighted(l.AtOnce)
	}
	return r
}

// WithRoom has the looks of all connections that are made with it share a room. Without it each has one of its own.
func WithRoom(r *Room) Option { return func(o *options) { o.room = r } }

// enter waits for a look's turn, which leave gives back.
func (r *Room) enter(ctx context.Context) (leave func(), err error) {
	if r.turns == nil {
		return func() {}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, turnPatience)
	defer cancel()
	if err := r.turns.Acquire(ctx, 1); err != nil {
		return nil, errNoTurn
	}
	return func() { r.turns.Release(1) }, nil
}

// swap has a connection keep is instead of was bytes, unless there's no room for more.
func (r *Room) swap(was, is int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	kept := r.kept - was + is
	if is > was && (is > r.limits.Each || r.limits.All > 0 && kept > r.limits.All) {
		return false
	}
	r.kept = kept
	return true
}

// A pile is what a list shows of addresses, as far as it's kept.
type pile struct {
	k      call
	most   int64
	weight int64
	seen   map[int64]sighting
}

func (r *Room) pile(k call) *pile {
	return &pile{k: k, most: r.limits.Each, seen: map[int64]sighting{}}
}

// bound is how much a list may be of which a pile is made.
func (r *Room) bound() bound {
	return bound{size: lookPage, pages: lookPages, bytes: asItComes * r.limits.Each}
}

// decode reads a record that is to be kept. Its error says that there are too many.
func (p *pile) decode(b []byte) (IPAddress, error) {
	ip, err := decodeIPAddress(b)
	if err != nil {
		return IPAddress{}, err
	}
	if p.weight += ip.weight(); p.weight > p.most {
		return IPAddress{}, p.full(fmt.Sprintf("it would take more than %d MiB of memory, which is what one provider config may have", p.most>>20))
	}
	return ip, nil
}

// full words that a list isn't kept.
func (p *pile) full(reason string) *Error { return p.k.failed(KindUnexpected, reason, nil) }

// weight is about how much memory a record takes for as long as it's kept, in bytes.
func (ip IPAddress) weight() int64 {
	// The record itself, its place in a map, and a map of custom fields; a tag, and a field.
	const record, tag, field = 700, 24, 64
	n := record + len(ip.Status) + len(ip.Role) + len(ip.DNSName) + len(ip.Description) + len(ip.Comments) + len(ip.Tenant) + len(ip.URL) + len(ip.LastUpdated)
	for _, t := range ip.Tags {
		n += tag + len(t)
	}
	for name, v := range ip.CustomFields {
		n += field + len(name) + weightOf(v)
	}
	return int64(n)
}

// weightOf a value as JSON is decoded.
func weightOf(v any) int {
	// A map, and an entry of a map or a list: what growing them leaves unused is counted, too.
	const object, entry = 320, 64
	n := 24
	switch v := v.(type) {
	case string:
		n += len(v)
	case []any:
		for _, e := range v {
			n += entry + weightOf(e)
		}
	case map[string]any:
		n += object
		for name, e := range v {
			n += entry + len(name) + weightOf(e)
		}
	}
	return n
}
