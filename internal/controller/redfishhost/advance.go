package redfishhost

import (
	"context"
	"net/http"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
)

// Names of the failpoints around a BMC call.
const (
	FailpointBeforeCall = "redfish-before-call"
	FailpointAfterCall  = "redfish-after-call"
)

// advance takes one step towards w: journal, call, read back, record. A boot
// override and the power that it is for are one step: what is known after the
// first is written down with what the second is about to do.
func (e *external) advance(ctx context.Context, host *v1alpha1.RedfishHost, w want) error {
	if e.trouble != nil {
		return errors.New(sentence(e.trouble, e.inputs).message)
	}
	j, seen := parseJournal(host.GetAnnotations()[v1alpha1.AnnotationJournal]), seenOf(e.system)
	for {
		st := next(w, j, seen, e.now())
		if st.journal != nil {
			if err := e.writeJournal(ctx, host, st.journal); err != nil {
				return err
			}
		}
		if st.do == actNone {
			return nil
		}
		e.connector.Failpoint(FailpointBeforeCall)
		after, err := e.call(ctx, host, *st.journal.Act)
		e.connector.Failpoint(FailpointAfterCall)
		if err != nil {
			return e.failed(ctx, host, *st.journal, err)
		}
		e.connector.Recorder.Event(host, eventOf(*st.journal.Act))
		if st.do != actSetBootOnce {
			return e.recordDone(ctx, host, w, *st.journal, after)
		}
		j, seen = overridden(*st.journal, seen)
		if next(w, j, seen, e.now()).do == actNone {
			return e.writeJournal(ctx, host, j)
		}
	}
}

// overridden is how things are after an override was set, which the client has
// read back itself.
func overridden(j journal, s seen) (*journal, seen) {
	j.BootOnce, j.Override = j.Act.Generation, j.Act.Target
	s.boot.Target, s.boot.Enabled = j.Act.Target, redfish.EnabledOnce

	return finish(j, "").journal, s
}

// call does what the act says, on the machine as it is now, and looks again.
func (e *external) call(ctx context.Context, host *v1alpha1.RedfishHost, a act) (redfish.System, error) {
	var after redfish.System
	err := e.connector.Gates.Do(ctx, e.target, func(ctx context.Context, bmc BMC) error {
		now, err := e.find(ctx, bmc, host)
		if err != nil {
			return notCalledError{err}
		}
		if err := recognise(host, now.Identity); err != nil {
			e.inputs.was, e.inputs.is = changedFrom(host, now.Identity), now.Name()

			return notCalledError{err}
		}
		if err := perform(ctx, bmc, now, a); err != nil {
			return err
		}
		if a.Action != actSetBootOnce && a.Action != actClearBoot {
			// A look that fails now says nothing about the call: the next will
			// tell. Overrides were read back already.
			after, _ = e.find(ctx, bmc, host)
		}

		return nil
	})

	return after, err
}

// perform makes the one call of an act.
func perform(ctx context.Context, bmc BMC, s redfish.System, a act) error {
	switch a.Action {
	case actSetBootOnce:
		return bmc.SetBootOnce(ctx, s, a.Target)
	case actClearBoot:
		return bmc.ClearBoot(ctx, s)
	case actPowerOn, actResetOn:
		return bmc.Reset(ctx, s, redfish.ActOn)
	case actGracefulOff:
		return bmc.Reset(ctx, s, redfish.ActGracefulOff)
	case actForceOff, actResetOff:
		return bmc.Reset(ctx, s, redfish.ActForceOff)
	case actNone:
	}

	return errors.Errorf("cannot do %q to a BMC: no such act", a.Action)
}

// recordDone writes down that an act is done, where that is known already. The
// client read a cleared override back itself; a power state that isn't reached
// yet is looked for by the next Observe.
func (e *external) recordDone(ctx context.Context, host *v1alpha1.RedfishHost, w want, j journal, after redfish.System) error {
	if j.Act.Action == actClearBoot {
		j.Override = ""

		return e.writeJournal(ctx, host, finish(j, "").journal)
	}
	host.Status.AtProvider.Power = shownPower(after.Power, &j)
	st := next(w, &j, seenOf(after), e.now())
	if st.do != actNone || st.journal == nil {
		return nil
	}

	return e.writeJournal(ctx, host, st.journal)
}

// failed writes down what a failed call means for its act, and says what went
// wrong. When the BMC answered that it didn't act, the act is begun anew; when
// it didn't answer, it stays begun and the next look tells what happened.
func (e *external) failed(ctx context.Context, host *v1alpha1.RedfishHost, j journal, err error) error {
	t := sentence(err, e.inputs)
	switch redfish.KindOf(err) { //nolint:exhaustive // The others don't say that the BMC is away.
	case redfish.Unreachable, redfish.Unauthorized, redfish.UntrustedCertificate, redfish.NotAllowed:
		host.SetConditions(condition(v1alpha1.ConditionReachable, corev1.ConditionFalse, t.reason, t.message))
	}
	a := *j.Act
	switch {
	case a.Action == actGracefulOff && redfish.IsUnsupported(err):
		// Nothing to wait for: the next step may use force.
		a.Refused = true
	case a.Action == actGracefulOff, a.Action == actResetOff, a.Action == actResetOn, !answered(err):
		// Grace runs on; a reset must not lose its second half.
		return errors.New(t.message)
	default:
		a.State = failed
	}
	if journalErr := e.writeJournal(ctx, host, j.with(a)); journalErr != nil {
		return journalErr
	}

	return errors.New(t.message)
}

// notCalledError is an error from before the call.
type notCalledError struct{ error }

// Unwrap returns the error itself.
func (n notCalledError) Unwrap() error { return n.error }

// answered says whether err means that nothing was done: it came before the
// call, or is the BMC's own answer. An internal error (5xx) isn't one: it may
// come after the effect.
func answered(err error) bool {
	var early notCalledError
	if errors.As(err, &early) {
		return true
	}
	var e *redfish.Error
	if errors.As(err, &e) && e.Status >= http.StatusInternalServerError {
		return false
	}
	switch redfish.KindOf(err) {
	case redfish.Refused, redfish.Unsupported, redfish.NoEffect, redfish.Forbidden, redfish.Unauthorized, redfish.NotFound, redfish.NotAllowed:
		return true
	default:
		return false
	}
}

// writeJournal patches the journal onto the host.
func (e *external) writeJournal(ctx context.Context, host *v1alpha1.RedfishHost, j *journal) error {
	if err := e.annotate(ctx, host, v1alpha1.AnnotationJournal, j.String()); err != nil {
		if kerrors.IsConflict(err) {
			return err // The reconciler recognises conflicts and looks again.
		}

		return errors.Wrap(err, "cannot write the host's journal")
	}
	recorded(&host.Status.AtProvider, j)

	return nil
}

// annotate patches one annotation onto the host, only if the host is still the
// one that was decided on: an optimistic lock makes a stale cache harmless.
func (e *external) annotate(ctx context.Context, host *v1alpha1.RedfishHost, key, value string) error {
	before := host.DeepCopy()
	after := host.DeepCopy()
	meta.AddAnnotations(after, map[string]string{key: value})
	if err := e.connector.Kube.Patch(ctx, after, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
		return err //nolint:wrapcheck // The caller asks whether it's a conflict, and wraps.
	}
	// Only what changed is taken over: the answer holds the old status.
	host.SetAnnotations(after.GetAnnotations())
	host.SetResourceVersion(after.GetResourceVersion())

	return nil
}

// eventOf is what a person reads about an act.
func eventOf(a act) event.Event {
	switch a.Action {
	case actSetBootOnce:
		return event.Normal("BootOverrideSet", "the next boot goes to "+a.Target)
	case actClearBoot:
		return event.Normal("BootOverrideCleared", "the boot override was cleared")
	case actPowerOn:
		return event.Normal("PoweredOn", "power was switched on")
	case actGracefulOff:
		return event.Normal("ShutdownRequested", "the operating system was asked to shut down")
	case actForceOff:
		return event.Normal("PowerCut", "power was switched off")
	case actResetOff:
		return event.Normal("ResetBegun", "power was switched off for a reset")
	case actResetOn:
		return event.Normal("Reset", "power was switched on again for a reset")
	case actNone:
	}

	return event.Normal("Unknown", string(a.Action))
}
