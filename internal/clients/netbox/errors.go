package netbox

import (
	"errors"
	"fmt"
	"strings"
)

// A Kind is the class of a failed call. Callers branch on it, never on text.
type Kind string

// The kinds of failure, as NetBox 4.2 to 4.7 lets them be told apart without reading its sentences.
const (
	// KindUnreachable: nothing was sent, or a read got no answer.
	KindUnreachable Kind = "Unreachable"
	// KindUntrusted: the TLS certificate isn't trusted; nothing was sent.
	KindUntrusted Kind = "UntrustedCertificate"
	// KindNotAllowed: WithDialControl refused the address; nothing was sent.
	KindNotAllowed Kind = "NotAllowed"
	// KindUnauthorized: even /api/status/, which needs no rights, is refused: the token is no good.
	KindUnauthorized Kind = "Unauthorized"
	// KindForbidden: the token is good, but read-only, or lacks the right, or the scope.
	KindForbidden Kind = "Forbidden"
	// KindReadOnly: the connection is for looking alone (Config.ReadOnly); nothing was sent.
	KindReadOnly Kind = "ReadOnly"
	// KindNotFound: NetBox says in JSON that there is no such record, or none that this token may see.
	KindNotFound Kind = "NotFound"
	// KindFull: the prefix has no free address. NetBox says so before it looks at the marker.
	KindFull Kind = "Full"
	// KindMarkerTaken: a rule of the model refused the write; with our marker in it, that is most
	// likely the marker's uniqueness. Look by marker to know.
	KindMarkerTaken Kind = "MarkerTaken"
	// KindInvalid: a value is refused, by us or by NetBox; Fields names which.
	KindInvalid Kind = "Invalid"
	// KindConflict: the record isn't ours, or changed under our hands.
	KindConflict Kind = "Conflict"
	// KindAmbiguous: several records match where one must.
	KindAmbiguous Kind = "Ambiguous"
	// KindMarkerField: the marker's custom field is missing, or not what it must be.
	KindMarkerField Kind = "MarkerField"
	// KindReleaseField: the custom field for release notes is missing, or not what it must be.
	KindReleaseField Kind = "ReleaseField"
	// KindUnknownOutcome: a write may or may not have happened. Look by marker before anything else.
	KindUnknownOutcome Kind = "UnknownOutcome"
	// KindServerError: a read was answered with 5xx or 429, or a gateway gave up waiting (408, 425, 499).
	KindServerError Kind = "ServerError"
	// KindUnexpected: the answer isn't NetBox's: HTML, a redirect, another shape, another version.
	KindUnexpected Kind = "Unexpected"
)

// An Error is one failed call. Its text holds our words, the input, the status code and the content
// type: never a token, never anything else of what the server sent.
type Error struct {
	Kind Kind
	// Op completes "cannot …"; Subject is the input it was about, shown quoted, or empty.
	Op, Subject string
	// Status and ContentType are the answer's; zero if there was none.
	Status      int
	ContentType string
	// Fields are those fields of our own request that NetBox refused (400).
	Fields []string
	// Needs is the permission that the token lacks (403), where we know it.
	Needs Right
	// Reason says why and what to do, in our words.
	Reason string
	// Elsewhere says, of what wasn't found, what is known of it all the same: such as in which table it is.
	Elsewhere string
	// Hint says, of a token that isn't accepted, what it may be beside the token; "" where nothing is known.
	Hint string
	// Err is the cause, for errors.Is; it is not shown, as it may quote the server.
	Err error
}

// Error returns one lower-case sentence: what, on which input, why.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("cannot " + e.Op)
	if e.Subject != "" {
		fmt.Fprintf(&b, " %q", e.Subject)
	}
	if e.Status != 0 {
		fmt.Fprintf(&b, ": NetBox answered %d", e.Status)
		if e.ContentType != "" {
			fmt.Fprintf(&b, " %q", e.ContentType)
		}
	}
	if len(e.Fields) > 0 {
		fmt.Fprintf(&b, " about %s", strings.Join(e.Fields, ", "))
	}
	if e.Reason != "" {
		b.WriteString(": " + e.Reason)
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// KindOf returns the kind of the first *Error in err's chain, else "".
func KindOf(err error) Kind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return ""
}

// IsNotFound says that NetBox has no such record, or none that the token may see. An HTML 404, as a
// proxy or a wrong sub-path gives, isn't one.
func IsNotFound(err error) bool { return KindOf(err) == KindNotFound }

// IsUnauthorized says that the token itself isn't accepted.
func IsUnauthorized(err error) bool { return KindOf(err) == KindUnauthorized }

// IsForbidden says that the token is accepted but may not do this.
func IsForbidden(err error) bool { return KindOf(err) == KindForbidden }

// IsFull says that the prefix has no free address.
func IsFull(err error) bool { return KindOf(err) == KindFull }

// IsMarkerTaken says that a model rule refused the write; look by marker to know whose it is.
func IsMarkerTaken(err error) bool { return KindOf(err) == KindMarkerTaken }

// IsInvalid says that a value was refused.
func IsInvalid(err error) bool { return KindOf(err) == KindInvalid }

// IsConflict says that the record isn't ours or changed under our hands.
func IsConflict(err error) bool { return KindOf(err) == KindConflict }

// IsAmbiguous says that several records match where one must.
func IsAmbiguous(err error) bool { return KindOf(err) == KindAmbiguous }

// IsMarkerField says that the marker's custom field is missing or wrong.
func IsMarkerField(err error) bool { return KindOf(err) == KindMarkerField }

// IsReleaseField says that the custom field for release notes is missing or wrong.
func IsReleaseField(err error) bool { return KindOf(err) == KindReleaseField }

// IsUnknownOutcome says that a write may have happened.
func IsUnknownOutcome(err error) bool { return KindOf(err) == KindUnknownOutcome }

// errTooLate is the cause of what wasn't sent since it was too late.
var errTooLate = errors.New("too late")

// IsTooLate says that nothing was sent since Request.NotAfter had passed.
func IsTooLate(err error) bool { return errors.Is(err, errTooLate) }

// errUnmarked is the cause of what was taken back as it had no marker.
var errUnmarked = errors.New("it was made without its marker")

// IsUnmarked says that NetBox made a record without the marker that it was asked to make it with, and that it was deleted again: it may do so each time.
func IsUnmarked(err error) bool { return errors.Is(err, errUnmarked) }

// IsUnreachable says that NetBox gave no usable answer and nothing was changed.
func IsUnreachable(err error) bool {
	k := KindOf(err)
	return k == KindUnreachable || k == KindServerError
}

func invalid(op, subject, reason string) *Error {
	return &Error{Kind: KindInvalid, Op: op, Subject: subject, Reason: reason}
}
