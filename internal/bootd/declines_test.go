package bootd

import (
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/session"
)

// TestDeclines: of each address the newest decline is told, as long as nobody is given that address.
func TestDeclines(t *testing.T) {
	rack, other := boot.Name{Namespace: "infra", Name: "rack-7"}, boot.Name{Namespace: "infra", Name: "rack-8"}
	noon := time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)
	of := func(last int, after time.Duration) session.Declined {
		return session.Declined{Address: "10.77.0." + strconv.Itoa(last), MAC: "52:54:00:00:00:01", At: noon.Add(after)}
	}
	for name, tc := range map[string]struct {
		reason string
		add    []session.Declined
		at     time.Duration
		want   []session.Declined
	}{
		"None":    {reason: "nobody declined"},
		"Two":     {reason: "each stands", add: []session.Declined{of(9, 0), of(8, time.Second)}, at: time.Minute, want: []session.Declined{of(9, 0), of(8, time.Second)}},
		"Again":   {reason: "the newest one", add: []session.Declined{of(9, 0), of(9, time.Minute)}, at: time.Minute, want: []session.Declined{of(9, time.Minute)}},
		"Over":    {reason: "the first one is given again", add: []session.Declined{of(9, 0), of(8, time.Minute)}, at: dhcp.Quarantined + time.Second, want: []session.Declined{of(8, time.Minute)}},
		"PutBack": {reason: "of a clock that was a day ahead", add: []session.Declined{of(9, 24*time.Hour)}, at: time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			var d declines
			for _, x := range tc.add {
				d.add(rack, x)
			}
			if diff := cmp.Diff(tc.want, d.on(rack, noon.Add(tc.at))); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
			if got := d.on(other, noon); got != nil {
				t.Errorf("another segment has %v", got)
			}
		})
	}
	var d declines
	for i := range 2 * mostDeclined {
		d.add(rack, of(i, time.Duration(i)*time.Second))
	}
	if got := d.on(rack, noon); len(got) != mostDeclined || got[0] != of(mostDeclined, mostDeclined*time.Second) {
		t.Errorf("the newest are told: %v", got)
	}
}
