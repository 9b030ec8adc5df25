package config

import (
	"cmp"
	"errors"
	"fmt"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// An Error says why a provider config can't be used. Its text is a sentence for the owner of the resource that wants to use it,
// who isn't always the owner of the config: it names no Secret of another namespace.
type Error struct {
	// Reason in one word, for a condition: NotFound, NotAllowed or Invalid.
	Reason xpv2.ConditionReason

	text  string
	cause error
}

// Error implements error.
func (e *Error) Error() string { return e.text }

// Unwrap returns the cause, if there was one.
func (e *Error) Unwrap() error { return e.cause }

// ReasonOf returns the reason of an Error, or "" where err is none: then the API server couldn't be asked.
func ReasonOf(err error) xpv2.ConditionReason {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Reason
	}
	return ""
}

func problem(reason xpv2.ConditionReason, format string, args ...any) *Error {
	return &Error{Reason: reason, text: fmt.Sprintf(format, args...)}
}

func errNoRef(kind string) *Error {
	return problem(v1alpha1.ReasonInvalid, "%s has no spec.providerConfigRef: name a ProviderConfig or ClusterProviderConfig there", kind)
}

func errRefKind(kind string) *Error {
	return problem(v1alpha1.ReasonInvalid,
		"spec.providerConfigRef.kind %q is neither ProviderConfig nor ClusterProviderConfig: correct it", kind)
}

func errNotFound(r Ref) *Error {
	return problem(v1alpha1.ReasonNotFound, "%s doesn't exist: create it, or correct spec.providerConfigRef", r)
}

func errNotAllowed(r Ref, namespace string) *Error {
	return problem(v1alpha1.ReasonNotAllowed,
		"%s doesn't allow namespace %q: its owner must list it in spec.allowedNamespaces", r, namespace)
}

func errWrongSystem(r Ref, want string) *Error {
	return problem(v1alpha1.ReasonInvalid,
		"%s isn't for %s: name one that has spec.%s in spec.providerConfigRef", r, want, want)
}

func errForeignSecret(r Ref, namespace string) *Error {
	return problem(v1alpha1.ReasonNotAllowed,
		"%s takes its credentials from namespace %q: a ProviderConfig may use Secrets of its own namespace alone", r, namespace)
}

func errNoSecretNamespace(r Ref) *Error {
	return problem(v1alpha1.ReasonInvalid, "%s doesn't say in which namespace its credentials are: set secretRef.namespace", r)
}

// errSecret words a trouble with a Secret for whoever may know its name, or hides the name.
func errSecret(r Ref, secret types.NamespacedName, namespace string, reason xpv2.ConditionReason, trouble string) *Error {
	if secret.Namespace == namespace {
		return problem(reason, "Secret %q with credentials for %s %s", secret.Name, r, trouble)
	}
	return problem(reason, "the credentials of %s can't be used: its condition Ready says why, its owner must mend it", r)
}

// A secretError is what the API server answered about a Secret, in its own word for it: the sentence beside that, of a webhook or a
// proxy, may quote what it's about.
type secretError struct {
	what string
	err  error
}

// Error implements error.
func (e *secretError) Error() string {
	return e.what + ": " + cmp.Or(string(kerrors.ReasonForError(e.err)), "no answer")
}

// Unwrap returns the API server's error.
func (e *secretError) Unwrap() error { return e.err }

func aboutSecret(err error, format string, args ...any) error {
	return &secretError{what: fmt.Sprintf(format, args...), err: err}
}
