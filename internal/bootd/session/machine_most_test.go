package session

import (
	"log/slog"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// TestMachineIsToldOfItsHighest holds that a person who raises a generation above the one that is shown has the machine installed, whatever entries it had.
func TestMachineIsToldOfItsHighest(t *testing.T) {
	t.Parallel()
	const raw = boot.HostByMACs + "0123"
	used := func(entry string, generation int64) boot.Consumption {
		id := boot.DerivedNonce([]byte(entry), strconv.FormatInt(generation, 10))
		return boot.Consumption{GrantID: id, HostUID: raw, EntryUID: entry, Generation: generation, Nonce: nonceB, At: start().Add(-time.Hour)}
	}
	for name, tc := range map[string]struct {
		reason string
		used   []boot.Consumption
		want   int64
	}{
		"Raised":  {"The entry before was raised twice.", []boot.Consumption{used("earlier", 1), used("earlier", 2), used("earlier", 3)}, 3},
		"Entries": {"Another one had more.", []boot.Consumption{used("first", 1), used("earlier", 4)}, 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, err := OpenLog(filepath.Join(t.TempDir(), "log"))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = l.Close() })
			for _, c := range tc.used {
				if err := l.Add(c); err != nil {
					t.Fatal(err)
				}
			}
			r := granted()
			r.Session.Grant.HostUID = raw
			store := newAPI(r)
			m := New(Options{Store: store, Log: l, Name: "a", Now: start, Logger: slog.New(slog.DiscardHandler), ByMachine: true})
			m.write(t.Context(), machine())
			got := store.record(machine()).Session.Consumed
			if got == nil {
				t.Fatalf("%s: nothing was told", tc.reason)
			}
			if diff := cmp.Diff(tc.want, got.Generation); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
