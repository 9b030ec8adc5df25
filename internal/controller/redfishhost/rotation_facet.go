package redfishhost

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
)

// rotationBMC is what another password needs.
type rotationBMC interface {
	Account(ctx context.Context) (redfish.Account, error)
	SetPassword(ctx context.Context, s redfish.System, a redfish.Account, password string) (redfish.Receipt, error)
	TryPassword(ctx context.Context, password string) (bool, error)
}

// The acts of a rotation, in their order. Whatever is killed in between: the
// password that the BMC has is in the Secret, as password or as password-next.
const (
	// actStorePassword writes a new password into the Secret, beside the one in use.
	actStorePassword action = "StorePassword"
	// actSetPassword gives it to the BMC.
	actSetPassword action = "SetPassword"
	// actKeepPassword logs in with it, and makes it the one in use.
	actKeepPassword action = "KeepPassword"
)

// keepTries is how often the BMC may refuse a password that it has taken: some
// take it a moment later.
const keepTries = 2

// rotationRecord says how far the rotation of the password has come.
type rotationRecord struct {
	// Done is the newest generation that was carried out, and At when.
	Done int64     `json:"done,omitempty"`
	At   time.Time `json:"at,omitzero"`
	// Fresh is the generation that made password-next, as long as the BMC was never
	// given it: nothing else may ever be thrown away.
	Fresh int64 `json:"fresh,omitempty"`
	// Sent says that password-next may be the BMC's by now.
	Sent bool `json:"sent,omitempty"`
	// Tries are how often the BMC refused it since, or, before there's one, showed
	// no account.
	Tries int `json:"tries,omitempty"`
	// Failed is the generation that was given up, for what Reason, with the BMC's
	// MessageId, and Asked the look that was asked for last by then.
	Failed  int64                `json:"failed,omitempty"`
	Reason  xpv2.ConditionReason `json:"reason,omitempty"`
	Message string               `json:"message,omitempty"`
	Asked   string               `json:"asked,omitempty"`
}

// failed says whether a generation was given up, and nobody has asked since.
func (r rotationRecord) failed(generation int64, asked string) bool {
	return r.Failed == generation && r.Failed > 0 && r.Asked == asked
}

// due says whether a generation is still to be carried out.
func (r rotationRecord) due(generation int64, asked string) bool {
	return generation > r.Done && !r.failed(generation, asked)
}

// fresh says that the password of a is one that the BMC was never given before.
func (r rotationRecord) fresh(a act) bool { return r.Fresh > 0 && r.Fresh == a.Generation }

// shown is what status has of it.
func (r rotationRecord) shown() *v1alpha1.RotationObservation {
	if r.Done == 0 {
		return nil
	}
	o := &v1alpha1.RotationObservation{Generation: r.Done}
	if !r.At.IsZero() {
		at := metav1.NewTime(r.At)
		o.At = &at
	}

	return o
}

var rotationFacet = facet{ //nolint:gochecknoglobals // A row of the table of facets.
	actions: []action{actStorePassword, actSetPassword, actKeepPassword},
	wants: func(p v1alpha1.RedfishHostParameters, w *want) {
		if p.CredentialsRotation != nil && p.CredentialsSecretRef != nil {
			w.rotation = p.CredentialsRotation.Generation
		}
	},
	begin: beginRotation, resume: resumeRotation, perform: performRotation, failed: rotationFailed, noted: noteRotation, readBack: rotated,
	conditions: []xpv2.ConditionType{v1alpha1.ConditionCredentialsRotated}, show: showRotation, event: rotationEvent,
}

func beginRotation(v view, j journal) step {
	r, last := v.seen.rotation, j.Act
	a := act{Action: actStorePassword, Generation: max(v.want.rotation, j.Rotation.Done)}
	switch {
	case !r.own, v.want.leaving: // The Secret may be gone already. It has what the BMC has.
		return step{}
	case r.byNext, j.Rotation.Sent:
		// What the BMC may have must be in the Secret, be it wanted or not.
		a.Action = actKeepPassword
	case last != nil && last.Action == actStorePassword && j.Rotation.Tries > 0 && v.rested(actStorePassword, last.Time) < patience[min(j.Rotation.Tries, len(patience))-1]:
		return step{}
	case !j.Rotation.due(v.want.rotation, v.asked), r.problem.reason != "", r.reading:
		return step{}
	case r.next && last != nil && last.Action == actStorePassword && last.State == done && last.Generation == a.Generation:
		a.Action = actSetPassword
	}

	return start(v, j, a)
}

func resumeRotation(v view, j journal) step {
	a, r := *j.Act, v.seen.rotation
	switch {
	case !r.own, v.want.leaving:
		return finish(j, "the host goes, or has no Secret of its own any more: what it had keeps both passwords")
	case a.Action == actStorePassword:
		a.State = failed // It's no harm to do it again: what is stored stays.

		return step{journal: j.with(a), why: "the new password is stored"}
	case a.Action == actKeepPassword && !r.byNext && v.lap(a).quiet() < settle:
		return step{wait: true, why: "the BMC is given time to take the new password"}
	case a.Action == actKeepPassword, r.byNext:
		return start(v, j, act{Action: actKeepPassword, Generation: a.Generation})
	case !j.Rotation.Sent && !a.last():
		j.Rotation.Fresh = 0

		return start(v, j, a) // Who heard it before hears the same.
	case j.Rotation.Sent && (v.running(a) || v.lap(a).quiet() < settle):
		return step{wait: true, why: "the BMC is given time to take the new password"}
	}
	j.Rotation.Sent = true

	return start(v, j, act{Action: actKeepPassword, Generation: a.Generation})
}

func performRotation(ctx context.Context, e *external, bmc BMC, s redfish.System, a act) (r redfish.Receipt, err error) {
	switch a.Action {
	case actStorePassword:
		r, err = e.storePassword(ctx, bmc)
	case actSetPassword:
		r, err = e.setPassword(ctx, bmc, s, a)
	default:
		err = e.keepPassword(ctx, bmc)
	}
	if err != nil {
		e.warnRotation(a, err)
	}

	return r, err
}

// warnRotation tells people of a rotation that is given up for err.
func (e *external) warnRotation(a act, err error) {
	j := parseJournal(e.own.host.GetAnnotations()[v1alpha1.AnnotationJournal])
	if j == nil {
		j = &journal{}
	}
	next := j.with(rotationFailed(view{j: j}, a, err))
	noteRotation(view{j: j}, next, err)
	if next.Act.Refused {
		e.connector.Recorder.Event(e.own.host, event.Warning("CredentialsNotRotated", errors.New(rotationFailedSentence(next.Rotation, e.inputs))))
	}
}

// rotationFailed is what becomes of an act whose call failed. Refused is one that
// isn't tried again.
func rotationFailed(v view, a act, err error) act {
	var own *rotationError
	// A log-in that was refused is no word about the act.
	no := answered(err) && !notCalled(err) && !redfish.IsUnauthorized(err)
	switch {
	case errors.As(err, &own) && own.again:
	case own != nil && own.gone && a.Action == actSetPassword:
		a.State, a.Attempts = failed, 0 // Begun anew, with another one.
	case a.Action == actStorePassword && own == nil && no && v.j != nil && v.j.Rotation.Tries+1 < len(patience):
		a.State = failed // A BMC that starts shows its accounts late.
	case own != nil && !own.later, a.Action == actStorePassword && no:
		a.State, a.Refused = failed, a.Action != actKeepPassword || own.gone
	case notCalled(err), redfish.IsUnauthorized(err):
		// One before may have been carried out: then it counts, and a log-in tells.
		if a.Attempts <= 1 || a.Action != actSetPassword {
			a.Attempts--
			a.State = failed
		}
	case a.Action == actSetPassword && no:
		// It was refused, but the BMC may have it of an attempt before.
		a.State, a.Refused = failed, a.Attempts <= 1 && v.j != nil && v.j.Rotation.fresh(a)
	}

	return a
}

// noteRotation writes down what is given up, and what must be found out.
func noteRotation(v view, j *journal, err error) {
	var own *rotationError
	errors.As(err, &own)
	r := &j.Rotation
	switch {
	case own != nil && own.again:
		r.Tries++
		if r.Tries < keepTries {
			return
		}
		j.Act.State, j.Act.Refused = failed, true
	case j.Act.Action == actSetPassword && j.Act.State == failed && !j.Act.Refused && j.Act.Attempts > 0:
		r.Sent, r.Tries = true, 0
	case own == nil && j.Act.Action == actStorePassword && answered(err) && !notCalled(err) && !redfish.IsUnauthorized(err):
		r.Tries++
	}
	if !j.Act.Refused {
		return
	}
	r.Failed, r.Asked, r.Sent, r.Tries, r.Fresh = j.Act.Generation, v.asked, false, 0, 0
	r.Reason, r.Message = v1alpha1.ReasonRefused, ""
	if own != nil {
		r.Reason = own.reason
	}
	if e, ok := errors.AsType[*redfish.Error](err); ok {
		r.Message = e.MessageID
		switch e.Kind { //nolint:exhaustive // All others are refusals.
		case redfish.Unsupported, redfish.NotFound:
			r.Reason = v1alpha1.ReasonNotSupported
		case redfish.Forbidden:
			r.Reason = v1alpha1.ReasonForbidden
		}
	}
}

// rotated is how things are after a step that the client, or the API server, has
// seen done.
func rotated(v view, j journal, r redfish.Receipt) (*journal, seen) {
	s := v.seen
	switch j.Act.Action {
	case actStorePassword:
		s.rotation.next, j.Rotation.Tries = true, 0
		if r.Status == http.StatusCreated {
			j.Rotation.Fresh = j.Act.Generation
		}
	case actSetPassword:
		j.Rotation.Sent, j.Rotation.Tries, j.Rotation.Fresh = true, 0, 0
		if r.Status == http.StatusAccepted {
			return &j, s // A promise: it's waited for.
		}
	default:
		j.Rotation = rotationRecord{Done: j.Act.Generation, At: v.now.UTC().Truncate(time.Second)}
		s.rotation = rotationSeen{own: true}
	}

	return finish(j, "").journal, s
}

func rotationEvent(a act) event.Event {
	switch a.Action {
	case actStorePassword:
		return event.Normal("PasswordStored", "a new password for the BMC is in the Secret, as "+v1alpha1.SecretKeyPasswordNext)
	case actSetPassword:
		return event.Normal("PasswordSet", "the BMC was given the new password")
	default:
		return event.Normal("CredentialsRotated", "the BMC lets the provider in with the new password, which is the Secret's "+v1alpha1.SecretKeyPassword+" now")
	}
}
