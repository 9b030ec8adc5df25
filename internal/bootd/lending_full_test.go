package bootd

import (
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp/pool"
)

// TestUnwrittenIsSaidOnce: a hall that boots while the disk is full isn't a warning for each machine.
func TestUnwrittenIsSaidOnce(t *testing.T) {
	cases := map[string]struct {
		reason string
		writes []bool // Whether each has room.
		want   int
	}{
		"Room":  {"nothing is said", []bool{true, true}, 0},
		"Full":  {"it's said once", []bool{false, false, false}, 1},
		"Again": {"and once more when it's full again", []bool{false, true, false}, 2},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "state")
			l := &lending{book: pool.NewBook(8), path: filepath.Join(dir, "lent.json"), now: time.Now}
			var out strings.Builder
			log := slog.New(slog.NewTextHandler(&out, nil))
			a := netip.MustParseAddr("10.77.0.200")
			for _, room := range tc.writes {
				if err := os.RemoveAll(dir); err != nil {
					t.Fatal(err)
				}
				if room {
					if err := os.Mkdir(dir, 0o700); err != nil {
						t.Fatal(err)
					}
				}
				l.book.Take(boot.Name{Namespace: "infra", Name: "rack"}, a, boot.MAC("02:00:00:00:00:01"), l.now())
				l.write(log)
				a = a.Next()
			}
			if diff := cmp.Diff(tc.want, strings.Count(out.String(), "level=WARN")); diff != "" {
				t.Errorf("%s (-want +got):\n%s\n%s", tc.reason, diff, out.String())
			}
		})
	}
}
