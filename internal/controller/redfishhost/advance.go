package redfishhost

import (
	"context"
	"net/http"
	"reflect"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/gate"
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
	if e.trouble != nil && !e.initial {
		return errors.New(sentence(e.trouble, e.inputs).message)
	}
	if outdated(host) {
		return e.errOutdated()
	}
	e.want = w
	j, seen := e.journal(host, w), e.seen(e.system)
	for {
		st := following(e.view(host, w, j, seen))
		if st.journal != nil {
			if st.journal.gaveUp() && !j.gaveUp() && !j.holds() {
				e.readLog(ctx)
			}
			if err := e.writeJournal(ctx, host, st.journal); err != nil {
				return err
			}
			e.inserted, e.pushRecord = st.journal.Media, st.journal.Push
		}
		if st.do == actNone {
			e.showActs(host, w, seen)

			return e.stillRefused(st, j)
		}
		f, _ := facetOf(st.do)
		e.connector.watch.start(host.GetUID(), *st.journal.Act)
		e.connector.Failpoint(FailpointBeforeCall)
		after, receipt, err := e.call(ctx, host, *st.journal.Act)
		e.connector.Failpoint(FailpointAfterCall)
		if err != nil {
			return e.failed(ctx, host, w, *st.journal, err)
		}
		if told := f.event(*st.journal.Act); told.Reason != "" {
			e.connector.Recorder.Event(host, told)
		}
		accepted, news := st.journal.Act.accepted(receipt)
		st.journal = st.journal.with(accepted)
		if f.readBack == nil {
			return e.recordDone(ctx, host, w, *st.journal, after, news)
		}
		j, seen = f.readBack(e.view(host, w, st.journal, seen), *st.journal, receipt)
		if following(e.view(host, w, j, seen)).do == actNone {
			err := e.writeJournal(ctx, host, j)
			e.showActs(host, w, seen)

			return err
		}
	}
}

// view is what is known of a host now.
func (e *external) view(host *v1alpha1.RedfishHost, w want, j *journal, s seen) view {
	return view{
		want: w, initial: e.initial, j: j, seen: s, now: e.connector.Now(), spec: host.GetGeneration(), asked: host.GetAnnotations()[meta.AnnotationKeyReconcileRequestedAt],
		lap: func(a act) lap { return e.connector.watch.look(host.GetUID(), a) },
		rests: func(a action, at time.Time) time.Duration {
			return e.connector.watch.look(restOf(host.GetUID(), a), act{Action: a, Time: at}).age
		},
	}
}

// call does what the act says, on the machine as it is now, and looks again.
func (e *external) call(ctx context.Context, host *v1alpha1.RedfishHost, a act) (redfish.System, redfish.Receipt, error) {
	var after redfish.System
	var receipt redfish.Receipt
	reached := false
	err := e.connector.Gates.Do(ctx, e.target, func(ctx context.Context, bmc BMC) error {
		reached = true
		e.unseen = e.unseen && facetIsRotation(a.Action)
		now, err := e.again(ctx, bmc, host)
		if err != nil {
			return notCalledError{err}
		}
		if err := recognise(host, now.Identity); err != nil {
			e.inputs.was, e.inputs.is = changedFrom(host, now.Identity)

			return notCalledError{err}
		}
		f, ok := facetOf(a.Action)
		if !ok {
			return notCalledError{errors.Errorf("cannot do %q to a BMC: no such act", a.Action)}
		}
		if receipt, err = f.perform(ctx, e, bmc, now, a); err != nil {
			return err
		}
		if f.readBack == nil {
			// A look that fails now says nothing about the call: the next will tell.
			after, _ = bmc.Again(ctx, now)
		}

		return nil
	})
	if err != nil && !reached || gate.IsBusy(err) {
		err = notCalledError{err} // It had no turn at the BMC, couldn't log in, or only read.
	}

	return after, receipt, err
}

// again reads the machine that Observe found, as it is now: in the same place,
// and with all that tells it from another one.
func (e *external) again(ctx context.Context, bmc BMC, host *v1alpha1.RedfishHost) (redfish.System, error) {
	if e.initial || e.unseen {
		return e.system, nil
	}
	now, err := bmc.Again(ctx, e.system)
	if err != nil {
		return now, err //nolint:wrapcheck // The caller asks for its kind.
	}

	return traced(ctx, bmc, host, now)
}

// recordDone writes down that an act is done, where that is known already. A
// power state that isn't reached yet is looked for by the next Observe, and so
// is the task that the BMC made of it, which is news for the journal.
func (e *external) recordDone(ctx context.Context, host *v1alpha1.RedfishHost, w want, j journal, after redfish.System, news bool) error {
	var written *journal
	if news {
		written = &j
	}
	if after.URI == "" { // It couldn't be looked at.
		return e.note(ctx, host, written)
	}
	host.Status.AtProvider.Power = shownPower(after.Power, &j)
	if st := following(e.view(host, w, &j, e.seen(after))); st.do == actNone && st.journal != nil {
		written = st.journal
	}
	err := e.note(ctx, host, written)
	e.showActs(host, w, e.seen(after))

	return err
}

// note writes a journal where there is something to write.
func (e *external) note(ctx context.Context, host *v1alpha1.RedfishHost, j *journal) error {
	if j == nil {
		return nil
	}

	return e.writeJournal(ctx, host, j)
}

// failed writes down what a failed call means for its act, and says what went
// wrong. When the BMC answered that it didn't act, the act is begun anew; when
// it didn't answer, it stays begun and the next look tells what happened. What a
// condition says of the act itself is no error, as far as nothing can be done
// about it by trying again.
func (e *external) failed(ctx context.Context, host *v1alpha1.RedfishHost, w want, j journal, err error) error {
	t := sentence(err, e.inputs)
	switch redfish.KindOf(err) { //nolint:exhaustive // The others don't say that the BMC is away.
	case redfish.Unreachable, redfish.Unauthorized, redfish.UntrustedCertificate, redfish.NotAllowed:
		host.SetConditions(condition(v1alpha1.ConditionReachable, corev1.ConditionFalse, t.reason, t.message))
	}
	v := e.view(host, w, &j, e.seen(e.system))
	next := j.with(afterFailure(v, *j.Act, err))
	if f, ok := facetOf(j.Act.Action); ok && f.noted != nil {
		f.noted(v, next, err)
	}
	if !reflect.DeepEqual(*next, j) {
		if journalErr := e.writeJournal(ctx, host, next); journalErr != nil {
			return journalErr
		}
	}
	e.dropSpurned(ctx)
	e.showActs(host, w, e.seen(e.system))
	switch a := *next.Act; {
	case a.Refused:
		return nil
	case a.State == begun && a.Refusals > 0:
		return e.stillRefused(waiting(a, ""), next)
	default:
		return errors.New(t.message)
	}
}

// stillRefused is an error for as long as the BMC refuses an act, so that whoever
// waits for the host sees why.
func (e *external) stillRefused(st step, j *journal) error {
	if !st.refused {
		return nil
	}
	_, message := refusedSentence(*j.Act, e.inputs)

	return errors.New(message)
}

// afterFailure is what becomes of an act whose call failed. One that the BMC says
// it didn't carry out is begun anew; of another one the next look tells.
func afterFailure(v view, a act, err error) act {
	if f, ok := facetOf(a.Action); ok && f.failed != nil {
		return f.failed(v, a, err)
	}
	if answered(err) {
		a.State = failed
	}

	return a
}

// busy says whether a BMC has no time for anything, which is no word about what it
// was told.
func busy(err error) bool {
	return statusOf(err) == http.StatusServiceUnavailable || statusOf(err) == http.StatusTooManyRequests
}

func statusOf(err error) int {
	var e *redfish.Error
	if errors.As(err, &e) {
		return e.Status
	}

	return 0
}

// notCalledError is an error from before the call.
type notCalledError struct{ error }

// Unwrap returns the error itself.
func (n notCalledError) Unwrap() error { return n.error }

// notCalled says whether err is from before the call.
func notCalled(err error) bool {
	var early notCalledError

	return errors.As(err, &early) || redfish.IsUnsent(err)
}

// answered says whether err means that nothing was done: it came before the
// call, or is the BMC's own answer. An internal error (5xx) isn't one: it may
// come after the effect.
func answered(err error) bool {
	if notCalled(err) {
		return true
	}
	if statusOf(err) >= http.StatusInternalServerError {
		return false
	}
	switch redfish.KindOf(err) {
	case redfish.Refused, redfish.Unsupported, redfish.NoEffect, redfish.Forbidden, redfish.PasswordChangeRequired, redfish.Unauthorized, redfish.NotFound, redfish.NotAllowed:
		return true
	default:
		return false
	}
}

// writeJournal patches the journal onto the host, and tells people of an act
// that is given up by it.
func (e *external) writeJournal(ctx context.Context, host *v1alpha1.RedfishHost, j *journal) error {
	before := parseJournal(host.GetAnnotations()[v1alpha1.AnnotationJournal])
	text, err := j.encoded()
	if err != nil {
		return err // Nothing is done that isn't written down.
	}
	if err := e.annotate(ctx, host, map[string]string{v1alpha1.AnnotationJournal: text}); err != nil {
		if kerrors.IsConflict(err) {
			return err // The reconciler recognises conflicts and looks again.
		}

		return errors.Wrap(err, "cannot write the host's journal")
	}
	recorded(&host.Status.AtProvider, j)
	e.tellCrowdedOut(host, before, j)
	for _, what := range givenUp(before, j) {
		e.connector.Recorder.Event(host, event.Warning(event.Reason(v1alpha1.ReasonGaveUp), errors.Errorf("the BMC at %q doesn't carry out %s, and isn't told any more: the host's conditions say why", e.inputs.address, what)))
	}
	if j.gaveUp() && !before.gaveUp() && !before.holds() {
		e.connector.Recorder.Event(host, event.Warning(event.Reason(gaveUpReason(*j.Act)), errors.New(gaveUpSentence(*j.Act, e.inputs)+e.logged())))
	}

	return nil
}
