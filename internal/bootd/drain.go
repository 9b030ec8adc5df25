package bootd

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/ipxe"
)

const (
	// calmAfter is how long nobody must have asked for anything before a bootd that is stopping ends: less lies between two requests of
	// one boot.
	calmAfter = 3 * time.Second
	// looks is how often that's looked at.
	looks = 50 * time.Millisecond
)

// activity is what machines do here now. A bootd that is told to stop goes on while they do: its kernels and images arrive whole, and the
// callbacks of installs are answered.
type activity struct {
	began    time.Time
	quiet    time.Duration // how long nobody must have asked for anything
	running  atomic.Int64
	last     atomic.Int64 // when something ended, since began
	stopping atomic.Bool
}

func newActivity(quiet time.Duration) *activity {
	a := &activity{began: time.Now(), quiet: quiet}
	a.last.Store(int64(-quiet))
	return a
}

// touch notes that a boot got on.
func (a *activity) touch() { a.last.Store(int64(time.Since(a.began))) }

// watch counts requests. A script is none that keeps a bootd: a machine that is held asks for one for ever.
func (a *activity) watch(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a.running.Add(1)
		defer func() {
			if !strings.HasSuffix(r.URL.Path, "/"+ipxe.ScriptName) {
				a.touch()
			}
			a.running.Add(-1)
		}()
		h.ServeHTTP(w, r)
	})
}

// beside serves machines, and others what isn't theirs.
func beside(machines, others http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/v1/") {
			machines.ServeHTTP(w, r)
			return
		}
		others.ServeHTTP(w, r)
	})
}

// calm says whether no boot runs any more, as far as can be seen.
func (a *activity) calm() bool {
	return a.running.Load() == 0 && time.Since(a.began)-time.Duration(a.last.Load()) >= a.quiet
}

// drain waits until this bootd is told to stop, by ctx, and then until the boots that run have what they need, or --drain is over. No new
// one begins meanwhile: another bootd offers instead, or this one once it's there again.
func (d *daemon) drain(ctx, serving context.Context) {
	select {
	case <-ctx.Done():
	case <-serving.Done():
		return
	}
	if d.c.Drain <= 0 {
		return
	}
	d.activity.stopping.Store(true)
	if s, ok := d.source.(interface{ Drain() }); ok {
		s.Drain()
	}
	d.c.Logger.Info("stopping: no boot begins any more, and those that run are finished", "atMost", d.c.Drain.String())
	end := time.NewTimer(d.c.Drain)
	defer end.Stop()
	for !d.calm() {
		select {
		case <-serving.Done():
			return
		case <-end.C:
			d.c.Logger.Warn("stopping before all transfers have ended; machines go on where they were at another bootd, or once this one is there again",
				"requests", d.activity.running.Load())
			return
		case <-time.After(looks):
		}
	}
}

func (d *daemon) calm() bool {
	return d.activity.calm() && (d.tftp == nil || d.tftp.Running() == 0)
}

// decided counts an answer. A machine that was told to boot a kernel asks for it in a moment.
func (d *daemon) decided(x boot.Decision) {
	if x.Answer == boot.AnswerInstall || x.Answer == boot.AnswerLive {
		d.activity.touch()
	}
	d.metrics.decided(x)
}
