package netboxipaddress

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/config"
)

// TestSweepReadOnly: what may only be looked at isn't ended; where nobody else does that for long either, it's said, once for all.
func TestSweepReadOnly(t *testing.T) {
	now := time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC)
	over := func(id int64, ago time.Duration) netbox.IPAddress {
		return bare(id, "10.77.0.40/24", withNote(ours+" "+now.Add(-ago).Format(time.RFC3339)))
	}
	used := over(8, time.Hour)
	used.Status = "active"
	cases := map[string]struct {
		reason string
		ward   *ward
		want   []string
	}{
		"Over":    {"another provider config of it may end it yet", &ward{records: []netbox.IPAddress{over(5, time.Minute), over(6, -time.Hour)}}, nil},
		"Overdue": {"nobody does", &ward{records: []netbox.IPAddress{over(5, overdue)}}, []string{`CannotEndQuarantine: the quarantine of record 5 (10.77.0.40/24) of NetBox is over, and nobody ends it, since spec.netbox.access is ReadOnly: set it to ReadWrite, or delete what is deprecated and has a note in custom field "crossplane_released" yourself`}},
		"Many":    {"of none of them", &ward{records: []netbox.IPAddress{over(5, overdue), over(6, time.Hour), used}}, []string{`CannotEndQuarantine: the quarantine of record 5 (10.77.0.40/24) and 1 more of NetBox is over`}},
		"Unseen":  {"a token that may not look is no news", &ward{err: kind(netbox.KindForbidden)}, nil},
		"Unfit":   {"nor is the field", &ward{err: kind(netbox.KindReleaseField)}, nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			h, of := &harness{}, known("netbox")
			of.Config.Access = v1alpha1.NetBoxReadOnly
			s := newSweeper(&sweeper{
				configs: func(context.Context) ([]config.Known, error) { return []config.Known{of}, nil },
				client:  func(config.Identity, netbox.Config) (Quarantine, error) { return tc.ward, nil },
				cluster: "c1", now: func() time.Time { return now }, events: &h.events, log: logging.NewNopLogger(),
			})
			for range 2 {
				s.sweep(t.Context())
				s.looks.wait()
			}
			if len(h.events) != len(tc.want) || len(tc.want) == 1 && !strings.HasPrefix(h.events[0], tc.want[0]) || len(tc.ward.expired) != 0 {
				t.Errorf("%s: events %q, want %q; deleted %v", tc.reason, h.events, tc.want, tc.ward.expired)
			}
			if next := s.soonest().Sub(now); next != sweepEvery {
				t.Errorf("%s: again after %s", tc.reason, next)
			}
		})
	}
}
