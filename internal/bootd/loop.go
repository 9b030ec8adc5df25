package bootd

import (
	"fmt"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/session"
)

// Sight passes on what HTTP saw.
func (d *daemon) Sight(n boot.Name, x session.Sighting) {
	if x.Kind == session.SawScript && x.Disk {
		d.loops.Told(n, x.At)
	}
	d.sessions.Sight(n, x)
}

// Sent counts what a machine was sent.
func (d *daemon) Sent(n boot.Name, bytes int64) { d.sessions.Sent(n, bytes) }

// watchLoop says once an hour of a machine that's sent to its disk and comes back to the network again and again. That's all: what it's told
// stays as it is.
func (d *daemon) watchLoop(p *boot.Plan, stage boot.Stage, at time.Time) {
	switch stage { //nolint:exhaustive // The others say nothing about a disk.
	case boot.StageBootedFromDisk:
		d.loops.Runs(p.Entry)
	case boot.StageDHCP:
		n, say := d.loops.Began(p.Entry, at)
		if !say {
			return
		}
		why := fmt.Sprintf("it was sent to its disk %d times within an hour, and its firmware came back to the network each time: is there a system on the disk, and does localBoot suit its firmware?", n)
		d.c.Logger.Warn("a machine doesn't boot its disk", "entry", p.Entry.String(), "why", why)
		d.sessions.Sight(p.Entry, session.Sighting{Kind: session.SawReport, At: at, Message: why, Live: p.Mode == boot.ModeLive})
	}
}
