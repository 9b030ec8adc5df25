package inventory

import (
	"strings"
	"time"
)

// Clock is that of a BMC, beside ours.
type Clock struct {
	// Known says whether it tells the time.
	Known bool
	// Ahead is by how much it's ahead of ours, negative where it's behind; 0 where
	// that's no more than the request took.
	Ahead time.Duration
	// NTP is Enabled or Disabled; "" where it doesn't tell.
	NTP string
}

// ClockOf compares a manager's time (Redfish schema Manager v1.x, DateTime and
// DateTimeLocalOffset) with ours when it was asked and when it had answered. BMCs
// tell whole seconds. One whose time was never set says 1970, which is its time.
func ClockOf(m Manager, asked, answered time.Time) Clock {
	const step = time.Second
	said, ok := timeOf(m)
	switch {
	case !ok:
		return Clock{}
	case said.After(answered):
		return Clock{Known: true, Ahead: said.Sub(answered)}
	case said.Add(step).Before(asked):
		return Clock{Known: true, Ahead: said.Add(step).Sub(asked)}
	default:
		return Clock{Known: true}
	}
}

// timeOf is what a manager says. Without an offset nobody knows what it means,
// unless the other property has one.
func timeOf(m Manager) (time.Time, bool) {
	said, offset := strings.TrimSpace(string(m.DateTime)), strings.TrimSpace(string(m.LocalOffset))
	for _, s := range []string{said, said + offset} {
		if at, err := time.Parse(time.RFC3339, s); err == nil {
			return at, true
		}
	}

	return time.Time{}, false
}
