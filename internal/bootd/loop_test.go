package bootd

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/session"
)

// TestLoopAtTheDisk: a machine that's sent to its disk and comes back again and again is told of, in the log and in its session. What it's
// told stays the same: nobody asks for that here.
func TestLoopAtTheDisk(t *testing.T) {
	store, log := &oneSession{}, &text{}
	d := &daemon{
		c: Config{Logger: slog.New(slog.NewTextHandler(log, nil))}, loops: session.NewLoops(),
		sessions: session.New(session.Options{Store: store, Now: time.Now, Logger: slog.New(slog.DiscardHandler), Log: emptyLog(t)}),
	}
	p := &boot.Plan{Entry: boot.Name{Namespace: "lab", Name: "m1"}, EntryUID: "u1"}
	now := time.Now()
	for range 10 {
		if log.has("doesn't boot its disk") {
			t.Error("it's said too early")
		}
		d.Sight(p.Entry, session.Sighting{Kind: session.SawScript, At: now, Reason: boot.DecidedInstalled, Disk: true})
		now = now.Add(time.Minute)
		d.watchLoop(p, boot.StageDHCP, now)
	}
	_ = d.sessions.Check(t.Context(), p, boot.Claims{}) // Any change writes what waits.
	if got := store.written.Progress.Report; !strings.Contains(got, "10 times") || !log.has("doesn't boot its disk") {
		t.Errorf("the session says %q", got)
	}
	d.watchLoop(p, boot.StageBootedFromDisk, now)
	if n, _ := d.loops.Began(p.Entry, now); n != 0 {
		t.Error("its system runs, and it's counted on")
	}
}
