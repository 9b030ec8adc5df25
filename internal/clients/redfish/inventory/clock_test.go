package inventory

import (
	"testing"
	"time"
)

func TestClockOf(t *testing.T) {
	asked := time.Date(2026, 8, 1, 12, 0, 0, 500_000_000, time.UTC)
	answered := asked.Add(2 * time.Second)
	cases := map[string]struct {
		reason       string
		said, offset text
		want         Clock
	}{
		"Same":      {reason: "Between question and answer.", said: "2026-08-01T12:00:01Z", want: Clock{Known: true}},
		"Cut":       {reason: "Fractions of a second aren't told.", said: "2026-08-01T12:00:00+00:00", want: Clock{Known: true}},
		"Zone":      {reason: "The same moment elsewhere.", said: "2026-08-01T20:00:01+08:00", want: Clock{Known: true}},
		"Beside":    {reason: "The offset is a property of its own.", said: "2026-08-01T20:00:01", offset: "+08:00", want: Clock{Known: true}},
		"Ahead":     {reason: "Ten minutes.", said: "2026-08-01T12:10:02Z", want: Clock{Known: true, Ahead: 10*time.Minute - 500*time.Millisecond}},
		"Behind":    {reason: "An hour.", said: "2026-08-01T11:00:00Z", want: Clock{Known: true, Ahead: -(time.Hour - 500*time.Millisecond)}},
		"NeverSet":  {reason: "It began when it was switched on.", said: "1970-01-01T00:00:01Z", want: Clock{Known: true, Ahead: time.Date(1970, 1, 1, 0, 0, 2, 0, time.UTC).Sub(asked)}},
		"NoOffset":  {reason: "Nobody knows what that means.", said: "2026-08-01T12:00:01"},
		"Nonsense":  {reason: "iDRACs say that.", said: "0000-00-00T00:00:00+00:00"},
		"NotAtAll":  {reason: "It doesn't tell.", offset: "+00:00"},
		"Elsewhere": {reason: "Its own time in the one property, with the offset in the other as well.", said: "2026-08-01T12:00:01Z", offset: "+02:00", want: Clock{Known: true}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := ClockOf(Manager{DateTime: tc.said, LocalOffset: tc.offset}, asked, answered); got != tc.want {
				t.Errorf("\n%s\nClockOf(%q, %q): got %+v, want %+v", tc.reason, tc.said, tc.offset, got, tc.want)
			}
		})
	}
}
