package bootentry

import (
	"context"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// grantLife is how long a grant waits for its machine.
const grantLife = 24 * time.Hour

// Crash points, between deciding and recording.
const (
	failBeforeGrant = "grant-before-write"
	failAfterGrant  = "grant-after-write"
)

// issue takes one step about the grant; each is idempotent, and the id that the host's record holds
// makes a repeated one the same.
func (e *external) issue(ctx context.Context, mg *v1alpha1.BootEntry, in inputs, d decision) error {
	switch d.issue.Step {
	case boot.StepRecordHost:
		return e.recordGrant(ctx, mg, in)
	case boot.StepRecordEntry:
		r := v1alpha1.ReadRecord[v1alpha1.GrantRecord](in.host.Annotations, v1alpha1.AnnotationGranted)
		return e.annotate(ctx, mg, map[string]any{v1alpha1.AnnotationGranted: r})
	case boot.StepGrant:
		return e.writeGrant(ctx, mg, in, d)
	case boot.StepIssued:
		return e.markIssued(ctx, mg, in)
	case boot.StepRecordInstalled:
		i := in.session.Status.Installed
		return e.recordInstalled(ctx, mg, in, i.Generation, i.PlanDigest, i.At.Time)
	case boot.StepAdopt:
		return e.adopt(ctx, mg, in)
	case boot.StepClear, boot.StepWithdraw:
		spec := in.session.Spec
		spec.Grant = nil
		return errors.Wrap(e.writeSession(ctx, mg, in.session, spec), "cannot take the grant out of the BootSession")
	case boot.StepReopen:
		spec := in.session.Spec
		spec.Grant, spec.Revocation = nil, nil
		return errors.Wrap(e.writeSession(ctx, mg, in.session, spec), "cannot reopen the BootSession")
	case boot.StepNone, boot.StepWait, boot.StepAsk, boot.StepCreateSession:
	}
	return nil
}

// recordGrant decides a grant, by writing it down before it's given.
func (e *external) recordGrant(ctx context.Context, mg *v1alpha1.BootEntry, in inputs) error {
	r := &v1alpha1.GrantRecord{
		EntryUID: string(mg.UID), HostUID: hostUID(in), Generation: mg.Spec.ForProvider.Install.Generation,
		GrantID: e.newID(), SessionUID: string(in.session.UID), State: v1alpha1.GrantIssuing, Revision: in.session.ResourceVersion,
	}
	if in.host == nil {
		return e.annotate(ctx, mg, map[string]any{v1alpha1.AnnotationGranted: r})
	}
	r.Serial = in.host.Status.AtProvider.Identity.Serial
	return e.annotate(ctx, in.host, map[string]any{v1alpha1.AnnotationGranted: r})
}

func (e *external) writeGrant(ctx context.Context, mg *v1alpha1.BootEntry, in inputs, d decision) error {
	r := grantRecord(mg.Annotations)
	if r == nil || d.plan == nil {
		return errors.New("the grant's record is gone")
	}
	e.failpoint(failBeforeGrant)
	spec := in.session.Spec
	spec.Grant = &v1alpha1.Grant{
		ID: r.GrantID, HostUID: r.HostUID, EntryUID: r.EntryUID, Generation: r.Generation,
		PlanDigest: d.plan.Digest(), Expires: metav1.NewTime(e.now().Add(grantLife)),
	}
	if err := e.writeSession(ctx, mg, in.session, spec); err != nil {
		return errors.Wrap(err, "cannot write the grant")
	}
	e.failpoint(failAfterGrant)
	e.record.Event(mg, event.Normal("Granted", "granted one install", "generation", encode(r.Generation)))
	return nil
}

// markIssued says that the grant was given, on the host alone where there is one: its record decides, and the entry's follows with the
// install. Each write of an entry is one more that Crossplane hears of.
func (e *external) markIssued(ctx context.Context, mg *v1alpha1.BootEntry, in inputs) error {
	r := decided(in)
	if r == nil {
		return errors.New("the grant's record is gone")
	}
	r.State, r.Revision = v1alpha1.GrantIssued, in.session.ResourceVersion
	if in.host != nil {
		return e.annotate(ctx, in.host, map[string]any{v1alpha1.AnnotationGranted: r})
	}
	return e.annotate(ctx, mg, map[string]any{v1alpha1.AnnotationGranted: r})
}

func (e *external) recordInstalled(ctx context.Context, mg *v1alpha1.BootEntry, in inputs, generation int64, digest string, at time.Time) error {
	r := &v1alpha1.InstalledRecord{
		EntryUID: string(mg.UID), HostUID: hostUID(in), Generation: generation, PlanDigest: digest, At: at.UTC().Format(time.RFC3339),
	}
	if in.host != nil {
		r.Serial = in.host.Status.AtProvider.Identity.Serial
		if err := e.annotate(ctx, in.host, map[string]any{v1alpha1.AnnotationInstalled: r}); err != nil {
			return err
		}
	}
	records := map[string]any{v1alpha1.AnnotationInstalled: r}
	if g := decided(in); g != nil {
		records[v1alpha1.AnnotationGranted] = g
	}
	return e.annotate(ctx, mg, records)
}

// adopt takes a confirmed machine over as it runs: its install becomes this entry's own. The host's records are written as one, and
// then the entry's: whatever happens in between, the question and its answer are still the same.
func (e *external) adopt(ctx context.Context, mg *v1alpha1.BootEntry, in inputs) error {
	records, err := adoption(in, e.now())
	if err != nil {
		return err
	}
	for _, o := range []client.Object{in.host, mg} {
		if err := e.annotate(ctx, o, records); err != nil {
			return err
		}
	}
	return nil
}
