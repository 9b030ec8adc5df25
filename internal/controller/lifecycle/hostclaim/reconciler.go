package hostclaim

import (
	"context"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/google/go-cmp/cmp"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// pollPending is how soon a claim that isn't settled is looked at again, beside the events that wake it.
const (
	pollPending = 2 * time.Second
	pollSettled = time.Minute
)

// A reconciler takes one act a call. All its parts are replaced in tests.
type reconciler struct {
	kube client.Client
	// live reads what is about to be changed; a cache may be behind.
	live          client.Reader
	bootNamespace string
	log           logging.Logger
	record        event.Recorder
	now           func() time.Time
	newID         func() string
	// stays says, by an error, that all claims are being deleted with their kind.
	stays func(context.Context) error
	told  told
}

// Reconcile decides where a claim is, takes its next act, and says so in its status.
func (r *reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	if v, err := r.settled(ctx, req.NamespacedName); err != nil || v != nil {
		return reconcile.Result{RequeueAfter: wait(v)}, err
	}
	in, err := r.look(ctx, r.live, req.NamespacedName)
	if err != nil || in.claim == nil {
		return reconcile.Result{}, err
	}
	v := decide(in)
	if !passing(v.act) {
		if err := r.writeStatus(ctx, in, v); err != nil {
			return reconcile.Result{}, quiet(err)
		}
	}
	if v.act == actNone {
		return reconcile.Result{RequeueAfter: wait(&v)}, nil
	}
	r.log.Debug("Acting", "claim", req.String(), "act", string(v.act), "phase", string(v.phase), "reason", string(v.reason))
	if err := r.perform(ctx, in, v); err != nil {
		if rival := fieldConflict(err); rival != "" {
			v = at(v.phase, v1alpha1.ReasonConflict, "host %s can't be changed, since somebody else sets the same fields: %s; they must let go of them", in.host.Name, rival)
			if err := quiet(r.writeStatus(ctx, in, v)); err != nil {
				return reconcile.Result{}, err
			}
			return reconcile.Result{RequeueAfter: pollPending}, nil
		}
		if quiet(err) != nil {
			return reconcile.Result{}, err
		}
		return reconcile.Result{RequeueAfter: pollPending}, nil
	}
	if v.act == actFinish {
		r.told.forget(in.claim.UID)
		return reconcile.Result{}, nil
	}
	return reconcile.Result{RequeueAfter: time.Millisecond}, nil
}

// passing says whether an act is followed by the next at once, so that nobody needs to read of it.
// Crossplane stops listening for minutes to a composite whose parts change more than 50 times at once.
func passing(a act) bool {
	switch a {
	case actFinalize, actForget, actBindHost, actBindClaim, actHold, actRecordBoot, actClear, actUnclaim, actUnbind, actLetGo:
		return true
	case actNone, actQuestion, actApply, actRevoke, actQuarantine, actKeepAddresses, actFinish:
	}
	return false
}

// settled is the verdict on a claim of which the cache says that there's nothing to do and nothing to tell; nil of any other. Most looks
// end here: without it each costs the API server five reads, and a thousand claims look every two seconds. What the cache hasn't heard
// of yet wakes the claim when it comes.
func (r *reconciler) settled(ctx context.Context, key client.ObjectKey) (*verdict, error) {
	in, err := r.look(ctx, r.kube, key)
	if err != nil || in.claim == nil {
		return nil, err
	}
	v := decide(in)
	if v.act != actNone || !r.silent(in, v) {
		return nil, nil //nolint:nilnil // Not settled is an answer here, not an error.
	}
	return &v, nil
}

func wait(v *verdict) time.Duration {
	if v == nil {
		return 0
	}
	if v.phase == v1alpha1.ClaimReady || v.phase == v1alpha1.ClaimStopped {
		return pollSettled
	}
	return pollPending
}

// quiet drops the conflict of a write with an older read: the next call reads anew.
func quiet(err error) error {
	if kerrors.IsConflict(errors.Cause(err)) || kerrors.IsConflict(err) {
		return nil
	}
	return err
}

// fieldConflict is what the API server says of other managers of the fields that we apply; "" where the
// error is something else.
func fieldConflict(err error) string {
	var s kerrors.APIStatus
	if !errors.As(err, &s) || s.Status().Details == nil {
		return ""
	}
	var out []string
	for _, c := range s.Status().Details.Causes {
		if c.Type == metav1.CauseTypeFieldManagerConflict {
			out = append(out, c.Message+" ("+c.Field+")")
		}
	}
	return strings.Join(out, ", ")
}

func (r *reconciler) writeStatus(ctx context.Context, in inputs, v verdict) error {
	if r.silent(in, v) {
		return nil
	}
	before, s := in.claim.Status, status(in, v)
	in.claim.Status = s
	if err := r.kube.Status().Update(ctx, in.claim); err != nil {
		return errors.Wrap(client.IgnoreNotFound(err), "cannot write HostClaim's status")
	}
	r.told.at(in.claim.UID, in.now)
	if before.Phase != s.Phase || before.Reason != s.Reason {
		r.tell(in.claim, v)
	}
	return nil
}

// silent says whether a claim's status need not be written: it says it already, or said something else just now.
func (r *reconciler) silent(in inputs, v verdict) bool {
	return v.phase == "" || cmp.Equal(status(in, v), in.claim.Status) || onTheWay(v) && r.told.lately(in.claim.UID, in.now)
}

// tell emits an event for what a person would want to be called for.
func (r *reconciler) tell(c *v1alpha1.HostClaim, v verdict) {
	switch v.phase {
	case v1alpha1.ClaimNeedsConfirmation, v1alpha1.ClaimFailed:
		r.record.Event(c, event.Warning(event.Reason(v.reason), errors.New(v.message)))
	case v1alpha1.ClaimReady, v1alpha1.ClaimStopped, v1alpha1.ClaimReleasing, v1alpha1.ClaimPoweringOn:
		r.record.Event(c, event.Normal(event.Reason(v.reason), v.message))
	case v1alpha1.ClaimPending, v1alpha1.ClaimBound, v1alpha1.ClaimPreparing, v1alpha1.ClaimBooting, v1alpha1.ClaimInstalling, v1alpha1.ClaimInstalled:
	}
}

// look reads a claim and what its next step rests on; nothing where the claim is absent.
func (r *reconciler) look(ctx context.Context, kube client.Reader, key client.ObjectKey) (inputs, error) {
	c := &v1alpha1.HostClaim{}
	c, err := absent(kube.Get(ctx, key, c), c)
	if err != nil || c == nil {
		return inputs{}, err
	}
	in, err := r.gather(ctx, kube, c)
	if err == nil && c.DeletionTimestamp != nil {
		in.kindGoes = r.stays(ctx)
	}
	return in, err
}

// gather reads the session before host and entry: what is decided on them is written against its revision.
func (r *reconciler) gather(ctx context.Context, kube client.Reader, c *v1alpha1.HostClaim) (inputs, error) {
	in := inputs{now: r.now(), claim: c}
	var err error
	if ref := c.Spec.BootEntryRef; ref != nil {
		key := client.ObjectKey{Namespace: c.Namespace, Name: ref.Name}
		in.session, in.entry = &v1alpha1.BootSession{}, &v1alpha1.BootEntry{}
		if in.session, err = absent(kube.Get(ctx, key, in.session), in.session); err != nil {
			return in, err
		}
		if in.entry, err = absent(kube.Get(ctx, key, in.entry), in.entry); err != nil {
			return in, err
		}
		if err := gatherAddresses(ctx, kube, &in); err != nil {
			return in, err
		}
		if err := gatherOrphans(ctx, kube, &in); err != nil {
			return in, err
		}
	}
	if key := hostName(c); key.Name != "" {
		h := &v1alpha1.RedfishHost{}
		if in.host, err = absent(kube.Get(ctx, key, h), h); err != nil {
			return in, err
		}
		if in.host != nil && in.host.Spec.ClaimRef != nil && !in.holdsHost() {
			ref := in.host.Spec.ClaimRef
			there, err := claimThere(ctx, kube, client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name})
			if err != nil {
				return in, err
			}
			in.forsaken = !there
		}
	}
	servers := &v1alpha1.BootServerList{}
	if err := r.kube.List(ctx, servers, client.InNamespace(r.bootNamespace)); err != nil {
		return in, errors.Wrap(err, "cannot list BootServers")
	}
	in.servers = servers.Items
	return in, nil
}

func gatherAddresses(ctx context.Context, kube client.Reader, in *inputs) error {
	if in.entry == nil {
		return nil
	}
	for _, n := range in.entry.Spec.ForProvider.Networks {
		for _, a := range n.Addresses {
			if a.Ref == nil {
				continue
			}
			ip := &v1alpha1.NetBoxIPAddress{}
			got, err := absent(kube.Get(ctx, client.ObjectKey{Namespace: in.entry.Namespace, Name: a.Ref.Name}, ip), ip)
			if err != nil {
				return err
			}
			if got != nil {
				in.addresses = append(in.addresses, *got)
			}
		}
	}
	return nil
}

// absent makes not-found, and only that, a nil object.
func absent[T any](err error, o *T) (*T, error) {
	if kerrors.IsNotFound(err) {
		return nil, nil //nolint:nilnil // Absent is an answer here, not an error.
	}
	return o, errors.Wrapf(err, "cannot get %T", o)
}
