package redfishhost

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/config"
)

// ownSecret is what is known of a host's own Secret.
type ownSecret struct {
	// at is where it is; the zero value: the host has none.
	at types.NamespacedName
	// next is its password-next, and rotated its password-rotated; "" where there
	// is none.
	next, rotated string
	// used says that the BMC refused password, and next is what is used, and back
	// that rotated is; first is the fingerprint of that refusal, and lasting of one
	// of rotated.
	used, back     bool
	first, lasting string
	// spurned is the Secret whose password-next the BMC refused, and never had.
	spurned *corev1.Secret
	// host has it.
	host *v1alpha1.RedfishHost
}

// rotationError is why a password isn't rotated, in words without a password.
type rotationError struct {
	reason  xpv2.ConditionReason
	message string
	// again says that the BMC refused a password that it has taken, and later that
	// nothing is known of the rotation but that it has to wait; gone, that
	// password-next is, so that it's begun anew.
	again, later, gone bool
}

// Error implements error.
func (e *rotationError) Error() string { return e.message }

// later is why a step of a rotation wasn't begun, and is to be tried again.
func later(format string, args ...any) error {
	return notCalledError{&rotationError{later: true, message: fmt.Sprintf(format, args...)}}
}

// storePassword writes a new password into the Secret, beside the one in use. One
// that is there stays: the BMC may have it. Nothing is written where the BMC has
// no account to change. The receipt of a new one, which no BMC has, is Created.
func (e *external) storePassword(ctx context.Context, bmc BMC) (redfish.Receipt, error) {
	a, err := bmc.Account(ctx)
	if err != nil {
		return redfish.Receipt{}, err //nolint:wrapcheck // The caller asks for its kind.
	}
	s, err := e.readSecret(ctx)
	if err != nil {
		return redfish.Receipt{}, err
	}
	if meta.WasDeleted(s) {
		return redfish.Receipt{}, beingDeleted(s)
	}
	if valueOf(s, v1alpha1.SecretKeyPassword) != e.target.Password {
		return redfish.Receipt{}, later("cannot rotate the password: Secret %q was changed a moment ago; it's begun anew", s.Name)
	}
	if valueOf(s, v1alpha1.SecretKeyPasswordNext) != "" {
		return redfish.Receipt{}, e.mark(ctx, s)
	}
	next, err := newPassword(a, e.target.Username, rand.Reader)
	if err != nil {
		return redfish.Receipt{}, err
	}
	if err := e.writeSecret(ctx, s, func(data map[string][]byte) { data[v1alpha1.SecretKeyPasswordNext] = []byte(next) }); err != nil {
		return redfish.Receipt{}, err
	}
	e.connector.Recorder.Event(e.own.host, event.Normal("PasswordStored", "a new password for the BMC is in the Secret, as "+v1alpha1.SecretKeyPasswordNext))

	return redfish.Receipt{Status: http.StatusCreated}, nil
}

// setPassword gives the BMC the new password. One that the BMC says it doesn't
// take, and never had, is of no use: dropSpurned takes it out of the Secret.
func (e *external) setPassword(ctx context.Context, bmc BMC, s redfish.System, a act) (redfish.Receipt, error) {
	secret, err := e.readSecret(ctx)
	if err != nil {
		return redfish.Receipt{}, err
	}
	if meta.WasDeleted(secret) {
		return redfish.Receipt{}, beingDeleted(secret)
	}
	next := valueOf(secret, v1alpha1.SecretKeyPasswordNext)
	if next == "" {
		return redfish.Receipt{}, notCalledError{&rotationError{later: true, gone: true, message: fmt.Sprintf("cannot rotate the password: %s isn't in Secret %q any more; it's begun anew", v1alpha1.SecretKeyPasswordNext, secret.Name)}}
	}
	account, err := bmc.Account(ctx)
	if err != nil {
		return redfish.Receipt{}, notCalledError{err}
	}
	r, err := bmc.SetPassword(ctx, s, account, next)
	e.unseen = err == nil // The session may have ended, and the old password counts as a wrong one.
	v := view{j: parseJournal(e.own.host.GetAnnotations()[v1alpha1.AnnotationJournal])}
	if err != nil && v.j != nil && v.j.Rotation.fresh(a) && rotationFailed(v, a, err).Refused {
		e.own.spurned = secret
	}

	return r, err //nolint:wrapcheck // The caller asks for its kind.
}

// dropSpurned takes a password out of the Secret that the BMC refused. It's called
// once the journal says so: what is gone before would be given to the BMC again.
func (e *external) dropSpurned(ctx context.Context) {
	if e.own.spurned == nil {
		return
	}
	// Where that can't be written, it's tried once some day, and refused.
	_ = e.writeSecret(ctx, e.own.spurned, func(data map[string][]byte) { delete(data, v1alpha1.SecretKeyPasswordNext) })
	e.own.spurned = nil
}

// keepPassword makes the new password the one in use, once the BMC lets us in
// with it. Both are done in one write: there's no moment without the right one.
func (e *external) keepPassword(ctx context.Context, bmc BMC) error {
	s, err := e.readSecret(ctx)
	if err != nil {
		return err
	}
	next := valueOf(s, v1alpha1.SecretKeyPasswordNext)
	switch {
	case next == "" && marked(s):
		return &rotationError{reason: v1alpha1.ReasonConflict, gone: true, message: fmt.Sprintf("%s was taken out of Secret %q before it was tried", v1alpha1.SecretKeyPasswordNext, s.Name)}
	case next == "" && e.own.back: // It was done, and something else has written the Secret since.
		return nil
	case next == "": // It was done, and the provider killed before it was noted.
		e.took(s)

		return nil
	case meta.WasDeleted(s): // It stays as long as it's marked.
		return beingDeleted(s)
	}
	if !e.own.used {
		in, err := bmc.TryPassword(ctx, next)
		if err != nil && !redfish.IsUnauthorized(err) {
			return err //nolint:wrapcheck // The caller asks for its kind.
		}
		if !in {
			// A log-in that is good has the BMC forget what it counted against the account.
			if old, err := bmc.TryPassword(ctx, e.target.Password); err == nil && !old {
				return e.bothRefused(ctx)
			}

			return &rotationError{reason: v1alpha1.ReasonNoEffect, again: true, message: fmt.Sprintf("the BMC at %q took the new password of Secret %q and doesn't let the provider in with it", e.inputs.address, s.Name)}
		}
	}

	return e.writeSecret(ctx, s, func(data map[string][]byte) {
		data[v1alpha1.SecretKeyPassword] = data[v1alpha1.SecretKeyPasswordNext]
		data[v1alpha1.SecretKeyPasswordRotated] = data[v1alpha1.SecretKeyPasswordNext]
		delete(data, v1alpha1.SecretKeyPasswordNext)
	})
}

// bothRefused remembers that the BMC refuses both passwords of the Secret, so that
// neither is tried again.
func (e *external) bothRefused(ctx context.Context) error {
	e.inputs.tried = v1alpha1.SecretKeyPasswordNext
	both := refusal(e.target) + " " + refusal(withNext(e.target, ""))
	if err := e.annotate(ctx, e.own.host, map[string]string{annotationRefused: both}); err != nil {
		return later("cannot note that the BMC refused both passwords of Secret %q: %s", e.own.at.Name, apiWord(err))
	}

	return &redfish.Error{Kind: redfish.Unauthorized, Status: http.StatusUnauthorized}
}

// readSecret reads the host's own Secret from the API server.
func (e *external) readSecret(ctx context.Context) (*corev1.Secret, error) {
	s := &corev1.Secret{}
	if err := e.connector.Kube.Get(ctx, e.own.at, s); err != nil {
		return nil, later("cannot read Secret %q to rotate its password: %s", e.own.at.Name, apiWord(err))
	}

	return s, nil
}

// marked says whether a Secret is known to have, or to have had, a password that
// the BMC may have.
func marked(s *corev1.Secret) bool {
	_, ok := s.Annotations[config.AnnotationRotating]

	return ok
}

// mark has a Secret that has password-next outlive its deletion.
func (e *external) mark(ctx context.Context, s *corev1.Secret) error {
	if marked(s) {
		return nil
	}

	return e.writeSecret(ctx, s, func(map[string][]byte) {})
}

// beingDeleted is why nothing is done to a Secret that goes.
func beingDeleted(s *corev1.Secret) error {
	return later("cannot rotate the password: Secret %q is being deleted; copy both passwords before it goes, and make it anew", s.Name)
}

// writeSecret changes the Secret's data, if it's still what was read.
func (e *external) writeSecret(ctx context.Context, s *corev1.Secret, change func(map[string][]byte)) error {
	before := s.DeepCopy()
	change(s.Data)
	delete(s.Annotations, config.AnnotationRotating)
	if valueOf(s, v1alpha1.SecretKeyPasswordNext) != "" {
		meta.AddAnnotations(s, map[string]string{config.AnnotationRotating: string(e.own.host.GetUID())})
	}
	err := e.connector.Kube.Patch(ctx, s, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
	switch {
	case err == nil:
		e.took(s)

		return nil
	case kerrors.IsForbidden(err):
		return &rotationError{reason: v1alpha1.ReasonForbidden, message: fmt.Sprintf("the provider may not write Secret %q (%s): allow it to patch it, or change the password by hand", s.Name, apiWord(err))}
	case kerrors.IsInvalid(err):
		return &rotationError{reason: v1alpha1.ReasonInvalid, message: immutableSentence(s.Name)}
	default:
		return later("cannot write Secret %q to rotate its password: %s", s.Name, apiWord(err))
	}
}

// apiWord is why the API server didn't do something about a Secret, in its own word
// for it: the sentence beside that, of a webhook or a proxy, may quote what it's about.
func apiWord(err error) string {
	return cmp.Or(string(kerrors.ReasonForError(err)), "no answer")
}

// took goes on with a Secret as it was written: what was refused is remembered of
// this version, so that our own write is no reason to try it again.
func (e *external) took(s *corev1.Secret) {
	e.target.Password, e.target.CredentialVersion = valueOf(s, v1alpha1.SecretKeyPassword), config.VersionOf(s)
	e.own.next, e.own.rotated = valueOf(s, v1alpha1.SecretKeyPasswordNext), valueOf(s, v1alpha1.SecretKeyPasswordRotated)
	e.own.used, e.own.back, e.own.first = false, false, ""
	if e.connector.Forget != nil {
		e.connector.Forget(e.own.at)
	}
}

// valueOf a Secret's key, as it's used.
func valueOf(s *corev1.Secret, key string) string {
	return strings.TrimRight(string(s.Data[key]), "\r\n")
}
