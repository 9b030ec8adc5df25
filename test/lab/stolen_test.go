package lab

import (
	"testing"
	"time"
)

func TestEarned(t *testing.T) {
	cases := map[string]struct {
		reason        string
		before, after string
		want          time.Duration
	}{
		"Own":     {"A machine of its own: all time counts.", "cpu  10 0 10 80 0 0 0 0 0 0\ncpu0 1", "cpu  110 0 110 80 0 0 0 0 0 0\ncpu0 1", time.Minute},
		"Quarter": {"Three quarters were taken.", "cpu 0 0 0 0 0 0 0 0 0 0\n", "cpu 10 0 10 5 0 0 0 75 0 0\n", 15 * time.Second},
		"Starved": {"However little is given, a wait ends.", "cpu 0 0 0 0 0 0 0 0 0 0\n", "cpu 1 0 0 0 0 0 0 99 0 0\n", 10 * time.Second},
		"Silent":  {"A system that doesn't say.", "", "", time.Minute},
		"Odd":     {"A line of another shape.", "cpu a b c d e f g h\n", "cpu 1\n", time.Minute},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := earned(time.Minute, parseTicks(tc.before), parseTicks(tc.after)); got != tc.want {
				t.Errorf("%s\nearned(...) = %s, want %s", tc.reason, got, tc.want)
			}
		})
	}
}
