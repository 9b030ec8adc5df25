package redfishhost

import (
	"errors"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
)

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
		r.Silent = 0
		if r.Tries < keepTries {
			return
		}
		j.Act.State, j.Act.Refused = failed, true
	case own == nil && j.Act.Action == actKeepPassword && !notCalled(err) && !redfish.IsUnauthorized(err):
		r.Silent++
		if r.Silent < keepSilences {
			return
		}
		own = &rotationError{reason: v1alpha1.ReasonNoEffect}
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
	if j.Act.Action == actSetPassword {
		r.For = 0 // It's taken out of the Secret.
	}
	r.Reason, r.Message = reasonOf(err), ""
	if own != nil {
		r.Reason = own.reason
	}
	if e, ok := errors.AsType[*redfish.Error](err); ok {
		r.Message = e.MessageID
	}
}

// reasonOf is a word for what a BMC said about a password or an account.
func reasonOf(err error) xpv2.ConditionReason {
	switch redfish.KindOf(err) {
	case redfish.Unsupported, redfish.NotFound:
		return v1alpha1.ReasonNotSupported
	case redfish.Forbidden:
		return v1alpha1.ReasonForbidden
	default:
		return v1alpha1.ReasonRefused
	}
}
