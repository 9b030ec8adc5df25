package netboxipaddress

import "testing"

// TestSameTime: what NetBox gives back of a time in a form of its own isn't written again and again.
func TestSameTime(t *testing.T) {
	for name, tc := range map[string]struct {
		reason, want, got string
		same              bool
	}{
		"Space":    {"with a space", "2026-08-01 12:00:00+02:00", "2026-08-01T10:00:00Z", true},
		"Minutes":  {"without seconds", "2026-08-01T10:00", "2026-08-01T10:00:00", true},
		"Both":     {"without seconds, with a space", "2026-08-01 10:00", "2026-08-01T10:00:00", true},
		"Short":    {"without seconds, with a zone", "2026-08-01T12:00+02:00", "2026-08-01T10:00:00Z", true},
		"Colon":    {"a zone without a colon", "2026-08-01T10:00:00+0000", "2026-08-01T10:00:00Z", true},
		"Midnight": {"a day is its midnight", "2026-08-01", "2026-08-01T00:00:00", true},
		"Fraction": {"a fraction of a second", "2026-08-01T10:00:00.5", "2026-08-01T10:00:00.500000", true},
		"Another":  {"another time", "2026-08-01T10:01", "2026-08-01T10:00:00", false},
		"Zone":     {"a zone isn't known where there's none", "2026-08-01T10:00", "2026-08-01T10:00:00Z", false},
		"Text":     {"no time at all", "tomorrow", "2026-08-01T10:00:00Z", false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := same(tc.want, tc.got); got != tc.same {
				t.Errorf("%s: %q and %q: %v, want %v", tc.reason, tc.want, tc.got, got, tc.same)
			}
		})
	}
}
