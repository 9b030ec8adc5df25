package redfishhost

import (
	"context"
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

// keepSilences is how often the BMC may leave it open whether it lets us in.
const keepSilences = 5

// rotationRecord says how far the rotation of the password has come.
type rotationRecord struct {
	// Kept says that there is a record: the journal of a version that knew of no
	// rotation has none.
	Kept bool `json:"kept,omitempty"`
	// Done is the newest generation that was carried out, and At when.
	Done int64     `json:"done,omitempty"`
	At   time.Time `json:"at,omitzero"`
	// Fresh is the generation that made password-next, as long as the BMC was never
	// given it: nothing else may ever be thrown away.
	Fresh int64 `json:"fresh,omitempty"`
	// Sent says that password-next may be the BMC's by now, and is to be tried.
	Sent bool `json:"sent,omitempty"`
	// For is the generation for which the BMC was given password-next last; 0: it
	// never was, as far as is known.
	For int64 `json:"for,omitempty"`
	// Silent is how often it wasn't said since whether that lets us in.
	Silent int `json:"silent,omitempty"`
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

// failed says whether a generation was given up, and nobody has asked since. What
// cost log-ins with a wrong password isn't tried again for a look that is asked for:
// some tools ask again and again.
func (r rotationRecord) failed(generation int64, asked string) bool {
	return r.Failed == generation && r.Failed > 0 && (r.Asked == asked || r.Reason == v1alpha1.ReasonNoEffect)
}

// known says whether there is a record. Where an older version of the provider has
// dropped it, or never had one, what is wanted then counts as done: no password is
// changed because of another version.
func (r rotationRecord) known() bool { return r != rotationRecord{} }

// due says whether a generation is still to be carried out.
func (r rotationRecord) due(generation int64, asked string) bool {
	return r.known() && generation > r.Done && !r.failed(generation, asked)
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
	case !r.own, v.want.leaving, r.back: // The Secret may be gone already, or is somebody else's doing. It has what the BMC has.
		return step{}
	case r.byNext, j.Rotation.Sent:
		// What the BMC may have must be in the Secret, be it wanted or not.
		a.Action = actKeepPassword
		if j.Rotation.For > 0 {
			a.Generation = max(j.Rotation.For, j.Rotation.Done) // One that was raised since is another change.
		}
	case !j.Rotation.known():
		j.Rotation = rotationRecord{Kept: true, Done: v.want.rotation}

		return step{journal: &j, why: "the journal is of a version that knew of no rotation: what is asked for now counts as done"}
	case last != nil && last.Action == actStorePassword && j.Rotation.Tries > 0 && v.rested(actStorePassword, last.Time) < patience[min(j.Rotation.Tries, len(patience))-1]:
		return step{}
	case !j.Rotation.due(v.want.rotation, v.asked), r.problem.reason != "", r.reading:
		return step{}
	case r.next && last != nil && last.Action == actStorePassword && last.State == done && last.Generation == a.Generation:
		a.Action = actSetPassword
		j.Rotation.For, j.Rotation.Silent = a.Generation, 0
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
	case a.Action == actKeepPassword && !r.byNext && v.lap(a).quiet() < patience[min(j.Rotation.Silent, len(patience)-1)]:
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

// rotated is how things are after a step that the client, or the API server, has
// seen done.
func rotated(v view, j journal, r redfish.Receipt) (*journal, seen) {
	s := v.seen
	switch j.Act.Action {
	case actStorePassword:
		s.rotation.next, j.Rotation.Tries = true, 0
		if r.Status == http.StatusCreated {
			j.Rotation.Fresh, j.Rotation.For = j.Act.Generation, 0
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
		return event.Event{} // It's told where one is made: one that is there already may stay.
	case actSetPassword:
		return event.Normal("PasswordSet", "the BMC was given the new password")
	default:
		return event.Normal("CredentialsRotated", "the BMC lets the provider in with the new password, which is the Secret's "+v1alpha1.SecretKeyPassword+" now")
	}
}
