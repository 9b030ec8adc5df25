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

// TestFree: what comes up while the specs are read counts, too.
func TestFree(t *testing.T) {
	gone, leave := context.WithCancel(t.Context())
	leave()
	for name, tc := range map[string]struct {
		reason        string
		ctx           context.Context
		before, after bool // It's held.
		reread        bool
		reads         int
		want          error
	}{
		"Free":      {"nothing stands in the way", t.Context(), false, false, true, 1, nil},
		"Held":      {"nothing is read for who is held in any case", t.Context(), true, true, true, 0, ErrHeld},
		"Meanwhile": {"another server answered while it was read", t.Context(), false, true, true, 1, ErrHeld},
		"Changed":   {"its specs have changed, or can't be read", t.Context(), false, false, false, 1, errUnread},
		"Gone":      {"its machine doesn't wait for that", gone, false, false, false, 1, context.Canceled},
	} {
		t.Run(name, func(t *testing.T) {
			held, reads := tc.before, 0
			g := New(Options{Held: func(*boot.Plan) bool { return held }, Reread: func(context.Context, *boot.Plan) bool {
				held = tc.after
				reads++
				return tc.reread
			}})
			err := g.free(tc.ctx, Caller{Plan: &boot.Plan{Mode: boot.ModeInstall, InstallGeneration: 1}, Session: &boot.Session{}})
			if !errors.Is(err, tc.want) || reads != tc.reads {
				t.Errorf("%s: %v, want %v; read %d times", tc.reason, err, tc.want, reads)
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
