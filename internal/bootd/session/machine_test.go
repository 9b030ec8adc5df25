package session

import (
	"errors"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// TestMachineIsKnownByItsMACs holds that an entry which was deleted and made anew, or renamed, doesn't have its machine installed once more.
func TestMachineIsKnownByItsMACs(t *testing.T) {
	t.Parallel()
	const raw = boot.HostByMACs + "0123"
	for name, tc := range map[string]struct {
		reason    string
		byMachine bool
		host      string
		used      boot.Consumption
		want      boot.Decision
		open      error
	}{
		"MadeAnew": {
			"The machine was installed for an entry that's gone: it keeps its disk.", true, raw,
			boot.Consumption{GrantID: "fedcba9876543210", HostUID: raw, EntryUID: "earlier", Generation: 1},
			boot.Decision{Answer: boot.AnswerLocalDisk, Reason: boot.DecidedConsumed}, boot.ErrConsumed,
		},
		"Raised": {
			"Who raises the generation asks for an install.", true, raw,
			boot.Consumption{GrantID: "fedcba9876543210", HostUID: raw, EntryUID: "earlier", Generation: 0},
			boot.Decision{Answer: boot.AnswerInstall, Reason: boot.DecidedGranted}, nil,
		},
		"Another": {
			"Another machine's says nothing.", true, raw,
			boot.Consumption{GrantID: "fedcba9876543210", HostUID: raw + "4", EntryUID: "earlier", Generation: 1},
			boot.Decision{Answer: boot.AnswerInstall, Reason: boot.DecidedGranted}, nil,
		},
		"Host": {
			"A host that is claimed anew was cleaned, and has records of its own.", true, "host",
			boot.Consumption{GrantID: "fedcba9876543210", HostUID: "host", EntryUID: "earlier", Generation: 1},
			boot.Decision{Answer: boot.AnswerInstall, Reason: boot.DecidedGranted}, nil,
		},
		"Folder": {
			"A folder of specs has records of machines of its own.", false, raw,
			boot.Consumption{GrantID: "fedcba9876543210", HostUID: raw, EntryUID: "earlier", Generation: 1},
			boot.Decision{Answer: boot.AnswerInstall, Reason: boot.DecidedGranted}, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := plan()
			p.HostUID, p.Otherwise, p.Artifacts = tc.host, boot.OtherwiseLocalDisk, []boot.Artifacts{{Arch: boot.AMD64}}
			r := granted()
			r.Session.Grant.HostUID, r.Session.Grant.PlanDigest = tc.host, p.Digest()
			path := filepath.Join(t.TempDir(), "log")
			l, err := OpenLog(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(l.Add(tc.used), l.Close()); err != nil {
				t.Fatal(err)
			}
			if l, err = OpenLog(path); err != nil { // What it has read counts as what it has heard.
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = l.Close() })
			m := New(Options{Store: newAPI(r), Log: l, Name: "a", Now: start, Logger: slog.New(slog.DiscardHandler), ByMachine: tc.byMachine})
			d := boot.Decide(boot.Facts{
				Now: start(), Plan: p, Session: &r.Session, Log: m.Logged(p.EntryUID, p.HostUID), Synced: true, Arch: boot.AMD64,
			})
			if diff := cmp.Diff(tc.want, d); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
			if err := m.Open(t.Context(), p, token(nonceA), fresh()); !errors.Is(err, tc.open) || tc.open == nil && err != nil {
				t.Errorf("%s: want %v, got %v", tc.reason, tc.open, err)
			}
			err = m.OpenAndConsume(t.Context(), p, token(nonceA), boot.Exchange{Began: start().Add(time.Hour), GrantID: grantID})
			if !errors.Is(err, tc.open) || tc.open == nil && err != nil {
				t.Errorf("%s: want %v, got %v", tc.reason, tc.open, err)
			}
		})
	}
}
