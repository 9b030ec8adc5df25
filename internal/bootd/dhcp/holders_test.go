package dhcp

import (
	"context"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// TestHeldAtOnce: a bootd that is killed a moment after a machine took a port knows when it's back who was first.
func TestHeldAtOnce(t *testing.T) {
	const mac, other = boot.MAC("52:54:00:00:00:01"), boot.MAC("52:54:00:00:00:02")
	now := time.Now()
	cases := map[string]struct {
		reason string
		does   func(h *Holders)
		want   boot.MAC
	}{
		"Held":  {reason: "who boots there first holds the port", does: func(h *Holders) { h.Hold("edge/a", mac, now, time.Time{}) }, want: mac},
		"Named": {reason: "who is named holds it", does: func(h *Holders) { h.Hold("edge/a", mac, now, time.Time{}); h.Name("edge/a", other) }, want: other},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "ports.json")
			h, err := OpenHolders(path)
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				_ = h.Run(ctx, slog.New(slog.DiscardHandler), func() {})
			}()
			defer func() { cancel(); <-ended }()
			tc.does(h)
			var got boot.MAC
			for end := time.Now().Add(time.Minute); time.Now().Before(end) && got != tc.want; time.Sleep(time.Millisecond) {
				later, err := OpenHolders(path)
				if err != nil {
					t.Fatal(err)
				}
				got, _ = later.Of("edge/a", now)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s: (-want +got)\n%s", tc.reason, diff)
			}
		})
	}
}
