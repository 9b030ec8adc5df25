package netbox_test

import (
	"strings"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// TestQuarantineByBothClocks: a quarantine is no shorter than its time by the later clock, of the provider and of NetBox, as another provider ends it.
func TestQuarantineByBothClocks(t *testing.T) {
	cases := map[string]struct {
		reason string
		// ahead is NetBox's clock, and dates says that it dates answers.
		ahead time.Duration
		dates bool
		want  time.Duration
	}{
		"Ahead":  {"ours is a day behind", 24 * time.Hour, true, 48 * time.Hour},
		"Behind": {"ours is a day ahead", -24 * time.Hour, true, 24 * time.Hour},
		"Synced": {"both are right", 0, true, 24 * time.Hour},
		"Untold": {"what stands in front of NetBox tells another time", 24 * time.Hour, false, 24 * time.Hour},
	}
	for _, v := range versions() {
		for name, tc := range cases {
			t.Run(v+"/"+name, func(t *testing.T) {
				l := newLab(t, v)
				l.netbox.SetClock(tc.ahead, tc.dates)
				l.apply("web-1", func(mg *v1alpha1.NetBoxIPAddress) {
					mg.Spec.ForProvider.Release = &v1alpha1.ReleasePolicy{Policy: v1alpha1.ReleaseQuarantine}
				})
				l.settle("web-1", ready)
				l.remove()
				l.settle("web-1", gone)
				a := l.netbox.Addresses()
				if len(a) != 1 {
					t.Fatalf("left %+v", a)
				}
				note, _ := a[0].CustomFields["crossplane_released"].(string)
				_, end, _ := strings.Cut(note, " ")
				until, err := time.Parse(time.RFC3339, end)
				if off := until.Sub(l.now.Add(tc.want)).Abs(); err != nil || off > time.Minute {
					t.Errorf("%s: until %q, which is off by %s: %v", tc.reason, end, off, err)
				}
			})
		}
	}
}
