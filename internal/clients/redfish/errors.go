package redfish

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"syscall"
	"time"
)

// Kind says what sort of failure an Error is.
type Kind string

// The kinds of Error. A caller that wants a sentence switches over them.
const (
	// Unauthorized: the BMC refused the user name or password (401).
	Unauthorized Kind = "Unauthorized"
	// Forbidden: the user is known but may not do this (403).
	Forbidden Kind = "Forbidden"
	// PasswordChangeRequired: the password is right, and good for nothing but to
	// be changed (DSP0266, "Password change required handling").
	PasswordChangeRequired Kind = "PasswordChangeRequired"
	// SessionsFull: the BMC has no session left, and the configuration allows no
	// other way to log in.
	SessionsFull Kind = "SessionsFull"
	// Unreachable: no answer, or none in time, or a BMC that is busy with itself (503).
	Unreachable Kind = "Unreachable"
	// UntrustedCertificate: the BMC showed a certificate that isn't trusted.
	UntrustedCertificate Kind = "UntrustedCertificate"
	// NotAllowed: the address isn't one that a credential may go to.
	NotAllowed Kind = "NotAllowed"
	// NotFound: the resource isn't there (404, 410).
	NotFound Kind = "NotFound"
	// OldTLS: the BMC speaks no version of TLS that is allowed, or no cipher.
	OldTLS Kind = "OldTLS"
	// Ambiguous: several Systems fit; Count says how many, Systems which.
	Ambiguous Kind = "Ambiguous"
	// NoSystem: no System fits; Count says how many there are, Systems which.
	NoSystem Kind = "NoSystem"
	// NoEffect: the BMC said yes and did nothing; Field says to what.
	NoEffect Kind = "NoEffect"
	// Unsupported: the BMC doesn't offer what is needed; Field says what.
	Unsupported Kind = "Unsupported"
	// Refused: the BMC refused a request (4xx that is none of the above).
	Refused Kind = "Refused"
	// Protocol: the answer isn't Redfish.
	Protocol Kind = "Protocol"
	// Invalid: the configuration can't be used (address, CA bundle).
	Invalid Kind = "Invalid"
)

// Error is a failure to talk to a BMC. It holds no secret and nothing that the
// remote server wrote but its status code, a well-formed MessageId, a well-formed
// media type and, once it has let us in, which Systems it has.
type Error struct {
	Kind Kind
	// Status is the HTTP status code, 0 when there was none.
	Status int
	// MessageID is the first Redfish MessageId of the answer, such as
	// Base.1.18.PropertyUnknown; "" when there was none.
	MessageID string
	// Field is the Redfish property that NoEffect and Unsupported are about; NoSystems of
	// a BMC without a list of Systems.
	Field string
	// ContentType is the media type of the answer, such as text/html; "" when
	// there was none.
	ContentType string
	// Fallback is how a boot for once can be had by the persistent boot order,
	// where nothing that doesn't outlive it works; nil where it can't.
	Fallback *OrderPlan
	// OEM is how it can be had by the vendor's own way, after that; nil where it can't.
	OEM *OEMPlan
	// Count of Systems, for Ambiguous and NoSystem.
	Count int
	// Systems of those, for people: the first few.
	Systems []Choice
	// Offers is what the BMC offers instead, for Unsupported, as it spells it: at
	// most 16 words of at most 64 bytes. Empty where it doesn't say.
	Offers []string
	// RetryAfter is how long the BMC asked to be left alone, 0 where it didn't.
	RetryAfter time.Duration

	what  string
	cause error
	// login says that it was a log-in which failed, so that it's no resource's fault.
	login bool
	// pin is the certificate that a password was sent to.
	pin string
	// messages are all well-formed MessageIds of the answer.
	messages []string
	// account is the URI of the one whose password must be changed, as the answer
	// named it.
	account string
}

// Error implements error: one lower-case sentence.
func (e *Error) Error() string {
	s := e.what
	if e.Status != 0 {
		s += fmt.Sprintf(": status %d", e.Status)
	}
	if e.MessageID != "" {
		s += " (" + e.MessageID + ")"
	}
	if e.cause != nil {
		s += ": " + e.cause.Error()
	}

	return s
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.cause }

// KindOf returns the kind of err, or "" when it is no Error.
func KindOf(err error) Kind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}

	return ""
}

// IsUnauthorized says whether the BMC refused the credentials.
func IsUnauthorized(err error) bool { return KindOf(err) == Unauthorized }

// IsPlainRefusal says whether the BMC refused the credentials by a 401, or by a
// word that means nothing else (iLO's UnauthorizedLoginAttempt, with a 400). Others
// refuse them by a 400 or 403, and a few say so that they have no session left.
func IsPlainRefusal(err error) bool {
	if e, ok := errors.AsType[*Error](err); ok && e.Kind == Unauthorized && strings.HasSuffix(e.MessageID, ".UnauthorizedLoginAttempt") {
		return true
	}

	return statusOf(err) == http.StatusUnauthorized
}

// errNoAnswer is the cause of an Error for an answer that took too long.
var errNoAnswer = errors.New("no answer in time")

// errCut is the cause of an Error for a connection that ended before the answer did.
var errCut = errors.New("the connection was closed")

// IsTimeout says whether the BMC gave no answer in time.
func IsTimeout(err error) bool { return IsUnreachable(err) && errors.Is(err, errNoAnswer) }

// IsCut says whether the BMC took a request and closed the connection without an answer.
func IsCut(err error) bool {
	return IsUnreachable(err) && (errors.Is(err, errCut) || errors.Is(err, syscall.ECONNRESET))
}

// IsUnreachable says whether the BMC gave no answer, or none in time.
func IsUnreachable(err error) bool { return KindOf(err) == Unreachable }

// IsUntrustedCertificate says whether the BMC's certificate wasn't trusted.
func IsUntrustedCertificate(err error) bool { return KindOf(err) == UntrustedCertificate }

// IsNotFound says whether a resource of the BMC isn't there.
func IsNotFound(err error) bool { return KindOf(err) == NotFound }

// IsAmbiguous says whether several Systems fit the selector.
func IsAmbiguous(err error) bool { return KindOf(err) == Ambiguous }

// IsNoSystem says whether no System fits the selector.
func IsNoSystem(err error) bool { return KindOf(err) == NoSystem }

// IsNoEffect says whether the BMC accepted a change and didn't make it.
func IsNoEffect(err error) bool { return KindOf(err) == NoEffect }

// IsUnsupported says whether the BMC doesn't offer what was asked for.
func IsUnsupported(err error) bool { return KindOf(err) == Unsupported }

// PinOf is the fingerprint of the certificate that the password was sent to by a
// Connect which failed; "" where it wasn't sent, or without TLS.
func PinOf(err error) string {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.pin
	}

	return ""
}

// IsOfOneResource says whether err is about what was asked for alone, so that the
// rest can be read without it.
func IsOfOneResource(err error) bool { return skippable(err) }

func failf(kind Kind, format string, args ...any) *Error {
	return &Error{Kind: kind, what: fmt.Sprintf(format, args...)}
}

// Unreachablef makes an Error of kind Unreachable: the BMC can't be used now.
func Unreachablef(format string, args ...any) error { return failf(Unreachable, format, args...) }

// Invalidf makes an Error of kind Invalid: a setting can't be used.
func Invalidf(format string, args ...any) error { return failf(Invalid, format, args...) }
