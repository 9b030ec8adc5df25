package tftp

import (
	"bytes"
	"context"
	"fmt"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// TestOwnPlaces: whoever has the token of a machine, and asks in the name of many, keeps nobody from booting.
func TestOwnPlaces(t *testing.T) {
	const places, asks = 8, 32
	cases := map[string]struct {
		reason   string
		machines byte
		most     int32
	}{
		"OneMachine": {"it has a few places, and the others the rest", 1, openAtOnce},
		"Many":       {"all places are taken, and the oldest are given up", places, places},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var open, most atomic.Int32
			to := served(t, func(c *Config) {
				c.Total, c.PerClient, c.Timeout = places, places, 10*time.Second
				c.Own = func(asked string, _, _ netip.Addr) (OwnFile, bool) {
					n, ok := strings.CutPrefix(asked, "token/")
					if !ok {
						return OwnFile{}, false
					}
					return OwnFile{Machine: boot.EntryKey{n[0] % tc.machines}, Open: func(ctx context.Context) (Content, error) {
						most.Store(max(most.Load(), open.Add(1)))
						defer open.Add(-1)
						<-ctx.Done()
						return Content{}, fmt.Errorf("%w: %w", ErrLater, ctx.Err())
					}}, true
				}
			})
			for i := range byte(asks) {
				if _, err := client(t).WriteToUDP(append([]byte("\x00\x01token/"), '0'+i, 0, 'o', 'c', 't', 'e', 't', 0), to); err != nil {
					t.Fatal(err)
				}
			}
			for end := time.Now().Add(5 * time.Second); open.Load() == 0 && time.Now().Before(end); {
				time.Sleep(time.Millisecond) // Nothing is held against the other machine before.
			}
			if got, _, err := fetch(to, BIOS, 1468); err != nil || !bytes.Equal(got, content()) {
				t.Errorf("%s: another machine gets nothing: %v", tc.reason, err)
			}
			if got := most.Load(); got > tc.most || got == 0 {
				t.Errorf("%s: %d were being opened at once, want %d at most", tc.reason, got, tc.most)
			}
		})
	}
}
