package netbox

import (
	"context"
	"errors"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
)

// Limits bound what lists of addresses, and of what else a NetBox has many of, take. What is kept is counted by about what it takes in memory,
// an address of ours some 1.2 kB: a server that packs its answers densely isn't let fill more of it than others.
type Limits struct {
	// Each owner's connections keep so many bytes at most together, and All that share a Room so many; 0 of All doesn't bound it. A quarter of
	// either is for what addresses are assigned to, beside these.
	Each, All int64
	// Page is the most bytes of one page of addresses, or of what a filter finds, and One of an answer that is no list; 0 of One is 4 MiB.
	Page, One int
	// AtOnce are the most looks at all addresses that are under way at once, of which one is an owner's; 0 is one of each connection.
	AtOnce int64
	// List is the most bytes that other lists take together for as long as an owner's connections read them, and Lists what everybody's do; 0
	// is 96 MiB, and 0 of Lists doesn't bound it.
	List, Lists int64
}

const (
	// ownEach is what a connection may keep that shares its Room with nobody: 200,000 addresses.
	ownEach = 256 << 20
	// asItComes is how many times as much a list may be as it comes as what is kept of it: NetBox's JSON is some one and a half times that.
	asItComes = 4
	// mostRecord is the most that is kept of one record, and that its text may be for it to be looked at, in bytes. A larger one is read by itself.
	mostRecord = 256 << 10
	// usual is more than an address of ours takes where there are many, in bytes.
	usual = 4 << 10
	// turnPatience is how long a look waits for its turn among those that share a Room, and how long, where it has none, nobody tries again.
	turnPatience = 30 * time.Second
)

// errNoTurn says that other connections' looks take all the time.
var errNoTurn = errors.New("no turn")

// A Room is the memory that several connections share. Safe for concurrent use.
type Room struct {
	limits Limits
	turns  *semaphore.Weighted
	// beside is the room for what addresses are assigned to; nil in that one.
	beside *Room

	mu sync.Mutex
	// parts are what each owner has of it, as long as he has anything.
	parts       map[any]*portion
	kept, lists int64
}

// A portion is what one owner has of a Room.
type portion struct {
	// kept and lists are in bytes.
	kept, lists int64
	// turn lets one look at a time be made, and users are those who have it or wait for it.
	turn  *semaphore.Weighted
	users int
}

// NewRoom returns one in which nothing is kept yet.
func NewRoom(l Limits) *Room {
	if l.List == 0 {
		l.List = listMost
	}
	r := &Room{limits: l, parts: map[any]*portion{}}
	r.beside = &Room{limits: Limits{Each: l.Each / 4, All: l.All / 4}, parts: map[any]*portion{}}
	if l.AtOnce > 0 {
		r.turns = semaphore.NewWeighted(l.AtOnce)
	}
	return r
}

// WithRoom has all connections that are made with it share a room. Without it each has one of its own.
func WithRoom(r *Room) Option { return func(o *options) { o.room = r } }

// WithMost bounds how many addresses a connection's look may show: most is told Config.Name.
func WithMost(most func(ctx context.Context, name string) int) Option {
	return func(o *options) { o.most = most }
}

// A lodger is a connection in a Room: its owner's others share his part of it.
type lodger struct {
	*Room

	owner any
}

// lodge returns a connection's place in a room. One without an owner shares its part with no other.
func (r *Room) lodge(owner string) *lodger {
	l := &lodger{Room: r, owner: owner}
	if owner == "" {
		l.owner = l
	}
	return l
}

// part is what the owner has; the room is locked.
func (l *lodger) part() *portion {
	p := l.parts[l.owner]
	if p == nil {
		p = &portion{turn: semaphore.NewWeighted(1)}
		l.parts[l.owner] = p
	}
	return p
}

// leave forgets an owner who has nothing; the room is locked.
func (l *lodger) leave(p *portion) {
	if p.kept == 0 && p.lists == 0 && p.users == 0 {
		delete(l.parts, l.owner)
	}
}

// use notes that somebody waits for the owner's turn, or has it, or doesn't any more.
func (l *lodger) use(by int) *portion {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.part()
	p.users += by
	l.leave(p)
	return p
}

// enter waits for a look's turn, which leave gives back.
func (l *lodger) enter(ctx context.Context) (leave func(), err error) {
	if l.turns == nil {
		return func() {}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, turnPatience)
	defer cancel()
	p := l.use(1)
	if p.turn.Acquire(ctx, 1) != nil {
		l.use(-1)
		return nil, errNoTurn
	}
	if l.turns.Acquire(ctx, 1) != nil {
		p.turn.Release(1)
		l.use(-1)
		return nil, errNoTurn
	}
	return func() {
		l.turns.Release(1)
		p.turn.Release(1)
		l.use(-1)
	}, nil
}

// swap has a connection keep is instead of was bytes, unless there's no room for more.
func (l *lodger) swap(was, is int64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.part()
	defer l.leave(p)
	if is > was && (p.kept-was+is > l.limits.Each || l.limits.All > 0 && l.kept-was+is > l.limits.All) {
		return false
	}
	p.kept, l.kept = p.kept-was+is, l.kept-was+is
	return true
}

// A pile is what a list shows of addresses, as far as it's kept.
type pile struct {
	k    call
	most int64
	// each is the most that is kept of one record; 0 doesn't bound it.
	each   int64
	weight int64
	seen   map[int64]sighting
}

func (l *lodger) pile(k call) *pile {
	return &pile{k: k, most: l.limits.Each, seen: map[int64]sighting{}}
}

// bound it by what so many addresses may take: few with long texts would have the room of many.
func (p *pile) bound(addresses int) {
	if n := int64(addresses); n < p.most/usual {
		p.most = n * usual
	}
}

// bound is how much a list may be of which a pile is made.
func (l *lodger) bound() bound {
	return bound{size: lookPage, pages: lookPages, bytes: asItComes * l.limits.Each}
}

// decode reads a record that is to be kept. Its error says that there are too many, or is errDense for one that wouldn't be kept.
func (p *pile) decode(b []byte) (IPAddress, error) {
	ip, err := decodeIPAddress(b)
	if err != nil {
		return IPAddress{}, err
	}
	w := ip.weight()
	if p.each > 0 && w > p.each {
		return IPAddress{}, errDense
	}
	if p.weight += w; p.weight > p.most {
		return IPAddress{}, p.full("it would take more than " + sizeOf(int(p.most)) + " of memory, which is what a provider config may have for so many resources")
	}
	return ip, nil
}

// full words that a list isn't kept.
func (p *pile) full(reason string) *Error { return p.k.failed(KindUnexpected, reason, nil) }

// weight is about how much memory a record takes for as long as it's kept, in bytes.
func (ip IPAddress) weight() int64 {
	// The record itself, its places in two maps, and a map of custom fields; a tag, and a field.
	const record, tag, field = 800, 24, 64
	n := record + ip.Assigned.texts() + len(ip.Status) + len(ip.Role) + len(ip.DNSName) + len(ip.Description) + len(ip.Comments) + len(ip.Tenant) + len(ip.URL) + len(ip.LastUpdated)
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
	case Undecoded:
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
