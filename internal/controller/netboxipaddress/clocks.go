package netboxipaddress

import (
	"fmt"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/netboxlink"
)

// A quarantine is begun by one clock and ended by another's, as the provider may be on another node by then: one that is a day ahead would end all of
// them, and what one that is a day behind begins would be over at once. So NetBox's own clock has a say in both. Where that differs nobody here
// can tell which is wrong: a quarantine that takes longer frees no address that somebody uses.

// A Dater tells what a NetBox's clock shows now; ok is false where it never told.
type Dater interface {
	Date() (date time.Time, ok bool)
}

// endOf a quarantine that begins now, by whichever clock is later.
func (e *external) endOf(after time.Duration) time.Time {
	now := e.connector.Now()
	if date, ok := e.netbox.Date(); ok && date.After(now) {
		now = date
	}
	return now.Add(after).Truncate(time.Second)
}

// unripe says of a quarantine that is over by our clock that it isn't by NetBox's.
func (l *sweeping) unripe(nb Dater, ip netbox.IPAddress, until time.Time) bool {
	date, ok := nb.Date()
	if !ok || !until.After(date) {
		return false
	}
	l.again(until.Sub(date))
	if behind := l.now().Sub(date); behind > netboxlink.Tolerable {
		l.early, l.behind = append(l.early, ip), behind
	}
	return true
}

// differs says of which records the quarantine isn't ended yet since the clocks differ.
func (l *sweeping) differs() {
	if len(l.early) == 0 {
		return
	}
	l.once("Clock", event.Warning(eventUnexpired, fmt.Errorf(
		"the quarantine of %s of NetBox is over by this provider's clock, and isn't by NetBox's, or that of what stands in front of it, which is about %d minutes behind: set the clock that is wrong; it's ended once it's over by both",
		which(l.early), int(l.behind.Round(time.Minute).Minutes()))))
}
