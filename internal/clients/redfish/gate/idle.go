package gate

import (
	"context"
	"time"
)

const (
	// idle is how long a session is kept that nobody uses. Hosts are looked at
	// far more often: the last one of the BMC is gone, or paused, and some are
	// deleted without the controller that would log out (orphaned hosts, and
	// those whose namespace goes).
	idle = 10 * time.Minute
	// farewell is how long a logout may take. A session that couldn't be closed
	// ends by itself.
	farewell = 5 * time.Second
)

// KeepIdle sets how long a session is kept that nobody uses, instead of ten
// minutes. It must come before the first Do.
func (g *Gates) KeepIdle(d time.Duration) { g.idle = d }

// sweepAfter gives the session back when nobody uses it for so long. The caller
// has the turn.
func (g *gate) sweepAfter(idle time.Duration) {
	if g.sweep == nil {
		g.sweep = time.AfterFunc(idle, g.giveBack)

		return
	}
	g.sweep.Reset(idle)
}

// giveBack logs out, unless somebody is at it: then the session isn't idle.
func (g *gate) giveBack() {
	if !g.turns.try() {
		return
	}
	defer g.turns.leave()
	g.drop(context.Background())
}

// drop ends the session, if there is one. The caller has the turn.
func (g *gate) drop(ctx context.Context) {
	if g.sweep != nil {
		g.sweep.Stop()
	}
	g.listens.over()
	if g.client == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, farewell)
	defer cancel()
	_ = g.client.Close(ctx)
	g.client = nil
}
