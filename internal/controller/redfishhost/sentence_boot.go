package redfishhost

import (
	"fmt"
	"net/url"
	"strings"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
)

// Bounds of the boot order that is shown: how many references, and the bytes of one.
const (
	maxShownOrder = 64
	maxShownRef   = 48
)

// bootObservation translates the boot source that a BMC shows.
func bootObservation(b redfish.Boot) v1alpha1.BootObservation {
	return v1alpha1.BootObservation{
		Target: b.Target, Enabled: b.Enabled, Mode: b.Mode, HTTPBootURI: withoutSecrets(b.URI), UefiTarget: bounded(b.DevicePath, 512),
		Next: bounded(b.Next, 256), Order: shortened(b.Order, maxShownOrder, maxShownRef),
	}
}

// withoutSecrets is a URI without what may be a secret of somebody else's.
func withoutSecrets(uri string) string {
	u, err := url.Parse(uri)
	if err != nil {
		return ""
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""

	return bounded(u.String(), 1024)
}

// bootWish is one thing that is asked for of the boot source.
type bootWish struct {
	// field of boot in the spec, and what it says, for people.
	field, what string
	trial       *trial
	wish        string
	// waits says why it isn't as wanted yet, "" where it is.
	reason xpv2.ConditionReason
	waits  string
	// note is what is worth saying though it's as wanted.
	note string
}

// bootWishes are those of a host, in the order in which they are carried out.
func bootWishes(v view) []bootWish {
	j := v.j
	if j == nil {
		j = &journal{}
	}
	var out []bootWish
	if p := v.want.order; len(p) > 0 {
		w := bootWish{field: "order", what: "the boot order " + bounded(strings.Join(p, ", "), 256), trial: j.Boot.Ordered, wish: digest(p...)}
		o := j.Boot.Order
		switch {
		case o == nil || o.Wish != w.wish || !inFront(v.seen.boot.Order, o.First) && !o.Staged:
			w.reason, w.waits = v1alpha1.ReasonWaitingForHost, "it's being set"
		case o.Staged && !inFront(v.seen.boot.Order, o.First), v.seen.boot.Staged:
			w.reason, w.waits = v1alpha1.ReasonWaitingForReset, "the BMC has it from the machine's next boot on"
		}
		out = append(out, w)
	}
	if p := v.want.persistent; p != nil {
		w := bootWish{field: "persistent", what: "a boot from " + sourceNamed(*p), trial: j.Boot.Lastly, wish: wishOf(*p, 0)}
		l := j.Boot.Lasting
		switch {
		case stands(*p, v.seen.boot), l != nil && l.Wish == w.wish && l.is(v.seen.boot):
		case v.seen.boot.Enabled == redfish.EnabledOnce && !v.seen.boot.Idle():
			w.reason, w.waits = v1alpha1.ReasonWaitingForReset, "a boot for once comes before it"
		default:
			w.reason, w.waits = v1alpha1.ReasonWaitingForHost, "it's being set"
		}
		out = append(out, w)
	}
	if p := v.want.once; p != nil {
		w := bootWish{field: "once", what: "a boot from " + sourceNamed(sourceOf(*p)), trial: j.Boot.Once, wish: wishOf(sourceOf(*p), p.Generation)}
		switch {
		case wantsOnce(v, *j) && mustGoOff(v):
			w.reason, w.waits = v1alpha1.ReasonWaitingForPowerOff, "the machine is powered off first"
		case wantsOnce(v, *j):
			w.reason, w.waits = v1alpha1.ReasonWaitingForHost, "it's being set"
		case j.Boot.Moved != nil && !j.Boot.Moved.byOEM():
			w.note = fmt.Sprintf("boot option %q is at the front of the boot order until some minutes after the machine has booted", j.Boot.Moved.First)
		}
		out = append(out, w)
	}

	return out
}

// sourceNamed is a source in a few words.
func sourceNamed(s v1alpha1.BootSource) string {
	switch {
	case s.BootOption != "":
		return fmt.Sprintf("boot option %q", s.BootOption)
	case s.DevicePath != "":
		return fmt.Sprintf("%q", bounded(s.DevicePath, 128))
	default:
		return string(s.Target)
	}
}

// showBoot says how far the boot source has come: the first of its wishes that
// isn't as wanted.
func showBoot(v view, in inputs) []xpv2.Condition {
	is := func(status corev1.ConditionStatus, reason xpv2.ConditionReason, message string) []xpv2.Condition {
		return []xpv2.Condition{condition(v1alpha1.ConditionBootApplied, status, reason, message)}
	}
	wishes := bootWishes(v)
	for _, w := range wishes {
		if t := w.trial.of(w.wish); t.Over || t.Tried > 0 {
			reason, message := refusedBoot(w, t, in)

			return is(corev1.ConditionFalse, reason, message)
		}
	}
	for _, w := range wishes {
		if w.waits != "" {
			return is(corev1.ConditionFalse, w.reason, fmt.Sprintf("%s (boot.%s): %s", w.what, w.field, w.waits))
		}
	}
	if t := v.j.kept(); t != nil {
		return is(corev1.ConditionFalse, v1alpha1.ReasonGaveUp, fmt.Sprintf("the BMC at %q doesn't take back a boot source that isn't wanted any more (%s): set it on the machine", in.address, saidOf(*t)))
	}
	if v.j != nil && v.awaitsLate(*v.j) {
		return is(corev1.ConditionFalse, v1alpha1.ReasonReleasing, fmt.Sprintf("the BMC at %q may carry out a boot source late that it was told a few minutes ago: the host is deleted once that can be taken back, or %.0f minutes after it was told, or the machine's next boot", in.address, orderRest.Minutes()))
	}
	if len(wishes) == 0 {
		return nil
	}

	return is(corev1.ConditionTrue, v1alpha1.ReasonApplied, wishes[len(wishes)-1].note)
}

// refusedBoot is what a BMC says to a wish, and what to do.
func refusedBoot(w bootWish, t trial, in inputs) (reason xpv2.ConditionReason, message string) {
	offers := "it offers nothing that fits; leave it out"
	switch {
	case w.field == "persistent" && strings.HasSuffix(t.Field, redfish.EnabledContinuous):
		offers = "name it in boot.order instead"
	case t.Field == redfish.NoOverride && len(t.Offers) > 0:
		offers = "it boots " + strings.Join(t.Offers, ", ") + " by its boot order alone; name it in boot.order"
	case len(t.Offers) > 0:
		offers = "it offers " + strings.Join(t.Offers, ", ") + "; choose one of them"
	}
	held := ""
	if w.field == "once" {
		held = "; the machine isn't powered on or reset until then"
	}
	switch {
	case t.Over && t.Reason == v1alpha1.ReasonNotSupported:
		return t.Reason, fmt.Sprintf("the BMC at %q can't do %s (boot.%s): it doesn't offer %s: %s%s", in.address, w.what, w.field, t.Field, offers, held)
	case t.Over && t.Reason == v1alpha1.ReasonConflict:
		return t.Reason, fmt.Sprintf("%s (boot.%s) was set %d times, and something else changes it back each time: look for another manager of the machine, or for what its operating system does to its boot entries%s", w.what, w.field, t.Tried, onceMore)
	case t.Over:
		return v1alpha1.ReasonGaveUp, fmt.Sprintf("the BMC at %q doesn't do %s (boot.%s): %s, %d times: look for a pending BIOS job or a lockdown on the BMC%s%s", in.address, w.what, w.field, saidOf(t), t.Tried, onceMore, held)
	default:
		return t.Reason, fmt.Sprintf("the BMC at %q doesn't do %s (boot.%s): %s; it's tried again", in.address, w.what, w.field, saidOf(t))
	}
}

// onceMore is how what was given up is tried once more.
const onceMore = "; another generation or value has it tried again, as has annotation crossplane.io/reconcile-requested-at of this host"

// saidOf is what a BMC said of a wish last.
func saidOf(t trial) string {
	switch {
	case t.Reason == v1alpha1.ReasonNoEffect:
		return "it accepts a change of " + t.Field + " and doesn't make it"
	case t.Reason == v1alpha1.ReasonNotSupported:
		return "it doesn't offer " + t.Field
	case t.Message != "":
		return "it refuses (" + t.Message + ")"
	case t.Reason == v1alpha1.ReasonGaveUp:
		return "it answers with errors, or not at all"
	default:
		return "it refuses"
	}
}
