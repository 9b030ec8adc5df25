package redfish

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/stmcginnis/gofish/schemas"
)

// messageID is the shape of a Redfish MessageId (DSP0266, 9.6.2), and that of
// Supermicro's, such as SMC.v1_0_0.OemBiosSettingFileAlreadyExists: everything
// else that a server writes is left out of our errors.
var messageID = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9]{0,40}\.v?[0-9]{1,4}([._][0-9]{1,4}){1,2}\.[A-Za-z0-9_]{1,80}$`)

// classify turns what gofish or net/http returned into an Error.
func classify(what string, err error) error {
	if err == nil {
		return nil
	}
	if ours, ok := errors.AsType[*Error](err); ok {
		return ours
	}
	var answer *schemas.Error
	if errors.As(err, &answer) && answer.HTTPReturnedStatusCode != 0 {
		e := &Error{
			Kind: kindOfStatus(answer.HTTPReturnedStatusCode), Status: answer.HTTPReturnedStatusCode,
			what: what, messages: messageIDs(answer),
		}
		if len(e.messages) > 0 {
			e.MessageID = e.messages[0]
		}
		if wantsNewPassword(e) {
			e.Kind, e.account = PasswordChangeRequired, accountNamed(infosOf(answer))
		}

		return e
	}
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	switch {
	case isCertificateError(err):
		return &Error{Kind: UntrustedCertificate, what: what, cause: plain(err)}
	case isOldTLS(err):
		return &Error{Kind: OldTLS, what: what, cause: plain(err)}
	case isNoTLS(err):
		return &Error{Kind: Protocol, what: what + ": what answers doesn't speak TLS"}
	case errors.Is(err, errTooLong):
		return &Error{Kind: Protocol, what: what, cause: err}
	case wrapped == nil:
		// Not a transport error: gofish couldn't read what came.
		return &Error{Kind: Protocol, what: what + ": the answer isn't Redfish"}
	default:
		return &Error{Kind: Unreachable, what: what, cause: plain(err)}
	}
}

// plain takes out of an error what differs from one time to the next, such as
// our own port or the current time: the text ends in a status, which must not
// change while nothing changes.
func plain(err error) error {
	var (
		timeout net.Error
		dns     *net.DNSError
		op      *net.OpError
		invalid x509.CertificateInvalidError
	)
	switch {
	case errors.As(err, &timeout) && timeout.Timeout():
		return errNoAnswer
	case errors.As(err, &dns) && dns.IsNotFound:
		return errors.New("no such host")
	case errors.As(err, &op):
		return op.Err
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return errors.New("x509: certificate has expired or is not yet valid")
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errCut
	default:
		return err
	}
}

func isCertificateError(err error) bool {
	var (
		verification *tls.CertificateVerificationError
		unknown      x509.UnknownAuthorityError
		invalid      x509.CertificateInvalidError
		hostname     x509.HostnameError
	)

	return errors.As(err, &verification) || errors.As(err, &unknown) || errors.As(err, &invalid) || errors.As(err, &hostname)
}

// isOldTLS says whether a handshake came to nothing because the two sides have
// no version or no cipher in common. crypto/tls has no types for these.
func isOldTLS(err error) bool {
	said := err.Error()

	return strings.HasPrefix(said, "remote error: tls: ") && (strings.HasSuffix(said, "protocol version not supported") || strings.HasSuffix(said, "handshake failure") || strings.HasSuffix(said, "insufficient security level")) ||
		strings.HasPrefix(said, "tls: server selected unsupported protocol version") || strings.HasPrefix(said, "tls: server chose an unconfigured cipher suite")
}

// isNoTLS says whether what answers speaks something else, such as http.
func isNoTLS(err error) bool {
	var record tls.RecordHeaderError

	return errors.Is(err, http.ErrSchemeMismatch) || errors.As(err, &record)
}

func kindOfStatus(status int) Kind {
	switch {
	case status == http.StatusUnauthorized:
		return Unauthorized
	case status == http.StatusForbidden:
		return Forbidden
	case status == http.StatusNotFound, status == http.StatusGone:
		return NotFound
	case status == http.StatusTooManyRequests, status == http.StatusBadGateway, status == http.StatusServiceUnavailable, status == http.StatusGatewayTimeout:
		return Unreachable
	case status >= http.StatusMultipleChoices && status < http.StatusBadRequest:
		return Protocol
	default:
		return Refused
	}
}

// messageIDs returns the well-formed MessageIds of an answer, its code last.
// What gofish's types refused is in its message, as it was sent.
func messageIDs(e *schemas.Error) []string {
	var said []string
	for _, info := range e.ExtendedInfos {
		said = append(said, info.MessageID)
	}
	var b errorBody
	if decode([]byte(e.Message), &b) == nil {
		for _, info := range append(b.Error.Infos, b.Infos...) {
			said = append(said, string(info.ID))
		}
	}
	said = append(said, e.Code, string(b.Error.Code))

	return slices.DeleteFunc(said, func(id string) bool { return !messageID.MatchString(id) })
}

// infosOf are an answer's messages with what they are about.
func infosOf(e *schemas.Error) infos {
	var b errorBody
	if decode([]byte(e.Message), &b) == nil && len(b.Error.Infos)+len(b.Infos) > 0 {
		return slices.Concat(b.Error.Infos, b.Infos)
	}
	var out infos
	for _, info := range e.ExtendedInfos {
		out = append(out, infos{{ID: text(info.MessageID), Args: info.MessageArgs}}...)
	}

	return out
}

// statusOf returns the HTTP status of err, 0 when it has none.
func statusOf(err error) int {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Status
	}

	return 0
}
