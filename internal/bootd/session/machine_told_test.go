package session

import (
	"errors"
	"log/slog"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// TestMachineIsToldToOthers holds that a bootd whose log was begun later, or that wasn't there when a machine was installed, hears of it by one that was.
func TestMachineIsToldToOthers(t *testing.T) {
	t.Parallel()
	const raw = boot.HostByMACs + "0123"
	type state struct {
		Told   bool
		Synced uint64
		Open   error
	}
	for name, tc := range map[string]struct {
		reason string
		used   boot.Consumption
		want   state
	}{
		"MadeAnew": {
			"What the entry before used is written into the session of the new one, and before it is the session isn't synced.",
			boot.Consumption{GrantID: "fedcba9876543210", HostUID: raw, EntryUID: "earlier", Generation: 1, Nonce: nonceB},
			state{Told: true, Synced: 99, Open: boot.ErrConsumed},
		},
		"Higher": {
			"A higher generation stands against it, too.",
			boot.Consumption{GrantID: "fedcba9876543210", HostUID: raw, EntryUID: "earlier", Generation: 3, Nonce: nonceB},
			state{Told: true, Synced: 99, Open: boot.ErrConsumed},
		},
		"Raised": {
			"One below doesn't.",
			boot.Consumption{GrantID: "fedcba9876543210", HostUID: raw, EntryUID: "earlier", Generation: 0, Nonce: nonceB},
			state{Synced: 100},
		},
		"Another": {
			"Another machine's says nothing.",
			boot.Consumption{GrantID: "fedcba9876543210", HostUID: raw + "4", EntryUID: "earlier", Generation: 1, Nonce: nonceB},
			state{Synced: 100},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := plan()
			p.HostUID = raw
			r := granted()
			r.Session.Grant.HostUID, r.Session.Grant.PlanDigest = raw, p.Digest()
			store := newAPI(r)
			named := func(name string) *Manager {
				l, err := OpenLog(filepath.Join(t.TempDir(), name))
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = l.Close() })
				return New(Options{Store: store, Log: l, Name: name, Now: start, Logger: slog.New(slog.DiscardHandler), ByMachine: true})
			}
			knows, fresher := named("knows"), named("fresher")
			if err := knows.o.Log.Add(tc.used); err != nil {
				t.Fatal(err)
			}
			if err := knows.Seen(store.record(machine())); err != nil {
				t.Fatal(err)
			}
			got := state{Synced: knows.Synced(100)}
			knows.write(t.Context(), machine())
			now := store.record(machine())
			got.Told = now.Session.Consumed != nil
			if err := errors.Join(knows.Seen(now), fresher.Seen(now)); err != nil {
				t.Fatal(err)
			}
			if at := Revision(now.Session.Revision); knows.Synced(at) != at {
				t.Errorf("%s: what was told is told no more, but synced is %d of %d", tc.reason, knows.Synced(at), at)
			}
			got.Open = fresher.Open(t.Context(), p, token(nonceA), fresh())
			if diff := cmp.Diff(tc.want, got, cmp.Comparer(func(a, b error) bool { return errors.Is(a, b) || errors.Is(b, a) })); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if tc.want.Told {
				old := boot.Claims{Kind: boot.TokenBoot, Entry: boot.KeyOf("entry"), GrantID: tc.used.GrantID, Nonce: tc.used.Nonce}
				if err := boot.Owns(store.record(machine()).Session, old); !errors.Is(err, boot.ErrConsumed) {
					t.Errorf("the boot of the entry before isn't this one's: %v", err)
				}
				if diff := cmp.Diff(1, len(fresher.Logged("entry", raw))); diff != "" {
					t.Errorf("who hears of it logs it (-want +got):\n%s", diff)
				}
			}
		})
	}
}
