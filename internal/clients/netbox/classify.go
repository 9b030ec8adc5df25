package netbox

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"syscall"
)

// typeJSON is the media type of all that NetBox takes and gives.
const typeJSON = "application/json"

// allFields is the key under which NetBox reports rules of the model, such as a unique custom field.
const allFields = "__all__"

// A reply is what classification looks at: never its sentences, which follow Accept-Language.
type reply struct {
	status      int
	contentType string
	body        []byte
	// api is the header of that name, such as 4.6; "" where it's left out, as 4.2 does of most.
	api string
}

func (r reply) json() bool { return r.contentType == typeJSON && json.Valid(r.body) }

// hasDetail says that the body is {"detail": …}, as NetBox's own 403 to 415 are.
func (r reply) hasDetail() bool {
	var m map[string]json.RawMessage
	return json.Unmarshal(r.body, &m) == nil && m["detail"] != nil
}

func (r reply) error(k call, kind Kind, reason string) *Error {
	return &Error{Kind: kind, Op: k.op, Subject: k.subject, Status: r.status, ContentType: r.contentType, Reason: reason}
}

// errTorn says of an answer that it came in part.
var errTorn = errors.New("it isn't whole")

// errLarge is that of one that is larger than is read.
var errLarge = fmt.Errorf("it's larger than is read: %w", errTorn)

// IsTooLarge says that an answer was larger than is read of it.
func IsTooLarge(err error) bool { return errors.Is(err, errLarge) }

// torn is an answer that can't be used. A write it belonged to may well have happened.
func (r reply) torn(k call, reason string, cause error) *Error {
	kind := KindUnexpected
	if k.writes() {
		kind = KindUnknownOutcome
	}
	e := r.error(k, kind, reason)
	e.Err = cause
	return e
}

// refused classifies an answer with another status than the wanted one.
func (r reply) refused(k call) *Error {
	switch {
	case r.status >= 300 && r.status < 400:
		return r.error(k, KindUnexpected, "redirects aren't followed; write the URL that NetBox really has, with its scheme and sub-path")
	case r.status >= 500:
		return r.serverError(k)
	case !k.writes() && (r.status == http.StatusUnauthorized || r.status == http.StatusTooManyRequests || GaveUp(r.status)):
		return r.clientError(k) // Whatever stands in front of NetBox says so in pages of its own.
	case r.status == http.StatusNotFound && !k.ofOne(): // What NetBox lists, or takes new ones of, each has.
		return r.torn(k, "there's no NetBox at that URL; check it, with its sub-path", errNoNetBox)
	case r.status < 300 || !r.json():
		return r.torn(k, "that isn't an answer NetBox gives; check the URL and what stands in front of NetBox", nil)
	}
	return r.clientError(k)
}

func (r reply) serverError(k call) *Error {
	if k.writes() {
		return r.error(k, KindUnknownOutcome, "NetBox failed inside; whether the write happened is looked up next")
	}
	return r.error(k, KindServerError, "NetBox failed inside, its database or cache may be down")
}

// statusClosed is what nginx and others write of a client that has gone, and some of them answer.
const statusClosed = 499

// GaveUp says that a gateway tells so that it didn't wait for NetBox any longer, or doesn't pass the request on yet. NetBox never does.
func GaveUp(status int) bool {
	return status == http.StatusRequestTimeout || status == http.StatusTooEarly || status == statusClosed
}

// clientError reads a clean JSON 4xx. NetBox never takes a request that it refuses with one of those that the recordings show of it; others
// are a gateway's, with a JSON page of its own, which may have passed a write on before.
func (r reply) clientError(k call) *Error {
	switch r.status {
	case http.StatusBadRequest:
		return r.badRequest(k)
	case http.StatusUnauthorized: // NetBox never says 401; a proxy in front of it may
		return r.error(k, KindUnauthorized, "something in front of NetBox wants other credentials")
	case http.StatusForbidden:
		needs := right(k.method, k.path)
		e := r.error(k, KindForbidden, forbidden(k, needs))
		e.Needs = needs
		return e
	case http.StatusNotFound:
		if !r.hasDetail() {
			return r.torn(k, "that 404 isn't NetBox's; check the URL", nil)
		}
		return r.error(k, KindNotFound, "there is none, or none that the token may see")
	case http.StatusConflict, http.StatusPreconditionFailed:
		if r.status == http.StatusConflict && k.writes() && !r.hasDetail() {
			return r.gateway(k)
		}
		return r.error(k, KindConflict, "the record changed or is in use")
	case http.StatusTooManyRequests:
		return r.error(k, KindServerError, "something in front of NetBox limits requests")
	case http.StatusMethodNotAllowed, http.StatusNotAcceptable, http.StatusUnsupportedMediaType:
		return r.error(k, KindInvalid, "the request isn't one that this NetBox takes")
	}
	return r.gateway(k)
}

// errNoNetBox says of an answer that whatever gave it isn't a NetBox.
var errNoNetBox = errors.New("there's no NetBox")

// IsNoNetBox says that what answers at the URL isn't a NetBox: it lacks what each has.
func IsNoNetBox(err error) bool { return errors.Is(err, errNoNetBox) }

// gateway reads a 4xx that NetBox doesn't give.
func (r reply) gateway(k call) *Error {
	const where = "something in front of NetBox gave up waiting for it, or refused to pass the request on"
	switch {
	case k.writes():
		return r.error(k, KindUnknownOutcome, where+"; whether the write happened is looked up next")
	case GaveUp(r.status):
		return r.error(k, KindServerError, where)
	}
	return r.error(k, KindInvalid, "the request isn't one that this NetBox takes")
}

// badRequest names the refused fields, but only by names that we sent ourselves.
func (r reply) badRequest(k call) *Error {
	keys := refusedFields(r.body)
	kind, reason := KindInvalid, "the value isn't one that this NetBox takes"
	switch {
	case k.method == http.MethodDelete:
		reason = "a rule of this NetBox refuses it, such as one that protects records"
	case slices.Contains(keys, allFields):
		kind, reason = KindMarkerTaken, "a rule of the record as a whole refused it, such as a unique custom field"
	}
	e := r.error(k, kind, reason)
	for _, f := range keys {
		if f != allFields {
			e.Fields = append(e.Fields, f)
		}
	}
	return e
}

// sentFields are the fields that we ever write: others in a 400 are a stranger's text and not repeated.
func sentFields() []string {
	return []string{
		allFields, "address", "assigned_object_id", "assigned_object_type", "comments", "custom_fields", "description", "dns_name",
		"filter_logic", "name", "object_types", "oob_ip", "prefix_length", "primary_ip4", "primary_ip6", "role", "site", "status", "tag",
		"tags", "tenant", "type", "unique", "vrf", "vrf_id",
	}
}

// refusedFields returns, sorted, the keys of a 400 that we know. Some are lists of one object, though one object was sent (345).
func refusedFields(body []byte) []string {
	var m map[string]json.RawMessage
	var l []map[string]json.RawMessage
	switch {
	case json.Unmarshal(body, &m) == nil:
	case json.Unmarshal(body, &l) == nil && len(l) == 1:
		m = l[0]
	default:
		return nil
	}
	var out []string
	for _, f := range sentFields() {
		if _, ok := m[f]; ok {
			out = append(out, f)
		}
	}
	return out
}

// classifyTransport tells "nothing was sent" from "nobody knows".
func classifyTransport(k call, err error) *Error {
	var op *net.OpError
	dialled := !errors.As(err, &op) || op.Op != "dial" && op.Op != "proxyconnect"
	dialled = dialled && !errors.Is(err, errProxy)
	reason := transportReason(err)
	switch {
	case errors.Is(err, errDial):
		return k.failed(KindNotAllowed, "its address may not be connected to, so nothing was sent", err)
	case isCertificate(err):
		return k.failed(KindUntrusted, "its TLS certificate isn't trusted; set tls.caBundle or tls.pinnedSHA256 in the ProviderConfig", err)
	case !dialled || !k.writes():
		return k.failed(KindUnreachable, reason, err)
	}
	return k.failed(KindUnknownOutcome, reason+"; whether the write happened is looked up next", err)
}

func isCertificate(err error) bool {
	var cv *tls.CertificateVerificationError
	return errors.As(err, &cv) || errors.Is(err, errPin)
}

// transportReason puts a network failure in our own words, which hold nothing of the server's.
func transportReason(err error) string {
	var dns *net.DNSError
	var ne net.Error
	var record tls.RecordHeaderError
	switch {
	case errors.Is(err, errProxy):
		return "the proxy of proxyURL refused to connect to it"
	case errors.As(err, &dns):
		return "its host name doesn't resolve"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "the connection was refused"
	case errors.As(err, &record):
		return "it doesn't speak TLS there; is the URL http?"
	case errors.Is(err, context.DeadlineExceeded) || (errors.As(err, &ne) && ne.Timeout()):
		return "no answer came in time"
	case errors.Is(err, context.Canceled):
		return "the call was cancelled"
	}
	return "the connection failed or broke off"
}

// unauthorized is what a 403 becomes when /api/status/ refuses the token too, with api.
func (c *Client) unauthorized(k call, err error, api string) *Error {
	e := k.failed(KindUnauthorized, "the token isn't accepted: wrong, expired, disabled, or not from this address", err)
	e.Status = http.StatusForbidden
	if strings.HasPrefix(c.auth, schemeV2) {
		e.Hint = tooNew(api)
	}
	return e
}

// tooNew says what a token of version 2 may be refused for beside itself: NetBoxes before 4.5 ignore it (013). "" of others.
func tooNew(api string) string {
	const mend = "which knows no tokens of version 2 (nbt_…): put one of version 1 into the Secret"
	v, err := parseVersion(api)
	switch {
	case err != nil:
		return "it may be a NetBox before 4.5, " + mend
	case v.AtLeast(4, 5, 0):
		return ""
	}
	return fmt.Sprintf("it's NetBox %d.%d, ", v.Major, v.Minor) + mend
}
