package machine

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"
)

// Stage names a point of a boot. A machine announces each stage just before it does what the name says; faults are
// injected there.
type Stage string

// The stages of a boot, in the order in which an installation passes them.
const (
	StageOff       Stage = "Off"
	StagePowerOn   Stage = "PowerOn"   // power applied or reset; the firmware starts
	StageDHCP      Stage = "DHCP"      // an exchange, by firmware, iPXE or the installed system
	StageFirstLoad Stage = "FirstLoad" // the first stage, by TFTP or UEFI HTTP Boot
	StageScript    Stage = "Script"    // iPXE asks for its script
	StageArtifact  Stage = "Artifact"  // iPXE loads a kernel or an initrd
	StageKernel    Stage = "Kernel"    // the kernel runs
	StageBegin     Stage = "Begin"     // the installer is about to call begin
	StageUserData  Stage = "UserData"  // it is about to fetch user data
	StageImage     Stage = "Image"     // it is about to write the first byte
	StageWriting   Stage = "Writing"   // the first byte is on the disk
	StageWritten   Stage = "Written"   // it is about to call installed
	StageInstalled Stage = "Installed" // installed was acknowledged; it is about to reset
	StageDisk      Stage = "Disk"      // the firmware starts what is on the disk
	StageRunning   Stage = "Running"   // an operating system runs, from disk or from RAM
	StageHold      Stage = "Hold"      // a script made the machine wait
	StageHalted    Stage = "Halted"    // nothing more happens until somebody cuts the power
)

// Event is one line of a machine's log.
type Event struct {
	At     time.Time
	Boot   int // which boot since the machine was made, from 1
	Stage  Stage
	Detail string
}

// String returns the event as a line for a person.
func (e Event) String() string {
	return fmt.Sprintf("%s boot %d %s: %s", e.At.Format("15:04:05.000"), e.Boot, e.Stage, e.Detail)
}

// Counters are counted since the machine was made; nothing resets them.
type Counters struct {
	PowerOns    int            // off → on
	Boots       int            // power-ons and resets
	DHCP        map[string]int // acknowledged exchanges, by who asked: pxe, http, ipxe, os
	FirstLoads  int            // first stages loaded whole
	Scripts     map[string]int // scripts run, by how they ended: kernel, local, hold, chain, reboot, poweroff, error
	Kernels     int            // kernels started
	Erased      int            // times the first byte was written to the disk: destructive
	Installs    int            // times installed was acknowledged
	DiskBoots   int            // times an operating system started from disk
	Callbacks   map[string]int // acknowledged callbacks by verb
	Errors      int            // steps that failed; the events say how
	NetworkLoad int64          // bytes fetched by TFTP and HTTP
}

// Disk is the machine's only disk.
type Disk struct {
	Bootable bool   // a whole image is on it
	Image    string // its digest, "sha256:…"
	Bytes    int64  // its size
	UserData string // what the installer left for the installed system
	Callback string // where that system reports that it booted; empty: nowhere
	Token    string // the bearer of that callback
}

// Status is a machine at one moment.
type Status struct {
	Counters

	Powered bool
	Stage   Stage
	Lease   Lease  // of the last acknowledged exchange
	Loaded  string // digest of the last first stage
	Script  string // text of the last script
	Command string // command line of the last kernel
	Error   string // the last step that failed
	Disk    Disk
}

// Status returns a copy of the machine's state.
func (m *Machine) Status() Status {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.copyLocked()
}

func (m *Machine) copyLocked() Status {
	s := m.status
	s.DHCP, s.Scripts, s.Callbacks = maps.Clone(s.DHCP), maps.Clone(s.Scripts), maps.Clone(s.Callbacks)
	return s
}

// Events returns what happened since the machine was made, oldest first.
func (m *Machine) Events() []Event {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.events)
}

// Wait returns the first status that ok accepts, looking again after every event. Its error says what was waited for and
// shows the last events.
func (m *Machine) Wait(ctx context.Context, what string, ok func(Status) bool) (Status, error) {
	for {
		m.mu.Lock()
		s, changed := m.copyLocked(), m.changed
		m.mu.Unlock()
		if ok(s) {
			return s, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return s, fmt.Errorf("machine %q: waited for %s: %w; its last events: %v", m.cfg.Name, what, ctx.Err(), m.tail())
		}
	}
}

const tailEvents = 8

func (m *Machine) tail() []Event {
	e := m.Events()
	return e[max(0, len(e)-tailEvents):]
}

// update changes the status under the lock and wakes everyone who waits.
func (m *Machine) update(f func(*Status)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f(&m.status)
	m.wakeLocked()
}

func (m *Machine) wakeLocked() {
	close(m.changed)
	m.changed = make(chan struct{})
}

// note records an event.
func (m *Machine) note(s Stage, detail string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.events = append(m.events, Event{At: m.cfg.Now(), Boot: m.status.Boots, Stage: s, Detail: detail})
	m.cfg.Log.Debug("machine", slog.String("machine", m.cfg.Name), slog.String("stage", string(s)), slog.String("detail", detail))
	m.wakeLocked()
}

// fail records a step that went wrong.
func (m *Machine) fail(s Stage, err error) {
	m.update(func(st *Status) {
		st.Errors++
		st.Error = err.Error()
	})
	m.note(s, "failed: "+err.Error())
}
