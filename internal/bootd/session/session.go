// Package session keeps the record of what really happened to each machine's grant: the one place that
// writes BootSession.status, and the fsynced log of consumptions that stands against a restored etcd.
package session

import (
	"context"
	"errors"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// ErrConflict is what a Store's Update returns when the record isn't any more what was read: another
// bootd or the provider wrote it in between, or it was deleted, or made anew under its old name.
var ErrConflict = errors.New("the boot session was written by somebody else in between")

// ErrNotFound is what a Store's Get returns where there is no such session.
var ErrNotFound = errors.New("there is no such boot session")

// ErrHeld says that nothing may be installed on a machine now; later it may.
var ErrHeld = errors.New("nothing is installed on this machine now, though its script is out: its specs are gone, wrong, lowered or paused, or another server answers it")

// ErrBusy says that a change didn't have its turn: many are made at once, or each takes long.
var ErrBusy = errors.New("so much is written down at once, or so slowly, that its turn hasn't come")

// A Store holds the sessions of all machines; in production that's the Kubernetes API.
type Store interface {
	// Get reads a session live: past every cache, with quorum. ErrNotFound where it's missing.
	Get(ctx context.Context, n boot.Name) (Record, error)
	// Update writes bootd's half of a session if it's still the one of r.Session.Revision and UID,
	// and returns it as written. ErrConflict otherwise: then certainly nothing was written. After
	// any other error it may have been.
	Update(ctx context.Context, r Record) (Record, error)
}

// A Holder is a Store that holds all sessions itself: that there's none it knows without asking anybody.
type Holder interface{ Has(n boot.Name) bool }

// A Record is one session with bootd's notes about the boot.
type Record struct {
	// Name is that of the BootEntry, which the session shares.
	Name     boot.Name
	Session  boot.Session
	Progress Progress
}

// Progress is how far the newest boot came. It's for people; one decision alone rests on it: where a kernel destroys by
// itself, its script isn't served again once Timeline.Kernel stands.
type Progress struct {
	Stage boot.Stage
	// Reason says why the machine was last told what it was told.
	Reason   string
	Timeline Timeline
	Boot     Boot
	// Boots counts the DHCP conversations of the machine's firmware.
	Boots int64
	// Report is what the machine said last, cleaned and bounded.
	Report string
	// Signs speak for an install whose installer never says that it's done.
	Signs Signs
	// Declined is the newest address that the machine declined.
	Declined Declined
}

// A Boot is what is known beside its times of the boot that the timeline is of.
type Boot struct {
	// Firmware and Arch are the domain's words for what began it; "" where nobody saw it begin.
	Firmware, Arch string
	// Server is the bootd that answered its newest script, or else its DHCP.
	Server string
	// Bytes of kernels, initrds and images that it was sent, by any bootd.
	Bytes int64
}

// A Declined is an address that a machine found another to use; zero: it never did.
type Declined struct {
	Address string
	MAC     boot.MAC
	At      time.Time
}

const (
	// oneDecline is within what time a machine declines an address once: it's in quarantine for longer.
	oneDecline = time.Minute
	// lateDecline is how late an older one may be written, as by a bootd whose API server was away. What's older yet is of a clock that was wrong.
	lateDecline = time.Hour
)

// see takes a sighting of a machine that declines into account. What several bootds of a segment heard is one.
func (d Declined) see(x Sighting) Declined {
	since := x.At.Sub(d.At)
	if x.Declined == "" || d.Address == x.Declined && d.MAC == x.MAC && since < oneDecline && since > -lateDecline {
		return d
	}
	return Declined{Address: x.Declined, MAC: x.MAC, At: x.At}
}

// A Timeline says when a machine was where; zero where it wasn't yet.
type Timeline struct {
	DHCP, Firmware, Script, Kernel, Began, Installed, BootedFromDisk time.Time
}

// covers says whether a logged consumption stands against a grant: the same grant, or an install of the
// same generation on the same machine, which a restored provider may grant anew under another id.
func covers(c boot.Consumption, g *boot.Grant) bool {
	return c.GrantID == g.ID || c.HostUID == g.HostUID && c.EntryUID == g.EntryUID && c.Generation >= g.Generation
}

// open is the pure half of Manager.Open. An unchanged session with no error was opened so already.
func open(s boot.Session, log []boot.Consumption, t boot.Claims, x boot.Exchange, by string, now time.Time) (boot.Session, error) {
	if s.Revocation != "" {
		return s, boot.ErrRevoked
	}
	if s.Grant == nil || s.Grant.ID != t.GrantID {
		return s, boot.ErrNoGrant // Not the grant that was decided on: ask again.
	}
	for _, c := range log {
		if covers(c, s.Grant) {
			return s, boot.ErrConsumed
		}
	}
	if s.Consumed != nil && covers(*s.Consumed, s.Grant) {
		return s, boot.ErrConsumed
	}
	if s.OpenedGrantID == t.GrantID && len(s.Opened) <= boot.MaxOpens && newest(s) == t.Nonce && now.Before(s.Grant.Expires) && !boot.Outdated(s, t.Nonce, x, now) {
		return s, nil // A repeat of the same request: the same script, not another one.
	}
	return boot.Open(s, t.Nonce, x, by, now)
}

// consume is the pure half of Manager.Consume. An unchanged session with no error is this boot's already.
//
// A log entry without a consumption in the session is either a restored etcd, or a bootd that died
// between its log and the API. Both are treated the same: what the log says happened. So the boot that
// the log names goes on, which is right in both cases since nobody else can have used the grant by way
// of this bootd, and any other is refused, which costs at worst one more installGeneration.
func consume(s boot.Session, log []boot.Consumption, t boot.Claims, by string, now time.Time) (boot.Session, error) {
	if err := boot.Owns(s, t); !errors.Is(err, boot.ErrNoGrant) {
		return s, err
	}
	for _, c := range log {
		if s.Grant != nil && covers(c, s.Grant) && (c.GrantID != t.GrantID || c.Nonce != t.Nonce) {
			return s, boot.ErrConsumed
		}
	}
	return boot.Consume(s, t, by, now)
}

func used(s boot.Session, grantID string) bool {
	return s.Consumed != nil && s.Consumed.GrantID == grantID
}

func newest(s boot.Session) string {
	if len(s.Opened) == 0 {
		return ""
	}
	return s.Opened[len(s.Opened)-1].Nonce
}

// lacking puts what the log knows into a session that lacks it. A closed session is left alone: nothing
// of it is honoured any more.
func lacking(s boot.Session, log []boot.Consumption) (boot.Session, bool) {
	if s.Revocation != "" {
		return s, false
	}
	return boot.Restore(s, log)
}
