package boot

import (
	"testing"
	"time"
)

// TestPlain: a state knows whether any of its plans has to do with an install or a Secret, and since when the newest is there, also of those that came.
func TestPlain(t *testing.T) {
	first, later := time.Date(2026, 8, 1, 10, 0, 0, 0, time.UTC), time.Date(2026, 8, 2, 10, 0, 0, 0, time.UTC)
	cases := map[string]struct {
		reason string
		change func(p *Plan)
		want   bool
	}{
		"Plain":     {reason: "an address and a boot are all it has", change: func(*Plan) {}, want: true},
		"Asked":     {reason: "an install is asked for", change: func(p *Plan) { p.InstallGeneration = 1 }},
		"Installed": {reason: "it was installed", change: func(p *Plan) { p.InstalledGeneration = 1 }},
		"Secret":    {reason: "it's given something", change: func(p *Plan) { p.UserDataSecret = "x" }},
		"Digest":    {reason: "so it is where its name alone is missing", change: func(p *Plan) { p.UserDataDigest = "x" }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			a := Plan{EntryUID: "a", MACs: []MAC{"52:54:00:00:00:01"}, Since: first}
			b := Plan{EntryUID: "b", MACs: []MAC{"52:54:00:00:00:02"}, Since: later}
			tc.change(&b)
			whole := NewState(nil, []Plan{a, b}, nil)
			grown, ok := NewState(nil, []Plan{a}, nil).With([]*Plan{&b})
			if !ok {
				t.Fatal("it can't come")
			}
			for way, st := range map[string]*State{"whole": whole, "grown": grown} {
				if st.Plain() != tc.want || !st.Newest().Equal(later) {
					t.Errorf("%s, %s: plain: %t, newest %s", tc.reason, way, st.Plain(), st.Newest())
				}
			}
		})
	}
}
