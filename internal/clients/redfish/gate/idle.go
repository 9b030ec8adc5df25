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
	// farewell is how long a logout may take.
	farewell = 10 * time.Second
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
	select {
	case g.queue <- struct{}{}:
	default:
		return
	}
	defer g.leave()
	ctx, cancel := context.WithTimeout(context.Background(), farewell)
	defer cancel()
	g.drop(ctx)
}
