package bootentry

import (
	"context"
	"maps"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
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

// A connector makes external clients. All its parts are replaced in tests.
type connector struct {
	kube          client.Client
	cached        client.Reader
	live          client.Reader
	bootNamespace string
	record        event.Recorder
	now           func() time.Time
	newID         func() string
	failpoint     func(string)
}

// Connect needs no credentials: the boot plane is reached through the API server.
func (c *connector) Connect(_ context.Context, _ *v1alpha1.BootEntry) (managed.TypedExternalClient[*v1alpha1.BootEntry], error) {
	return &external{connector: c}, nil
}

// external is the boot plane's record of one entry: its BootSession, and the copy of its data.
type external struct{ *connector }

// Observe resolves the plan and says what is missing. It writes nothing.
func (e *external) Observe(ctx context.Context, mg *v1alpha1.BootEntry) (managed.ExternalObservation, error) {
	in, err := gatherer{e.cached, e.bootNamespace}.gather(ctx, mg)
	if err != nil {
		return managed.ExternalObservation{}, err
	}
	if mg.DeletionTimestamp != nil {
		copies, err := e.copies(ctx, mg)
		return managed.ExternalObservation{ResourceExists: len(copies) > 0 || open(in), ResourceUpToDate: true}, err
	}
	now := e.now()
	d := decide(in, now)
	mg.Status.AtProvider = observation(in, d)
	mg.SetConditions(conditions(in, d, now)...)
	late := false
	if s := in.session; s != nil && s.Spec.EntryUID == string(mg.UID) && meta.GetExternalName(mg) != string(s.UID) {
		meta.SetExternalName(mg, string(s.UID))
		late = true
	}
	return managed.ExternalObservation{
		ResourceExists:          d.issue.Step != boot.StepCreateSession && !missing(in, d),
		ResourceUpToDate:        d.step == stepNone,
		ResourceLateInitialized: late,
		Diff:                    string(d.step) + " " + string(d.issue.Step) + " " + d.issue.Reason,
	}, nil
}

// Create makes the BootSession.
func (e *external) Create(ctx context.Context, mg *v1alpha1.BootEntry) (managed.ExternalCreation, error) {
	n := mg.Spec.ForProvider.Networks[0].NetworkRef
	s := &v1alpha1.BootSession{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: mg.Namespace, Name: mg.Name,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(mg, v1alpha1.BootEntryGroupVersionKind)},
		},
		Spec: v1alpha1.BootSessionSpec{EntryUID: string(mg.UID), Network: or(n.Namespace, mg.Namespace) + "/" + n.Name},
	}
	err := e.kube.Create(ctx, s)
	if kerrors.IsAlreadyExists(err) {
		old, gerr := get[v1alpha1.BootSession](ctx, e.live, mg.Namespace, mg.Name)
		if gerr != nil || old == nil {
			return managed.ExternalCreation{}, errors.Wrap(gerr, "cannot get BootSession")
		}
		if old.Spec.EntryUID != string(mg.UID) {
			return managed.ExternalCreation{}, errors.New(earlierText(old))
		}
		s, err = old, nil
	}
	if err != nil {
		return managed.ExternalCreation{}, errors.Wrapf(err, "cannot create BootSession %q", mg.Namespace+"/"+mg.Name)
	}
	meta.SetExternalName(mg, string(s.UID))
	return managed.ExternalCreation{}, nil
}

// Update takes one step, decided anew on what the API server says now: a cache may be behind.
func (e *external) Update(ctx context.Context, mg *v1alpha1.BootEntry) (managed.ExternalUpdate, error) {
	in, err := gatherer{e.live, e.bootNamespace}.gather(ctx, mg)
	if err != nil {
		return managed.ExternalUpdate{}, err
	}
	d := decide(in, e.now())
	switch d.step {
	case stepNone:
	case stepCopyData:
		err = e.copyData(ctx, in)
	case stepQuestion:
		err = e.annotate(ctx, mg, map[string]any{v1alpha1.AnnotationQuestion: d.question})
		if err == nil && d.asks() {
			e.record.Event(mg, event.Warning(event.Reason(v1alpha1.ReasonNeedsConfirmation), errors.New(questionText(in, d.issue.Reason))))
		}
	case stepIssue:
		err = e.issue(ctx, mg, in, d)
	}
	return managed.ExternalUpdate{}, err
}

// Delete closes the session, then takes the copied data away. The session itself goes with its owner.
func (e *external) Delete(ctx context.Context, mg *v1alpha1.BootEntry) (managed.ExternalDelete, error) {
	mg.SetConditions(xpv2.Deleting())
	in, err := gatherer{e.live, e.bootNamespace}.gather(ctx, mg)
	if err != nil {
		return managed.ExternalDelete{}, err
	}
	if open(in) {
		in.session.Spec.Grant = nil
		in.session.Spec.Revocation = &v1alpha1.Revocation{ID: e.newID(), Reason: "the BootEntry was deleted"}
		return managed.ExternalDelete{}, errors.Wrap(e.kube.Update(ctx, in.session), "cannot close the BootSession")
	}
	return managed.ExternalDelete{}, e.dropCopies(ctx, mg)
}

// Disconnect has nothing to close.
func (e *external) Disconnect(context.Context) error { return nil }

func (e *external) copyData(ctx context.Context, in inputs) error {
	want := copyOf(in, e.bootNamespace)
	if in.copied == nil {
		return errors.Wrapf(e.kube.Create(ctx, want), "cannot copy the machine's data to namespace %q", e.bootNamespace)
	}
	in.copied.Data = want.Data
	return errors.Wrapf(e.kube.Update(ctx, in.copied), "cannot update the machine's data in namespace %q", e.bootNamespace)
}

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
	case boot.StepClear:
		in.session.Spec.Grant = nil
		return errors.Wrap(e.kube.Update(ctx, in.session), "cannot clear the used grant")
	case boot.StepReopen:
		in.session.Spec.Grant, in.session.Spec.Revocation = nil, nil
		return errors.Wrap(e.kube.Update(ctx, in.session), "cannot reopen the BootSession")
	case boot.StepNone, boot.StepWait, boot.StepAsk, boot.StepCreateSession:
	}
	return nil
}

// recordGrant decides a grant, by writing it down before it's given.
func (e *external) recordGrant(ctx context.Context, mg *v1alpha1.BootEntry, in inputs) error {
	r := &v1alpha1.GrantRecord{
		EntryUID: string(mg.UID), HostUID: hostUID(in), Generation: mg.Spec.ForProvider.Install.Generation,
		GrantID: e.newID(), SessionUID: string(in.session.UID), State: v1alpha1.GrantIssuing,
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
	in.session.Spec.Grant = &v1alpha1.Grant{
		ID: r.GrantID, HostUID: r.HostUID, EntryUID: r.EntryUID, Generation: r.Generation,
		PlanDigest: d.plan.Digest(), Expires: metav1.NewTime(e.now().Add(grantLife)),
	}
	if err := e.kube.Update(ctx, in.session); err != nil {
		return errors.Wrap(err, "cannot write the grant")
	}
	e.failpoint(failAfterGrant)
	e.record.Event(mg, event.Normal("Granted", "granted one install", "generation", encode(r.Generation)))
	return nil
}

func (e *external) markIssued(ctx context.Context, mg *v1alpha1.BootEntry, in inputs) error {
	r := v1alpha1.ReadRecord[v1alpha1.GrantRecord](mg.Annotations, v1alpha1.AnnotationGranted)
	if r == nil {
		return errors.New("the grant's record is gone")
	}
	r.State, r.Revision = v1alpha1.GrantIssued, in.session.ResourceVersion
	if in.host != nil {
		if err := e.annotate(ctx, in.host, map[string]any{v1alpha1.AnnotationGranted: r}); err != nil {
			return err
		}
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
	return e.annotate(ctx, mg, map[string]any{v1alpha1.AnnotationInstalled: r})
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

// annotate writes JSON annotations of one object, if it's still the one that was read. Nothing else of
// it changes, in the API or in memory, but its annotations and revision.
func (e *external) annotate(ctx context.Context, o client.Object, values map[string]any) error {
	c, ok := o.DeepCopyObject().(client.Object)
	if !ok {
		return errors.Errorf("%T is no client object", o)
	}
	base, ok := o.DeepCopyObject().(client.Object)
	if !ok {
		return errors.Errorf("%T is no client object", o)
	}
	as := map[string]string{}
	maps.Copy(as, c.GetAnnotations())
	for k, v := range values {
		if q, isQuestion := v.(*v1alpha1.QuestionRecord); isQuestion && q == nil {
			delete(as, k)
			continue
		}
		as[k] = encode(v)
	}
	c.SetAnnotations(as)
	if err := e.kube.Patch(ctx, c, client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{})); err != nil {
		return errors.Wrapf(err, "cannot annotate %T %q", o, o.GetNamespace()+"/"+o.GetName())
	}
	o.SetAnnotations(c.GetAnnotations())
	o.SetResourceVersion(c.GetResourceVersion())
	return nil
}
