package bootd

import (
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/session"
)

// Sight passes on what HTTP and TFTP saw.
func (d *daemon) Sight(n boot.Name, x session.Sighting) {
	if x.Machine == 0 {
		x.Machine = session.MachineOf(n)
	}
	switch {
	case x.Kind == session.SawScript && x.Disk:
		d.trails.Told(x.Machine, session.LeadsToDisk, x.At)
	case x.Kind == session.SawScript && x.Live:
		d.trails.Told(x.Machine, session.LeadsToLive, x.At)
	case x.Kind == session.SawScript: // A Raspberry Pi that is held reaches no script, and waits as well.
		d.trails.Asked(x.Machine)
	case x.Kind == session.SawReport && x.Live: // No more is ever heard of a live system.
		d.trails.Runs(x.Machine)
	}
	d.sessions.Sight(n, x)
}

// Sent counts what a machine was sent.
func (d *daemon) Sent(n boot.Name, bytes int64) { d.sessions.Sent(n, bytes) }

// reached is told where a machine's boot was seen, and measures how long it took to come there.
func (d *daemon) reached(m session.Machine, stage boot.Stage, at time.Time) {
	if took, ok := d.trails.Reached(m, stage, at); ok {
		d.metrics.stageSeconds.WithLabelValues(string(stage)).Observe(took.Seconds())
	}
}

// watchLoop says once an hour of a machine that begins to boot again and again, and comes to no script, no disk or no live system. That's all: what
// it's told stays as it is.
func (d *daemon) watchLoop(m session.Machine, p *boot.Plan, mac boot.MAC, stage boot.Stage, fw boot.Firmware, at time.Time) {
	switch stage { //nolint:exhaustive // The others say nothing about where a boot leads.
	case boot.StageBootedFromDisk:
		d.trails.Runs(m)
	case boot.StageFirmware:
		d.trails.Loaded(m)
	case boot.StageDHCP:
		lead, times, say := d.trails.Began(m, session.Way{MAC: mac, Firmware: fw}, func() bool { return d.asksUs(p, fw) }, at)
		if !say {
			return
		}
		why := d.looped(lead, times)
		log := d.c.Logger.With("entry", p.Entry.String(), "macs", p.MACs, "times", times, "why", why)
		switch lead {
		case session.LeadsToDisk:
			log.Warn("a machine doesn't boot its disk")
		case session.LeadsToLive:
			log.Warn("a machine doesn't stay in its live system")
		case session.LeadsNowhere:
			log.Warn("a machine doesn't come to its boot script")
		}
		d.sessions.Sight(p.Entry, session.Sighting{Kind: session.SawReport, At: at, Message: why, Live: p.Mode == boot.ModeLive})
	}
}

// asksUs says that a machine which took its address of this bootd asks it, and no other, for its script. Where another server gives the addresses, it
// has one of each family, or another bootd may be behind the address that's told, each may be somebody else's. Nor does firmware ask that was named no file.
func (d *daemon) asksUs(p *boot.Plan, fw boot.Firmware) bool {
	st := d.state()
	if st == nil || p.Network.Six != nil || d.c.HTTPListen == "" || !d.hasFirst(p, fw) {
		return false
	}
	if a := d.c.Advertise; a.IsValid() && !d.own.has(a, net.InterfaceAddrs) {
		return false
	}
	g, ok := st.Segment(p.Network.Name)
	return ok && g.GivesAddresses()
}

// hasFirst says whether there's a first stage for a machine whatever it's told to boot. What has shim alone for want of anything else has none for
// its disk.
func (d *daemon) hasFirst(p *boot.Plan, fw boot.Firmware) bool {
	f := d.firstStages()
	return fw.Kind == boot.FirmwareRaspberryPi || f.Unsigned(p.FirstStage, fw) != "" || p.FirstStage == boot.FirstStageShim && f.Signed(p.FirstStage, fw) != ""
}

// looped is what came of the boots of a machine that loops, and what to look at.
func (d *daemon) looped(lead session.Lead, times int) string {
	switch lead {
	case session.LeadsToDisk:
		return fmt.Sprintf("it was sent to its disk %d times within an hour, and its firmware came back to the network each time: is there a system on the disk, and does localBoot suit its firmware?", times)
	case session.LeadsToLive:
		return fmt.Sprintf("it was given its live system %d times within an hour, and its firmware came back to the network each time: see its console for what resets it", times)
	case session.LeadsNowhere:
	}
	return fmt.Sprintf("its firmware began anew %d times within an hour, and never asked this bootd for its script: see its console for whether its first stage arrives%s, and whether it runs", times, ports(d.c.TFTPListen, d.c.HTTPListen))
}

// ports are those that a first stage comes by, in parentheses.
func ports(tftp, http string) string {
	var all []string
	if _, port, err := net.SplitHostPort(tftp); err == nil {
		all = append(all, "UDP "+port)
	}
	if _, port, err := net.SplitHostPort(http); err == nil {
		all = append(all, "TCP "+port)
	}
	if len(all) == 0 {
		return ""
	}
	return " (" + strings.Join(all, ", ") + ")"
}
