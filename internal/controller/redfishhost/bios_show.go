package redfishhost

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/bios"
)

// Bounds of what is shown of a declared map.
const (
	maxDifferences = 32
	maxTold        = 3
	maxValue       = 64
	maxProblem     = 256
	// maxBIOS is how many bytes of JSON the settings may have in status, beside an
	// inventory.
	maxBIOS = 5 << 10
)

// showBIOS says how far the declared BIOS settings have come.
func showBIOS(v view, in inputs) []xpv2.Condition {
	w, s := v.want.bios, v.seen.bios
	if w == nil {
		return nil
	}
	if s == nil || v.j == nil {
		return []xpv2.Condition{condition(v1alpha1.ConditionBIOSApplied, corev1.ConditionUnknown, v1alpha1.ReasonWaitingForReset, "the BIOS settings haven't been read yet")}
	}
	t := biosTrouble(v, *w, *s, v.j.biosOf(w), in)
	if t == nil {
		return []xpv2.Condition{condition(v1alpha1.ConditionBIOSApplied, corev1.ConditionTrue, v1alpha1.ReasonApplied, "")}
	}

	return []xpv2.Condition{condition(v1alpha1.ConditionBIOSApplied, corev1.ConditionFalse, t.reason, t.message)}
}

// biosTrouble says what is between a machine and its declared settings; nil
// where nothing is.
func biosTrouble(v view, w wantBIOS, s biosSeen, r biosRecord, in inputs) *trouble {
	names := slices.Sorted(maps.Keys(s.changes))
	say := func(reason xpv2.ConditionReason, format string, args ...any) *trouble {
		return &trouble{reason, fmt.Sprintf(format, args...)}
	}
	booted := r.State == biosStaged && r.bootedSince(v.seen, *v.j)
	switch {
	case s.unread != nil:
		return say(s.unread.reason, "the BMC at %q %s", in.address, s.unread.message)
	case len(s.problems) > 0:
		return say(v1alpha1.ReasonInvalid, "none of the BIOS settings is staged on the machine of BMC %q: %s; correct spec.forProvider.bios.attributes", in.address, told(s.problems))
	case len(s.changes) == 0:
		return nil
	case !s.writable:
		return say(v1alpha1.ReasonNotSupported, "the BMC at %q shows its BIOS settings and takes none: set %s in the machine's own setup", in.address, listed(names))
	case r.given(v) && r.Why == string(v1alpha1.ReasonRefused):
		return say(v1alpha1.ReasonRefused, "the BMC at %q refused the BIOS settings %d times: look for a pending BIOS job or a lockdown on the BMC; nothing more is sent until bios.attributes changes, or annotation crossplane.io/reconcile-requested-at of this host", in.address, len(patience))
	case r.given(v) && r.Why == string(v1alpha1.ReasonNoEffect):
		return say(v1alpha1.ReasonNoEffect, "the BMC at %q accepted the BIOS settings %d times and doesn't show them as staged: look for a pending BIOS job or a lockdown on the BMC; nothing more is sent until bios.attributes changes, or annotation crossplane.io/reconcile-requested-at of this host", in.address, len(patience))
	case r.given(v):
		return say(v1alpha1.ReasonGaveUp, "the machine of BMC %q booted and didn't take %s: the machine isn't reset for it again; look at its setup, correct bios.attributes, or set annotation crossplane.io/reconcile-requested-at of this host to have it staged once more", in.address, listed(names))
	case len(s.foreign) > 0:
		return say(v1alpha1.ReasonConflict, "on the BMC at %q other BIOS settings are staged (%s): two changes must not meet in one boot; they're others', or of an earlier bios.attributes: have them applied by a reboot, take them back on the BMC, or declare them as well", in.address, listed(s.foreign))
	case booted:
		return say(v1alpha1.ReasonWaitingForReset, "the machine booted, and doesn't show %s yet", listed(names))
	case w.apply == v1alpha1.BIOSApplyMaintenance && !w.maintenance:
		return say(v1alpha1.ReasonWaitingForMaintenance, "%s: set spec.forProvider.maintenance to have the machine reset for them", countOf(names))
	case len(s.missing) > 0 && !s.moves():
		return say(v1alpha1.ReasonApplying, "other values of %s are staged, by an earlier bios.attributes or somebody else: what is in force is staged over them", listed(names))
	case len(s.missing) > 0 && r.State == biosStaged && r.Job != "":
		return say(v1alpha1.ReasonWaitingForReset, "%s: the BMC's job %s has them, and applies them with the machine's next reset", countOf(names), bounded(r.Job, maxProblem))
	case len(s.missing) > 0 && w.apply == v1alpha1.BIOSApplyNextPowerOn:
		return say(v1alpha1.ReasonWaitingForPowerOff, "%s: they are staged once the machine is off, and apply when it's powered on", countOf(names))
	case len(s.missing) > 0:
		return say(v1alpha1.ReasonWaitingForReset, "%s: they are being staged", countOf(names))
	case v.seen.off():
		return say(v1alpha1.ReasonWaitingForPowerOn, "%s: they are staged, and apply when the machine is powered on", countOf(names))
	case w.apply == v1alpha1.BIOSApplyMaintenance && r.Adopted && r.Resets == 0:
		return say(v1alpha1.ReasonWaitingForReset, "%s: they are staged; they were declared before this host had a journal, so that the machine isn't reset for them: raise resetGeneration to have it reset", countOf(names))
	case w.apply == v1alpha1.BIOSApplyMaintenance && r.mayReset() && v.awaitsBoot(*v.j):
		return say(v1alpha1.ReasonWaitingForReset, "%s: they are staged; a boot for once is set, which comes first, and brings them as well", countOf(names))
	case w.apply == v1alpha1.BIOSApplyMaintenance && r.mayReset() && r.Turns.contested(v.now):
		return say(v1alpha1.ReasonWaitingForReset, "%s: they are staged; the machine was reset %d times for bios.attributes within the hour: it's reset for them an hour after the last time", countOf(names), maxTurns)
	}

	return say(v1alpha1.ReasonWaitingForReset, "%s: they are staged, and apply with the machine's next reset", countOf(names))
}

func countOf(names []string) string {
	if len(names) == 1 {
		return fmt.Sprintf("BIOS setting %q differs", names[0])
	}

	return fmt.Sprintf("%d BIOS settings differ (%s)", len(names), listed(names))
}

// listed names the first few.
func listed(names []string) string {
	out := make([]string, 0, maxTold)
	for _, n := range names[:min(maxTold, len(names))] {
		out = append(out, strconv.Quote(n))
	}
	text := strings.Join(out, ", ")
	if more := len(names) - maxTold; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}

	return text
}

func told(problems []bios.Problem) string {
	out := make([]string, 0, maxTold)
	for _, p := range problems[:min(maxTold, len(problems))] {
		out = append(out, bounded(p.String(), maxProblem))
	}
	text := strings.Join(out, "; ")
	if more := len(problems) - maxTold; more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}

	return text
}

// biosObservation is what status shows of a declared map; nil where there's none.
func biosObservation(w *wantBIOS, s *biosSeen, j *journal) *v1alpha1.BIOSObservation {
	if w == nil || s == nil || j == nil {
		return nil
	}
	r := j.biosOf(w)
	out := &v1alpha1.BIOSObservation{Resets: r.Resets}
	if r.State == biosVerified {
		out.AppliedDigest = r.Digest
	}
	for _, name := range firstOf(slices.Sorted(maps.Keys(s.current)), maxDifferences) {
		if out.Attributes == nil {
			out.Attributes = map[string]string{}
		}
		out.Attributes[name] = bounded(s.current[name].Text, maxValue)
	}
	for _, name := range slices.Sorted(maps.Keys(s.changes)) {
		if len(out.Pending) < maxDifferences {
			out.Pending = append(out.Pending, v1alpha1.BIOSDifference{Name: name, Current: bounded(s.current[name].Text, maxValue), Wanted: bounded(s.changes[name].Text, maxValue)})
		}
	}
	for _, p := range s.problems[:min(maxDifferences, len(s.problems))] {
		out.Failed = append(out.Failed, v1alpha1.BIOSDifference{
			Name: p.Name, Current: bounded(p.Current.Text, maxValue), Wanted: bounded(p.Wanted.Text, maxValue), Reason: string(p.Reason), Nearest: p.Nearest,
		})
	}
	fitBIOS(out)

	return out
}

// fitBIOS cuts the longest of what is shown by halves until it fits.
func fitBIOS(o *v1alpha1.BIOSObservation) {
	for size(o) > maxBIOS {
		parts := []part{partOf("pending", &o.Pending), partOf("failed", &o.Failed), {"attributes", size(o.Attributes), func() {
			kept := map[string]string{}
			for _, name := range firstOf(slices.Sorted(maps.Keys(o.Attributes)), len(o.Attributes)/2) {
				kept[name] = o.Attributes[name]
			}
			o.Attributes = kept
		}}}
		slices.MaxFunc(parts, func(a, b part) int { return a.bytes - b.bytes }).halve()
	}
}
