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
	in, err := gatherer{e.cached, e.cached, e.bootNamespace}.gather(ctx, mg)
	if err != nil {
		return managed.ExternalObservation{}, err
	}
	if mg.DeletionTimestamp != nil {
		copies, err := e.copies(ctx, mg)
		return managed.ExternalObservation{ResourceExists: len(copies) > 0 || open(in), ResourceUpToDate: true}, err
	}
	now := e.now()
	d := decide(in, now)
	mg.Status.AtProvider = observation(in, d, now)
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

// conflictTries of a step whose write met somebody else's. bootd writes sessions too, at each stage of a boot.
const conflictTries = 3

// Update takes one step, decided on what the API server says now: a cache may be behind. A write that meets another changed nothing:
// the step is then decided anew on a fresh read, or left to the next look, and isn't a failure that anybody should read of.
func (e *external) Update(ctx context.Context, mg *v1alpha1.BootEntry) (managed.ExternalUpdate, error) {
	for range conflictTries {
		err := e.step(ctx, mg)
		if !kerrors.IsConflict(err) {
			return managed.ExternalUpdate{}, err
		}
		if there, err := e.refresh(ctx, mg); err != nil || !there {
			return managed.ExternalUpdate{}, err
		}
	}
	return managed.ExternalUpdate{}, nil
}

// refresh reads the entry anew, but for the status that Observe has just made. It says whether it's still there to be worked on.
func (e *external) refresh(ctx context.Context, mg *v1alpha1.BootEntry) (bool, error) {
	now, err := get[v1alpha1.BootEntry](ctx, e.live, mg.Namespace, mg.Name)
	if err != nil || now == nil || now.UID != mg.UID || now.DeletionTimestamp != nil {
		return false, err
	}
	mg.ObjectMeta, mg.Spec = now.ObjectMeta, now.Spec
	return true, nil
}

func (e *external) step(ctx context.Context, mg *v1alpha1.BootEntry) error {
	in, d, err := e.look(ctx, mg, e.cached)
	if err == nil && d.step == stepIssue && d.issue.Step == boot.StepGrant {
		in, d, err = e.look(ctx, mg, e.live) // Whether another has the machine's MAC or address already is asked of the API server, too.
	}
	if err != nil {
		return err
	}
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
	case stepDeclined:
		err = e.tellDeclined(ctx, mg, d.declined)
	}
	return err
}

// look decides on what the API server says of the entry's own objects, and what another reader says of everybody else's.
func (e *external) look(ctx context.Context, mg *v1alpha1.BootEntry, all client.Reader) (inputs, decision, error) {
	in, err := gatherer{e.live, all, e.bootNamespace}.gather(ctx, mg)
	if err != nil {
		return in, decision{}, err
	}
	return in, decide(in, e.now()), nil
}

// Delete closes the session, then takes the copied data away. The session itself goes with its owner.
func (e *external) Delete(ctx context.Context, mg *v1alpha1.BootEntry) (managed.ExternalDelete, error) {
	mg.SetConditions(xpv2.Deleting())
	in, err := gatherer{e.live, e.cached, e.bootNamespace}.gather(ctx, mg)
	if err != nil {
		return managed.ExternalDelete{}, err
	}
	if open(in) {
		spec := in.session.Spec
		spec.Grant, spec.Revocation = nil, &v1alpha1.Revocation{ID: e.newID(), Reason: "the BootEntry was deleted"}
		return managed.ExternalDelete{}, errors.Wrap(e.writeSession(ctx, mg, in.session, spec), "cannot close the BootSession")
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
	if in.copied.Labels == nil {
		in.copied.Labels = map[string]string{}
	}
	maps.Copy(in.copied.Labels, want.Labels)
	return errors.Wrapf(e.kube.Update(ctx, in.copied), "cannot update the machine's data in namespace %q", e.bootNamespace)
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
