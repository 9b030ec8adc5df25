package bootd

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp6"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/ipxe"
)

const (
	// calmAfter is how long nobody must have asked for anything before a bootd that is stopping ends: less lies between two requests of
	// one boot, UEFI's four seconds from an OFFER to its REQUEST among them.
	calmAfter = 6 * time.Second
	// beforeScript is how long an iPXE may take from its first stage, or its ACK, to its script: where no router advertises itself it waits fifteen
	// seconds for one.
	beforeScript = 20 * time.Second
	// looks is how often that's looked at.
	looks = 50 * time.Millisecond
)

// activity is what machines do here now. A bootd that is told to stop goes on while they do: its kernels and images arrive whole, and the
// callbacks of installs are answered.
type activity struct {
	began    time.Time
	quiet    time.Duration // how long nobody must have asked for anything
	running  atomic.Int64
	until    atomic.Int64 // when it's calm unless somebody asks before, since began
	stopping atomic.Bool
}

func newActivity(quiet time.Duration) *activity { return &activity{began: time.Now(), quiet: quiet} }

// touch notes that a boot got on.
func (a *activity) touch() { a.expect(calmAfter) }

// expect notes that somebody is to ask for something within that time, where calmAfter is what a boot takes from one to the next.
func (a *activity) expect(within time.Duration) {
	at := int64(time.Since(a.began) + time.Duration(float64(a.quiet)*within.Seconds()/calmAfter.Seconds()))
	for until := a.until.Load(); until < at && !a.until.CompareAndSwap(until, at); {
		until = a.until.Load()
	}
}

// saw notes what DHCP and TFTP saw of a boot.
func (a *activity) saw(stage boot.Stage) {
	switch stage {
	case boot.StageBootedFromDisk:
	case boot.StageDHCP, boot.StageFirmware:
		a.expect(beforeScript)
	default:
		a.touch()
	}
}

// answered notes an answer: whose OFFER it was asks for its address next, or a proxy's for its first stage. Of one that's stopping mostly another bootd's
// OFFER is taken (leaves). An iPXE that was told its script may wait for a router first; one that was loaded by PXE is no new boot (dhcp.Sights), so that
// nobody else tells of it.
func (a *activity) answered(c dhcp.Client, why dhcp.Reason) {
	switch why { //nolint:exhaustive // Nobody waits for the others.
	case dhcp.Offered, dhcp.Acknowledged, dhcp.Proxied, dhcp6.Advertised:
		switch {
		case c == dhcp.ClientIPXE && why == dhcp.Acknowledged:
			a.expect(beforeScript)
		case a.stopping.Load():
		case c == dhcp.ClientIPXE && why == dhcp.Proxied:
			a.expect(beforeScript)
		default:
			a.touch()
		}
	}
}

// watch counts requests. A script is none that keeps a bootd: a machine that is held asks for one for ever.
func (a *activity) watch(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a.running.Add(1)
		defer func() {
			switch {
			case strings.HasSuffix(r.URL.Path, "/"+ipxe.ScriptName):
			case strings.HasPrefix(r.URL.Path, ipxe.PathFirmware):
				a.expect(beforeScript)
			default:
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
	return a.running.Load() == 0 && time.Since(a.began) >= time.Duration(a.until.Load())
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
	d.c.Logger.Info("stopping: boots that run are finished, and new ones left to another bootd where one is known to be live", "atMost", d.c.Drain.String())
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

// answered is told of each packet of DHCPv4, and answered6 of DHCPv6: whoever was offered something asks for it next.
func (d *daemon) answered(kind string, c dhcp.Client, r dhcp.Reason) {
	d.activity.answered(c, r)
	d.metrics.answered(kind, c, r)
}

func (d *daemon) answered6(kind string, c dhcp.Client, r dhcp.Reason) {
	d.activity.answered(c, r)
	d.metrics.answered6(kind, c, r)
}

// decided counts an answer. A machine that was told to boot a kernel asks for it in a moment.
func (d *daemon) decided(x boot.Decision) {
	if x.Answer == boot.AnswerInstall || x.Answer == boot.AnswerLive {
		d.activity.touch()
	}
	d.metrics.decided(x)
}
