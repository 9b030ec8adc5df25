package session

import (
	"errors"
	"log/slog"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// TestFailedWritesAreTold: an outage of the API with a rack that boots is no line a second for each of its machines.
func TestFailedWritesAreTold(t *testing.T) {
	t.Parallel()
	type lines struct{ Info, Debug int }
	for name, tc := range map[string]struct {
		reason   string
		machines int
		rounds   []time.Duration
		want     lines
	}{
		"One":  {"It's told at once.", 1, []time.Duration{0}, lines{Info: 1}},
		"Rack": {"And not of each machine, each second.", 40, []time.Duration{0, time.Second, 2 * time.Second}, lines{Info: 1, Debug: 119}},
		"Long": {"But every ten minutes.", 1, []time.Duration{0, time.Minute, 10 * time.Minute}, lines{Info: 2, Debug: 1}},
		"Back": {"Also by a clock that was put back.", 1, []time.Duration{time.Hour, 0}, lines{Info: 2}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, err := OpenLog(filepath.Join(t.TempDir(), "log"))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = l.Close() })
			var rs []Record
			for i := range tc.machines {
				r := granted()
				r.Name = boot.Name{Namespace: "team", Name: strconv.Itoa(i)}
				rs = append(rs, r)
			}
			store := newAPI(rs...)
			store.before = func(Record) error { return errors.New("connection refused") }
			var b strings.Builder
			now := start()
			m := New(Options{
				Store: store, Log: l, Name: "a", Now: func() time.Time { return now },
				Logger: slog.New(slog.NewTextHandler(&b, &slog.HandlerOptions{Level: slog.LevelDebug})),
			})
			for _, at := range tc.rounds {
				now = start().Add(at)
				for _, r := range rs {
					m.Sight(r.Name, Sighting{Kind: SawFirmwareDHCP, At: now})
					m.write(t.Context(), r.Name)
				}
			}
			got := lines{strings.Count(b.String(), "level=INFO"), strings.Count(b.String(), "level=DEBUG")}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
