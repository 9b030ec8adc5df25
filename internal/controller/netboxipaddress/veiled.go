package netboxipaddress

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"k8s.io/apimachinery/pkg/util/uuid"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// To a token that may view some records alone, those that it may not are as if they weren't there. Only a write tells: no second record may carry a
// marker. So before a record that isn't shown is believed to be gone, NetBox is had refuse one with its marker.

// doubtFor is how long a record isn't believed to be gone where NetBox doesn't say whether it hides it. What stands in front of it may never let that be
// asked, and nobody is to wait for that for good.
const doubtFor = 10 * time.Minute

// eventUnseen tells of a record in quarantine that its token isn't shown.
const eventUnseen event.Reason = "OutOfSight"

// viewRight is what a token needs that isn't shown a record of ours.
const viewRight = "permission ipam.view_ipaddress without constraints that leave it out"

// A veiledError is a record with this resource's marker that NetBox has, and doesn't show to the token.
type veiledError struct {
	// id and address that it had when it was last seen; 0 and "" where it never was.
	id      int64
	address string
	// releasing says that it's to be released.
	releasing bool
}

func (e veiledError) Error() string { return fmt.Sprintf("record %d is hidden", e.id) }

func (e veiledError) words(in inputs) (reason xpv2.ConditionReason, message string) {
	what := "a record"
	if e.id != 0 {
		what = fmt.Sprintf("record %d", e.id)
	}
	if e.address != "" {
		what += fmt.Sprintf(" of address %q", e.address)
	}
	message = fmt.Sprintf("%s isn't shown to the token of %s, and is in its NetBox, which refuses another one with this resource's marker: ", what, in.config)
	rest := "it isn't lost, and nothing is written; give the token " + viewRight
	if e.releasing {
		rest = "it isn't released, and this resource stays; give the token " + viewRight + ", delete the record there, or set spec.forProvider.release.policy: Keep to let this resource go without it"
	}
	return v1alpha1.ReasonForbidden, message + rest
}

// veiled says, by an error, that NetBox has a record with this resource's marker, though it shows none, or didn't say.
func (e *external) veiled(ctx context.Context, mg *v1alpha1.NetBoxIPAddress) error {
	all, uid, now := e.connector.doubted, mg.GetUID(), e.connector.Now()
	fields := valuesOf(mg.Spec.ForProvider.CustomFields)
	hides, err := e.netbox.Hides(ctx, e.us.marker(), e.us.nobody(), fields)
	if err == nil && !hides && e.field != netbox.FieldMissing && ownerOf(e.was.Marker, e.us) == ownerRestored { // It may carry that of before a restore yet.
		hides, err = e.hidesFormer(ctx, fields)
	}
	if err != nil {
		since, ok := all.get(uid)
		if !ok {
			since = now
			all.put(uid, since)
		}
		if now.Sub(since) < doubtFor {
			return err
		}
		return nil
	}
	all.forget(uid)
	if !hides {
		return nil
	}
	v := veiledError{releasing: meta.WasDeleted(mg)}
	v.id, v.address = e.had(mg)
	e.believe(ctx, mg, v)
	return v
}

// hidesFormer says whether NetBox has a record with the marker of before a restore that it doesn't show.
func (e *external) hidesFormer(ctx context.Context, fields map[string]any) (bool, error) {
	_, err := e.netbox.FindByMarker(ctx, e.was.Marker)
	switch {
	case netbox.IsNotFound(err):
		return e.netbox.Hides(ctx, e.was.Marker, e.us.nobody(), fields)
	case netbox.IsAmbiguous(err):
		return false, nil
	}
	return false, err
}

// nobody is a marker as a resource's, and no one's.
func (i identity) nobody() string {
	i.uid = string(uuid.NewUUID())
	return i.marker()
}

// unveiled is veiled of a resource that lives, of which NetBox is asked once for each loss and settings, and not where its log has the deletion.
func (e *external) unveiled(ctx context.Context, mg *v1alpha1.NetBoxIPAddress, c culprit) error {
	if c.deleted || c.free == e.settings {
		return nil
	}
	if err := e.veiled(ctx, mg); err != nil {
		return err
	}
	if _, doubtful := e.connector.doubted.get(mg.GetUID()); !doubtful && c.record != 0 {
		c.free = e.settings
		e.connector.culprits.put(mg.GetUID(), c)
	}
	return nil
}

// binds says that a resource that is being deleted doesn't go without its record: it's to be released, and may have one.
func (e *external) binds(mg *v1alpha1.NetBoxIPAddress) bool {
	policy, _ := releaseOf(mg.Spec.ForProvider)
	return deletes(mg) && policy != v1alpha1.ReleaseKeep && !neverHad(mg)
}

// leaves lets go of another one's record that carries our marker, where nothing is to be released: a note of ours is none of its business.
func (e *external) leaves(ctx context.Context, mg *v1alpha1.NetBoxIPAddress) error {
	if e.record == nil || !meta.WasDeleted(mg) || e.binds(mg) {
		return nil
	}
	err := e.notAnothers(ctx, mg, *e.record)
	if errors.As(err, new(markedError)) {
		e.record, err = nil, nil
	}
	return err
}

// goes says, by an error, what keeps a resource that is being deleted and whose record wasn't found: that may come yet, or be hidden. Of one that is shown
// as it was released there's no doubt.
func (e *external) goes(ctx context.Context, mg *v1alpha1.NetBoxIPAddress) error {
	if err := e.outstanding(mg); err != nil {
		return err
	}
	if e.left.record != nil || !e.binds(mg) || e.field == netbox.FieldMissing {
		return nil
	}
	return e.veiled(ctx, mg)
}

// tellUnseen warns of a record whose quarantine began with its last change, and that isn't shown since: nobody ends that. Unless somebody deleted it.
func (e *external) tellUnseen(ctx context.Context, mg *v1alpha1.NetBoxIPAddress, f farewell) {
	if !e.left.gone || !e.connector.Now().Before(f.until) {
		return
	}
	if changes, err := e.netbox.Changes(ctx, f.record); err == nil && len(changes) > 0 && changes[0].Deleted() {
		return
	}
	e.connector.Recorder.Event(mg, event.Warning(eventUnseen, fmt.Errorf("record %d isn't shown to the token of %s since it's in quarantine, which nobody ends then: give the token %s, as one by status or by marker does, or delete the record in NetBox where nobody has",
		f.record, e.inputs.config, viewRight)))
}
