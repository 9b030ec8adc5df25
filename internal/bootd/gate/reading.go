package gate

import (
	"context"
	"sync"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

const (
	// maxReading boots that read an ISO are remembered.
	maxReading = 4096
	// unheard is for how long an answer of the session's own stands in for a watch that hasn't brought it yet.
	unheard = 10 * time.Second
)

// reading remembers which boot of each machine was given a piece of its ISO, and when its session was last asked.
type reading struct {
	mu sync.Mutex
	of map[boot.EntryKey]reader
}

type reader struct {
	boot  boot.Claims
	asked time.Time
}

// asked says whether this boot was given a piece, and when its session was last asked.
func (r *reading) asked(t boot.Claims) (begun bool, at time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	x, ok := r.of[t.Entry]
	return ok && x.boot.GrantID == t.GrantID && x.boot.Nonce == t.Nonce, x.asked
}

func (r *reading) goesOn(t boot.Claims, asked time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.of) >= maxReading {
		clear(r.of) // It costs each of them one question.
	}
	r.of[t.Entry] = reader{t, asked}
}

func (r *reading) ends(k boot.EntryKey) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.of, k)
}

// over remembers whose boots have reported an install here, and by which grant: the watch may not have heard of it yet.
type over struct {
	mu sync.Mutex
	of map[boot.EntryKey]string
}

func (o *over) ends(t boot.Claims) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.of) >= maxReading {
		clear(o.of) // By now the watch has heard of them.
	}
	o.of[t.Entry] = t.GrantID
}

func (o *over) ended(t boot.Claims) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return t.GrantID != "" && o.of[t.Entry] == t.GrantID
}

// Ended says whether a boot has reported its install: it needs no image any more, and doesn't begin again.
func (g *Gate) Ended(c Caller) bool { return c.ended() || !c.Live() && g.over.ended(c.Claims) }

// A piece is what a piece of an ISO takes.
type piece int

const (
	// pieceRefused: this boot has ended, or it never used the grant.
	pieceRefused piece = iota
	// pieceAsked: the session must be asked, as before the first one.
	pieceAsked
	// pieceGiven: nothing speaks against it.
	pieceGiven
)

// pieceFor says what a piece of an ISO takes, by what the watch has delivered. begun says that this boot was given one here, recent that its session
// was asked a moment ago, and restarted that the machine's firmware was seen to begin again since the grant was used: then whoever reads isn't that
// boot any more.
func pieceFor(c Caller, begun, recent, restarted bool) piece {
	s := c.Session
	switch {
	case c.Live():
		return pieceGiven
	case s == nil || s.Revocation != "" || s.Grant != nil && s.Grant.ID != c.Claims.GrantID:
		return pieceRefused // Of another generation, or of none.
	case s.Consumed != nil && s.Consumed.GrantID == c.Claims.GrantID && s.Consumed.Nonce != c.Claims.Nonce:
		return pieceRefused // Another boot's.
	case boot.Reported(*s, c.Claims.GrantID) || restarted:
		return pieceRefused
	case begun && (recent || c.Owns()):
		return pieceGiven
	}
	return pieceAsked
}

// Read comes before each piece of an ISO, which its loader reads by hundreds of ranges, over minutes. It gives the plan that was granted. The first
// piece of a boot is asked for as a kernel is that destroys by itself, and so is what comes after a restart of bootd, and every ten seconds as long as
// the watch hasn't heard that the grant is used; all others go on by what the watch says, through an outage too. first says that it's this boot's first one here. Without
// commit, as for a HEAD, nobody is asked. What was reported, revoked, superseded by another generation, or began again reads nothing more.
func (g *Gate) Read(ctx context.Context, c Caller, commit bool) (p *boot.Plan, first bool, err error) {
	now := g.o.Now()
	begun, asked := g.reading.asked(c.Claims)
	switch pieceFor(c, begun, now.Sub(asked) < unheard, g.restarted(c)) {
	case pieceRefused:
		return nil, false, boot.ErrConsumed
	case pieceAsked:
		if commit {
			if err := g.Deliver(ctx, c); err != nil {
				return nil, false, err
			}
			asked = now
		}
	case pieceGiven:
	}
	p = g.granted.plan(c.Claims.Entry, c.Plan, c.planDigest())
	if p == nil {
		return nil, false, ErrChanged
	}
	if commit && (!begun || asked.Equal(now)) {
		g.reading.goesOn(c.Claims, asked)
	}
	return p, commit && !begun, nil
}

// restarted says whether a machine's firmware was seen to begin again since it used its grant.
func (g *Gate) restarted(c Caller) bool {
	return !c.Live() && c.Owns() && g.o.Sessions.NewBoot(c.Plan.Entry, c.Session.Consumed.At)
}
