package session

import (
	"context"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// Report records how the install of token t ended: installed, or failed. stands says whether that's what the session says from now on: a failure
// that comes after a success changes nothing.
func (m *Manager) Report(ctx context.Context, p *boot.Plan, t boot.Claims, installed bool, message string) (stands bool, err error) {
	message = Clean(message)
	err = m.change(ctx, p.Entry, func(r Record) (Record, error) {
		if r.Session.EntryUID != p.EntryUID {
			return r, boot.ErrNoGrant
		}
		s, err := boot.Report(r.Session, t, installed, message, m.o.Now())
		stands = err == nil && (installed || s.Installed == nil || s.Installed.GrantID != t.GrantID)
		if err != nil || s.Installed == r.Session.Installed && s.Failed == r.Session.Failed {
			return r, err
		}
		r.Session, r.Progress = s, reported(r.Progress, s, message)
		return r, nil
	}, noLoss)
	return stands && err == nil, err
}

// Check says whether the boot of token t owns its session's grant, by a live read.
func (m *Manager) Check(ctx context.Context, p *boot.Plan, t boot.Claims) error {
	return m.change(ctx, p.Entry, func(r Record) (Record, error) { return r, owns(r, p, t) }, noLoss)
}

// Unended is Check, and says that a boot which has reported its install has had its grant.
func (m *Manager) Unended(ctx context.Context, p *boot.Plan, t boot.Claims) error {
	return m.change(ctx, p.Entry, func(r Record) (Record, error) {
		err := owns(r, p, t)
		if i := r.Session.Installed; err == nil && i != nil && i.GrantID == t.GrantID {
			err = boot.ErrConsumed
		}
		return r, err
	}, noLoss)
}

// Booted records that the system which the boot of token t installed runs.
func (m *Manager) Booted(ctx context.Context, p *boot.Plan, t boot.Claims, message string) error {
	message = Clean(message)
	return m.change(ctx, p.Entry, func(r Record) (Record, error) {
		if err := heard(r, p, t); err != nil {
			return r, err
		}
		if i := r.Session.Installed; i == nil || i.GrantID != t.GrantID {
			return r, boot.ErrNoGrant // It can't run what it didn't say it had installed.
		}
		return advance(r, Sighting{Kind: SawBooted, At: m.o.Now(), Installed: t.GrantID, Message: message}), nil
	}, noLoss)
}

func owns(r Record, p *boot.Plan, t boot.Claims) error {
	if r.Session.EntryUID != p.EntryUID {
		return boot.ErrNoGrant
	}
	return boot.Owns(r.Session, t)
}

func heard(r Record, p *boot.Plan, t boot.Claims) error {
	if err := owns(r, p, t); err != nil {
		return err
	}
	return boot.Heard(r.Session, t)
}

// NewBoot says whether this bootd saw the machine's firmware start again since.
func (m *Manager) NewBoot(n boot.Name, since time.Time) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.started[n].After(since)
}
