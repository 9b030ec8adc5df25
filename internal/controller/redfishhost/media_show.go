package redfishhost

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/config"
)

// Bounds of what status shows of drives: how many, and how many types of each, of
// how many bytes.
const (
	maxMedia      = 8
	maxShownTypes = 4
	maxShownType  = 16
)

// lookMedia fills in the BMC's drives, where images are wanted or are still in
// one of them.
func (e *external) lookMedia(ctx context.Context, bmc BMC, host *v1alpha1.RedfishHost, w want) error {
	e.media, e.inserted, e.accounts = mediaIn{}, nil, e.mediaAccounts(ctx, host, w)
	j := parseJournal(host.GetAnnotations()[v1alpha1.AnnotationJournal])
	moving := j.pending()
	if j != nil {
		e.inserted = j.Media
	}
	for _, r := range e.inserted {
		moving = moving || !r.Begun.IsZero()
	}
	seen, err := e.connector.mediaLooks.of(e.glance(e.mediaWanted(w), moving), func() (*mediaIn, bool, error) {
		slots, err := bmc.Media(ctx, e.system)
		switch {
		case err == nil, redfish.IsUnsupported(err):
			return &mediaIn{slots: slots, known: true}, true, nil
		case !skipped(ctx, err):
			return nil, false, err //nolint:wrapcheck // The caller asks for its kind.
		case meta.WasDeleted(host): // Nothing is waited for.
			return &mediaIn{known: true}, true, nil
		}

		return &mediaIn{busy: busy(err) || redfish.IsTimeout(err)}, !busy(err), nil
	})
	if seen != nil {
		e.media = *seen
	}

	return err
}

// mediaWanted is what drives are looked at for; "" is nothing.
func (e *external) mediaWanted(w want) string {
	if len(w.media) == 0 && len(e.inserted) == 0 {
		return ""
	}

	return fmt.Sprint(w.media, e.inserted)
}

// showMedia says whether the wanted images are in the machine's drives.
func showMedia(v view, in inputs) []xpv2.Condition {
	if len(v.want.media) == 0 {
		return nil
	}
	is := func(status corev1.ConditionStatus, reason xpv2.ConditionReason, format string, args ...any) []xpv2.Condition {
		return []xpv2.Condition{condition(v1alpha1.ConditionMediaInserted, status, reason, fmt.Sprintf(format, args...))}
	}
	var j journal
	if v.j != nil {
		j = *v.j
	}
	for _, kind := range slices.Sorted(maps.Keys(v.want.media)) {
		w, r := v.want.media[kind], j.Media[kind]
		slot, ok, occupied := v.seen.media.slotFor(kind, w, r)
		ours, _ := v.seen.media.at(r.Slot)
		switch {
		case v.seen.media.busy:
			return is(corev1.ConditionFalse, v1alpha1.ReasonRefused, "the BMC at %q has no time to show its drives: they're looked at again, and the machine isn't started or reset before", in.address)
		case !v.seen.media.known:
			return is(corev1.ConditionFalse, v1alpha1.ReasonApplying, "the drives of the BMC at %q haven't been read yet", in.address)
		case r.Slot != "" && r.in(ours) && r.differs(w):
			return is(corev1.ConditionFalse, v1alpha1.ReasonApplying, "the %s image is being changed", kind)
		case ok && r.holds(slot, w.image):
		case v.seen.media.accounts[kind].missing != nil:
			missing := v.seen.media.accounts[kind].missing

			return is(corev1.ConditionFalse, cmp.Or(config.ReasonOf(missing), v1alpha1.ReasonApplying), "%s", missing.Error())
		case ok && slot.Inserted, occupied:
			return is(corev1.ConditionFalse, v1alpha1.ReasonConflict, "the %s drives of the BMC at %q hold images that others inserted: eject one on the BMC's own page", kind, in.address)
		case !ok:
			return is(corev1.ConditionFalse, v1alpha1.ReasonNotSupported, "the BMC at %q has no drive for %s%s: it has %s", in.address, kind, called(w.slot), v.seen.media.listed())
		case j.Settings.given(act{Action: actInsertMedia, Target: kind, Digest: digest(w.image)}, v.asked):
			return is(corev1.ConditionFalse, v1alpha1.ReasonNoEffect,
				"the BMC at %q didn't take the %s image: it was tried %d times; look whether the BMC reaches the image's server, then change the image, or annotation crossplane.io/reconcile-requested-at of this host", in.address, kind, len(patience))
		default:
			return is(corev1.ConditionFalse, v1alpha1.ReasonApplying, "the %s image is being inserted", kind)
		}
	}

	return is(corev1.ConditionTrue, v1alpha1.ReasonApplied, "")
}

// called is the name of a drive that is asked for.
func called(slot string) string {
	if slot == "" {
		return ""
	}

	return fmt.Sprintf(" named %q", slot)
}

// listed names the drives, for people.
func (m mediaIn) listed() string {
	if len(m.slots) == 0 {
		return "none"
	}
	var out []string
	for _, s := range m.slots[:min(maxMedia, len(m.slots))] {
		out = append(out, fmt.Sprintf("%q (%s)", s.ID, strings.Join(shortened(s.Types, maxShownTypes, maxShownType), ", ")))
	}

	return strings.Join(out, ", ")
}

// mediaObservation is what status shows of the drives.
func mediaObservation(m mediaIn, j *journal) []v1alpha1.MediumObservation {
	var out []v1alpha1.MediumObservation
	for _, s := range m.slots[:min(maxMedia, len(m.slots))] {
		o := v1alpha1.MediumObservation{Slot: s.ID, Types: shortened(s.Types, maxShownTypes, maxShownType), Image: bounded(redfish.PlainImage(s.Image), maxValue), Inserted: yesNo(s.Inserted), Ours: "No"}
		if s.Inserted {
			o.WriteProtected = yesNo(s.Protected)
		}
		if j != nil {
			for _, r := range j.Media {
				if r.Slot == s.ID && r.in(s) {
					o.Ours = "Yes"
				}
			}
		}
		out = append(out, o)
	}

	return out
}

func yesNo(b bool) string {
	if b {
		return "Yes"
	}

	return "No"
}
