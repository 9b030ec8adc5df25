package redfish

import (
	"slices"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/inventory"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/lenient"
)

// always has a resource sent each time: one that tells the time says something
// new, and its ETag doesn't.
func always(h handler) handler {
	h.fits = func(any) bool { return false }

	return h
}

// clock compares a manager's clock with ours: the machine's own manager's, or the
// first one's that tells the time where nobody knows whose it is. Whether NTP sets
// it is asked for after what a machine's boots hang on.
func (w *Walk) clock(uri string, b inventory.Manager) {
	own := len(w.system.managers) == 0 || slices.ContainsFunc(w.system.managers, func(m string) bool { return lenient.SamePath(m, uri) })
	if !own || w.raw.Clock.Known {
		return
	}
	w.raw.Clock = inventory.ClockOf(b, w.sent, time.Now())
	if !w.raw.Clock.Known {
		return
	}
	type protocols struct {
		NTP struct {
			Enabled lenient.Flag `json:"ProtocolEnabled"`
		}
	}
	w.then(readAs(string(b.NetworkProtocol), partReadings, func(w *Walk, _ string, p protocols) {
		if p.NTP.Enabled.Known {
			w.raw.Clock.NTP = map[bool]string{true: "Enabled", false: "Disabled"}[p.NTP.Enabled.True]
		}
	}))
}
