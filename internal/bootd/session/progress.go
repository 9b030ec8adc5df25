package session

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// A Kind of sighting.
type Kind int

// Values of Kind.
const (
	// SawFirmwareDHCP is an answered DHCP conversation of the machine's firmware, once a boot.
	SawFirmwareDHCP Kind = iota + 1
	// SawSystemDHCP is a DHCP conversation that is neither firmware nor iPXE: an operating system.
	SawSystemDHCP
	// SawFirmwareFile is the transfer of a first stage.
	SawFirmwareFile
	// SawScript is a boot script, of whatever answer.
	SawScript
	// SawKernel is the transfer of a kernel.
	SawKernel
	// SawReport is a progress report.
	SawReport
	// SawBooted is the report of an operating system that runs.
	SawBooted
	// SawData is user data that the boot which used its grant, GrantID, was given whole.
	SawData
)

// A Sighting of a machine by one of bootd's listeners.
type Sighting struct {
	// Machine that was seen; 0: it's to be looked up by its name.
	Machine Machine
	Kind    Kind
	At      time.Time
	// Reason of the answer to a script request, and GrantID of the grant that it was decided on; "" where there was none.
	Reason, GrantID string
	// Message of a report.
	Message string
	// Declined is the address that a machine declined, by the NIC with MAC; "" where it declined none.
	Declined string
	MAC      boot.MAC
	// Installed is the grant whose install was known when this was seen; "" where none was.
	Installed string
	// Live says that the machine netboots each time: then no sign means its disk.
	Live bool
	// Disk says that a script sends the machine to its disk.
	Disk bool
	// Exchange is the minute of the DHCP exchange by whose token a script was asked for; zero where that isn't known.
	Exchange time.Time
	// Silent says that the machine's installer never tells how it ended.
	Silent bool
	// Firmware and Arch of a boot that begins. Server is this bootd's, and noted by its Manager.
	Firmware, Arch, Server string
}

// situation is what a sighting means for the story that the session tells.
type situation int

const (
	// free: nothing was installed by this session, or an install is granted and not used yet.
	free situation = iota
	// installing: the grant is used and the machine hasn't said how it ended.
	installing
	// ended: installed or failed; until the next grant that's the story.
	ended
)

func situationOf(s boot.Session) situation {
	if s.Grant != nil && !used(s, s.Grant.ID) {
		return free
	}
	if s.Consumed == nil {
		return free
	}
	for _, r := range []*boot.Result{s.Installed, s.Failed} {
		if r != nil && r.GrantID == s.Consumed.GrantID {
			return ended
		}
	}
	return installing
}

// advance takes one sighting into the notes. The story of an install isn't overwritten by later boots
// from disk, so that what depends on it doesn't flap: a new one begins with the next grant.
func advance(r Record, x Sighting) Record {
	p, at := &r.Progress, situationOf(r.Session)
	switch x.Kind {
	case SawFirmwareDHCP:
		if looped(r.Session) {
			p.Boots++ // It's held from now on: where the boots before it ended is what a person must know.
			break
		}
		firmwareDHCP(p, at, x)
	case SawSystemDHCP, SawBooted:
		systemRuns(&r, at, x)
	case SawFirmwareFile:
		reach(p, at, &p.Timeline.Firmware, boot.StageFirmware, x.At)
	case SawScript:
		if g := r.Session.Grant; g != nil && g.ID != x.GrantID && !ahead(x, at, r.Session) {
			return r // An answer of an earlier story, written late: it says nothing about this one.
		}
		x.Reason = settled(x.Reason, at, r.Session)
		p.Reason = x.Reason
		if x.Reason == boot.DecidedSuperseded {
			break // Whoever asked has had no script, nor is it sure that it was the machine.
		}
		reach(p, at, &p.Timeline.Script, boot.StageScript, x.At)
		if at == free && x.Server != "" {
			p.Boot.Server = x.Server
		}
	case SawKernel:
		reach(p, at, &p.Timeline.Kernel, boot.StageKernel, x.At)
	case SawData:
		given(r.Session, p, x)
	case SawReport:
	}
	if at == installing && x.Silent {
		p.Signs = p.Signs.see(x)
		p.Reason = p.Signs.reason(p.Reason)
	}
	if x.Message != "" {
		p.Report = x.Message
	}
	p.Declined = p.Declined.see(x)
	return r
}

// ahead says that an answer rests on a snapshot of after this install, whose used grant had been taken out of the session, and that a backup of etcd put
// the session back into the midst of it. The answer of an earlier install was made before this one began.
func ahead(x Sighting, at situation, s boot.Session) bool {
	return x.Reason == boot.DecidedInstalled && x.GrantID == "" && at == installing && x.At.After(s.Consumed.At)
}

// settled is a script's reason as the session has it now. Whoever decided knew the session by its watch, which may be a moment behind, or
// by its snapshot, which may be ahead of a session that a backup of etcd put back: of that one nobody says again that its install ended.
func settled(reason string, at situation, s boot.Session) string {
	switch {
	case reason == boot.DecidedConsumed && at == ended && s.Failed == nil:
		return boot.DecidedInstalled
	case reason == boot.DecidedInstalled && at == installing:
		return boot.DecidedConsumed
	}
	return reason
}

// looped says whether a grant has served its last script without being used.
func looped(s boot.Session) bool {
	return s.Grant != nil && s.OpenedGrantID == s.Grant.ID && len(s.Opened) >= boot.MaxOpens && !used(s, s.Grant.ID)
}

func firmwareDHCP(p *Progress, at situation, x Sighting) {
	p.Boots++
	if at != free {
		return
	}
	p.Timeline, p.Stage, p.Reason = Timeline{DHCP: x.At}, boot.StageDHCP, ""
	p.Boot = Boot{Firmware: x.Firmware, Arch: x.Arch, Server: x.Server}
}

// systemRuns takes the sign of an operating system. It counts only after the install was reported: the
// installer's own DHCP request and an old system that still runs look the same.
func systemRuns(r *Record, at situation, x Sighting) {
	s, p := r.Session, &r.Progress
	if x.Live || at == installing {
		return
	}
	if at == free && s.Grant != nil {
		return
	}
	if at == ended && (s.Installed == nil || s.Installed.GrantID != s.Consumed.GrantID || !after(x, s.Installed)) {
		return
	}
	p.Stage = boot.StageBootedFromDisk
	if p.Timeline.BootedFromDisk.IsZero() {
		p.Timeline.BootedFromDisk = x.At
	}
}

// after says whether something was seen after an install was reported. What was known then tells, whatever the clocks of
// several bootds say; their times are for a bootd that hadn't heard of it yet.
func after(x Sighting, i *boot.Result) bool { return x.Installed == i.GrantID || !x.At.Before(i.At) }

// order of the stages, so that a late sighting doesn't set a boot back.
func order(s boot.Stage) int {
	for i, x := range []boot.Stage{
		boot.StageWaiting, boot.StageDHCP, boot.StageFirmware, boot.StageScript, boot.StageKernel,
		boot.StageInstalling, boot.StageInstalled, boot.StageBootedFromDisk,
	} {
		if x == s {
			return i
		}
	}
	return 0
}

func reach(p *Progress, at situation, mark *time.Time, s boot.Stage, t time.Time) {
	if at != free {
		return
	}
	if mark.IsZero() {
		*mark = t
	}
	if order(p.Stage) < order(s) {
		p.Stage = s
	}
}

// opened notes the script of a grant; the first of a grant begins a new story.
func opened(p Progress, first bool, now time.Time) Progress {
	if first && (!p.Timeline.Began.IsZero() || !p.Timeline.BootedFromDisk.IsZero()) {
		p.Timeline = Timeline{}
	}
	if p.Timeline.Script.IsZero() {
		p.Timeline.Script = now
	}
	p.Stage, p.Reason = boot.StageScript, boot.DecidedGranted
	return p
}

// began notes the consumption.
func began(p Progress, now time.Time) Progress {
	t := p.Timeline
	p.Timeline = Timeline{DHCP: t.DHCP, Firmware: t.Firmware, Script: t.Script, Kernel: t.Kernel, Began: now}
	p.Stage, p.Reason, p.Report, p.Signs = boot.StageInstalling, boot.DecidedGranted, "", Signs{}
	return p
}

// reported notes how an install ended.
func reported(p Progress, s boot.Session, message string) Progress {
	if message != "" {
		p.Report = message
	}
	switch situationOf(s) {
	case ended:
	case free, installing:
		return p
	}
	if s.Installed != nil && s.Installed.GrantID == s.Consumed.GrantID {
		if p.Timeline.Installed.IsZero() {
			p.Timeline.Installed, p.Stage = s.Installed.At, boot.StageInstalled
		}
		return p
	}
	p.Stage = boot.StageFailed
	return p
}

// MaxMessage is how many bytes of a machine's report are kept.
const MaxMessage = 256

// Clean bounds what a machine says to one printable line: it's shown in conditions and logs, and a
// machine isn't trusted.
func Clean(s string) string {
	s = strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return ' '
		}
		if !unicode.IsPrint(r) || r == unicode.ReplacementChar {
			return -1
		}
		return r
	}, s)), " ")
	if len(s) <= MaxMessage {
		return s
	}
	end := MaxMessage - len("…")
	for !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "…"
}
