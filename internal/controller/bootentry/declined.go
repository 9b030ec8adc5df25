package bootentry

import (
	"context"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// reasonDeclined is why an Event is recorded, and what bootd calls its silence after it.
const reasonDeclined event.Reason = "AddressDeclined"

// untold is an address that the machine declined and that no Event was recorded for; nil where there's none.
func untold(in inputs) *v1alpha1.DeclinedAddress {
	s := in.session
	if s == nil || s.Spec.EntryUID != string(in.entry.UID) || s.Status.Declined == nil {
		return nil
	}
	if told := v1alpha1.ReadRecord[string](in.entry.Annotations, v1alpha1.AnnotationDeclined); told != nil && *told == declinedAt(s.Status.Declined) {
		return nil
	}
	return s.Status.Declined
}

// declinedAt tells one decline from the next.
func declinedAt(d *v1alpha1.DeclinedAddress) string { return d.At.UTC().Format(time.RFC3339Nano) }

// tellDeclined records one Event for one decline. That it was is written down first, on what was read just now: a cache that is behind, a restart
// or another provider doesn't repeat it.
func (e *external) tellDeclined(ctx context.Context, mg *v1alpha1.BootEntry, d *v1alpha1.DeclinedAddress) error {
	if err := e.annotate(ctx, mg, map[string]any{v1alpha1.AnnotationDeclined: declinedAt(d)}); err != nil {
		return err
	}
	e.record.Event(mg, event.Warning(reasonDeclined, errors.Errorf(
		"address %s was declined by MAC %s: another machine of the segment uses it. bootd gives it to nobody for ten minutes, and no other in its place: find who has it and take it from there, or give this entry another address; then have the machine boot again",
		d.Address, d.MAC)))
	return nil
}
