package gate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"testing"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/session"
)

// TestReason: the word on a machine's screen leads to what is wrong.
func TestReason(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		err    error
		want   string
	}{
		"Used":   {"another boot has it", boot.ErrConsumed, boot.DecidedConsumed},
		"Busy":   {"it waits for its turn", fmt.Errorf("a session: %w", session.ErrBusy), ReasonBusy},
		"Gone":   {"the machine doesn't wait for it", fmt.Errorf("a session: %w", context.Canceled), ReasonGone},
		"Full":   {"there's no room for the session", fmt.Errorf("a session: %w", &fs.PathError{Op: "write", Path: "s.json.new", Err: syscall.ENOSPC}), ReasonDisk},
		"Rename": {"nor for its name", fmt.Errorf("a session: %w", &os.LinkError{Op: "rename", Err: syscall.ENOSPC}), ReasonDisk},
		"API":    {"whatever else is the API server's", errors.New("connection refused"), ReasonAPI},
	} {
		t.Run(name, func(t *testing.T) {
			if got := reason(tc.err); got != tc.want {
				t.Errorf("%s: %s, want %s", tc.reason, got, tc.want)
			}
		})
	}
}

// TestHeldBeforeTheList: a plan that an earlier life kept as one that installs nothing keeps a boot from using its grant also while the source doesn't know
// yet why: at a start the sessions of a cluster aren't listed.
func TestHeldBeforeTheList(t *testing.T) {
	grant := &boot.Grant{ID: "g", Generation: 1}
	for name, tc := range map[string]struct {
		reason     string
		mode       boot.Mode
		generation int64
		session    *boot.Session
		held       bool
	}{
		"Kept":    {"its entry couldn't be planned anew", boot.ModeInstall, 0, &boot.Session{Grant: grant}, true},
		"Began":   {"what has begun goes on", boot.ModeInstall, 0, &boot.Session{Grant: grant, Consumed: &boot.Consumption{GrantID: "g", Generation: 1}}, false},
		"Planned": {"it's asked for", boot.ModeInstall, 1, &boot.Session{Grant: grant}, false},
		"Never":   {"nothing is granted, and somebody else says so", boot.ModeInstall, 0, &boot.Session{}, false},
		"Live":    {"it installs nothing", boot.ModeLive, 0, &boot.Session{Grant: grant}, false},
	} {
		t.Run(name, func(t *testing.T) {
			g := New(Options{Held: func(*boot.Plan) bool { return false }})
			err := g.held(Caller{Plan: &boot.Plan{Mode: tc.mode, InstallGeneration: tc.generation}, Session: tc.session})
			if errors.Is(err, ErrHeld) != tc.held {
				t.Errorf("%s: %v", tc.reason, err)
			}
		})
	}
}
