package redfishhost

import (
	"fmt"
	"slices"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// tolerable is by how much a BMC's clock may be wrong before anybody is told.
const tolerable = 5 * time.Minute

const ntpDisabled = "Disabled"

// tellsClock says whether an inventory tells of the BMC's clock, be it that it
// has none. Of one that isn't read, or whose manager was refused, nothing is known.
func (d *inventoryOf) tellsClock() bool {
	return d.read && !d.half && (d.Clock.Known || !d.Partial && len(d.Refused) == 0)
}

// withClock adds whether NTP sets the BMC's clock, as it was known where the
// inventory doesn't tell.
func withClock(o v1alpha1.RedfishHostObservation, host *v1alpha1.RedfishHost, inv inventoryOf) v1alpha1.RedfishHostObservation {
	was := host.Status.AtProvider
	switch {
	case inv.tellsClock() && (inv.Clock.NTP != "" || len(inv.Refused) == 0):
		o.BMC.NTP = inv.Clock.NTP
	case sameMachine(was.Identity, o.Identity):
		o.BMC.NTP = was.BMC.NTP
	}

	return o
}

// showClock says whether the BMC's clock and ours agree, as of the last inventory:
// a poll costs nothing for it. Nothing here goes by it; certificates and tokens
// that it judges do, and people who read its log. A BMC that doesn't tell the time
// has no such condition.
func showClock(host *v1alpha1.RedfishHost, inv inventoryOf, address string) {
	if !inv.tellsClock() {
		return
	}
	if !inv.Clock.Known {
		host.Status.Conditions = slices.DeleteFunc(host.Status.Conditions, func(c xpv2.Condition) bool { return c.Type == v1alpha1.ConditionClockSynced })

		return
	}
	off := inv.Clock.NTP == ntpDisabled
	if ahead := inv.Clock.Ahead; ahead.Abs() > tolerable {
		host.SetConditions(condition(v1alpha1.ConditionClockSynced, corev1.ConditionFalse, v1alpha1.ReasonClockSkew, fmt.Sprintf(
			"the clock of the BMC at %q is %s ours%s: set the one that is wrong; the BMC's log, and certificates and tokens that it judges, go by it",
			address, skewed(ahead), map[bool]string{true: ", and NTP is off there", false: ""}[off])))

		return
	}
	message := ""
	if off {
		message = fmt.Sprintf("NTP is off on the BMC at %q: its clock is right, and nothing keeps it so", address)
	}
	host.SetConditions(condition(v1alpha1.ConditionClockSynced, corev1.ConditionTrue, v1alpha1.ReasonAvailable, message))
}

// skewed says how far a clock is ahead of ours, so roughly that it doesn't change
// from one inventory to the next.
func skewed(ahead time.Duration) string {
	const day = 24 * time.Hour
	where, by := "ahead of", ahead.Abs()
	if ahead < 0 {
		where = "behind"
	}
	switch {
	case by < 2*time.Hour:
		const step = 5
		return fmt.Sprintf("about %d minutes %s", int(by.Round(step*time.Minute).Minutes()), where)
	case by < 2*day:
		return fmt.Sprintf("about %d hours %s", int(by.Round(time.Hour).Hours()), where)
	case by < 2*365*day:
		return fmt.Sprintf("about %d days %s", int(by.Round(day)/day), where)
	default:
		return "years " + where
	}
}
