package bootplane

import (
	"slices"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

const (
	// reasonDeclined is the reason of an Event, and what bootd calls its silence after it.
	reasonDeclined event.Reason = "AddressDeclined"
	// maxDeclined addresses stand in a network's status; the schema's limit.
	maxDeclined = 64
	// oneDecline is within what time a machine declines an address once, whichever bootds heard it.
	oneDecline = time.Minute
	// kept is how long bootd gives nobody what was declined.
	kept = 10 * time.Minute
)

// declined are the addresses of a network that its bootds keep back, the newest decline of each, by address. before stays as long as it may be so: a bootd
// that isn't heard of for a moment would tell it anew.
func declined(before []v1alpha1.DeclinedAddress, reports []v1alpha1.BootServerNetwork, now time.Time) []v1alpha1.DeclinedAddress {
	newest := map[string]v1alpha1.DeclinedAddress{}
	add := func(all []v1alpha1.DeclinedAddress) {
		for _, d := range all {
			o, ok := newest[d.Address]
			if now.Sub(d.At.Time).Abs() < kept && (!ok || o.At.Before(&d.At)) {
				newest[d.Address] = d
			}
		}
	}
	add(before)
	for _, r := range reports {
		add(r.Declined)
	}
	var all []v1alpha1.DeclinedAddress
	for _, d := range newest {
		all = append(all, d)
	}
	slices.SortFunc(all, func(a, b v1alpha1.DeclinedAddress) int { return b.At.Compare(a.At.Time) })
	all = all[:min(len(all), maxDeclined)]
	slices.SortFunc(all, func(a, b v1alpha1.DeclinedAddress) int { return strings.Compare(a.Address, b.Address) })
	return all
}

// until is when the first of them is given again; 0: there's none.
func until(all []v1alpha1.DeclinedAddress, now time.Time) time.Duration {
	var first time.Duration
	for _, d := range all {
		if left := max(time.Second, d.At.Add(kept).Sub(now)); first == 0 || left < first {
			first = left
		}
	}
	return first
}

// news are the declines that a status didn't say before.
func news(before, now []v1alpha1.DeclinedAddress) []v1alpha1.DeclinedAddress {
	return slices.DeleteFunc(slices.Clone(now), func(d v1alpha1.DeclinedAddress) bool {
		return slices.ContainsFunc(before, func(o v1alpha1.DeclinedAddress) bool {
			return o.Address == d.Address && o.MAC == d.MAC && o.At.Sub(d.At.Time).Abs() < oneDecline
		})
	})
}

// tellDeclined records an Event for each. It's called once they stand in the status: a crash in between costs an Event, and nothing tells one twice.
func (r *networks) tellDeclined(n *v1alpha1.BootNetwork, all []v1alpha1.DeclinedAddress) {
	for _, d := range all {
		r.record.Event(n, event.Warning(reasonDeclined, errors.Errorf(
			"address %s was declined by MAC %s: another machine of the segment uses it. bootd gives it to nobody for ten minutes, and no other in its place: find who has it and take it from there, or give the machine another address; then have the machine boot again",
			d.Address, d.MAC)))
	}
}
