package netboxipaddress

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// A refusal is what NetBox refused to make or to change, and why. It's told at each look and not asked for again for pause, as a name that
// nobody made in NetBox may be in the spec of thousands: unless the record, or what is to be written, is another by then.
type refusal struct {
	failure

	// record that was to be changed, as it was; 0 is one that was to be made.
	record      int64
	lastUpdated string
	// what was to be changed; of a record that was to be made, in which words that was refused.
	what  string
	pause time.Duration
	// times is how often NetBox failed inside over it before, in a row.
	times int
}

// A refusedError is a refusal whose reason was found out: why, as far as it's of what spec says, and the tenant that the policies set and NetBox
// doesn't take. Either may be "".
type refusedError struct {
	why, tenant string
	cause       error
}

func (e refusedError) Error() string {
	if e.tenant == "" {
		return e.why
	}
	return strings.TrimPrefix(fmt.Sprintf("%s; tenant %q of the policies isn't taken", e.why, e.tenant), "; ")
}

func (e refusedError) Unwrap() error { return e.cause }

func (e refusedError) words(in inputs) (reason xpv2.ConditionReason, message string) {
	var both []string
	if e.why != "" {
		both = append(both, fmt.Sprintf("the NetBox of %s refuses what spec.forProvider says: %s; correct it, or have it made in NetBox", in.config, e.why))
	}
	if e.tenant != "" {
		both = append(both, fmt.Sprintf("the policies of %s give each address tenant (slug) %q, whatever spec.forProvider says, and its NetBox has none, or the token may not see it: ask the owner of the policies to correct it, or have it made in NetBox", in.config, e.tenant))
	}
	return v1alpha1.ReasonInvalid, strings.Join(both, "; and ")
}

// failsAtOnce is how often NetBox is asked again as soon as may be for what it fails inside over: once may be any trouble of its own.
const failsAtOnce = 3

// A failingError is a record that NetBox fails inside over, each time that it's asked to make it, though it answers what else it's asked.
type failingError struct{ cause error }

func (e failingError) Error() string { return "NetBox fails over it: " + e.cause.Error() }

func (e failingError) Unwrap() error { return e.cause }

func (e failingError) words(in inputs) (reason xpv2.ConditionReason, message string) {
	message = fmt.Sprintf("the NetBox of %s fails inside (status 500) each time that it's asked to make a record for this resource, and has made none: its log says over what, which may be a value of spec.forProvider that it can't store; it's asked ever less often", in.config)
	if n, ok := errors.AsType[*netbox.Error](e.cause); ok && n.Status < http.StatusInternalServerError {
		message = fmt.Sprintf("something in front of the NetBox of %s answers %d each time that it's asked to make a record for this resource, and none was made: see there why it doesn't let that through; it's asked ever less often", in.config, n.Status)
	}
	return v1alpha1.ReasonUnreachable, message
}

// failsInside says that NetBox itself failed over a write, or that something in front of it refused that, and not that nobody waited for its end or
// NetBox is away: what is asked for then may come, or does as soon as it's back.
func failsInside(err error) bool {
	n, ok := errors.AsType[*netbox.Error](err)
	return ok && n.Kind == netbox.KindUnknownOutcome && n.Status >= http.StatusBadRequest && n.Status <= http.StatusInternalServerError && !netbox.GaveUp(n.Status)
}

// stumbled notes that NetBox failed inside over a record, and has none: after the first few times it's left alone for a while, as over a refusal.
func (e *external) stumbled(mg *v1alpha1.NetBoxIPAddress, err error) {
	now := refusal{failure: failure{settings: e.settings, at: e.connector.Now(), err: failingError{err}}, what: "fails inside"}
	if was, ok := e.connector.refusals.get(mg.GetUID()); ok && was.same(now) {
		now.times, now.pause = was.times+1, min(2*was.pause, retryUnkept)
	}
	if now.times >= failsAtOnce {
		now.pause = max(now.pause, retryAfter)
	}
	e.connector.refusals.put(mg.GetUID(), now)
}

// same says whether two refusals are of the same update of the same record as it was, or of the same making, with the same settings.
func (r refusal) same(o refusal) bool {
	return r.settings == o.settings && r.record == o.record && r.lastUpdated == o.lastUpdated && r.what == o.what && r.what != ""
}

// refuse notes that NetBox refused something: for a while, and where it lasts, each time for twice as long. It returns until when.
func (e *external) refuse(mg *v1alpha1.NetBoxIPAddress, now refusal, err error, lasts bool) time.Time {
	now.err, now.at, now.pause = err, e.connector.Now(), retryAfter
	if was, ok := e.connector.refusals.get(mg.GetUID()); ok && lasts && was.same(now) {
		now.pause = min(2*was.pause, retryUnkept)
	}
	e.connector.refusals.put(mg.GetUID(), now)
	return now.until()
}

// until is when it may be asked for again.
func (r refusal) until() time.Time { return r.at.Add(r.pause) }

// remember why Create failed, unless only asking again can tell, or it's known of the sources themselves. An address that another one has
// may be free any time, and the next free one may be another.
func (e *external) remember(mg *v1alpha1.NetBoxIPAddress, err error) {
	if e.failedOver && netbox.IsUnknownOutcome(err) {
		e.stumbled(mg, err)
		return
	}
	if netbox.IsUnknownOutcome(err) || netbox.IsUnreachable(err) || errors.As(err, new(fullError)) || errors.As(err, new(moreError)) || errors.As(err, new(lateError)) || errors.As(err, new(asideError)) || errors.As(err, new(behindError)) || errors.As(err, new(pastError)) {
		return
	}
	lasts := isRefusal(err) && !errors.As(err, new(edgeError)) || netbox.IsUnmarked(err)
	what := sentence(err, e.inputs).message
	if netbox.IsUnmarked(err) {
		what = "unmarked" // Each has a number of its own.
	}
	e.refuse(mg, refusal{failure: failure{settings: e.settings}, what: what}, err, lasts)
}

// refusedLately returns why the last Create failed, as long as asking again is pointless: refusals are left alone for a while. New
// settings are tried at once.
func (e *external) refusedLately(mg *v1alpha1.NetBoxIPAddress) error {
	was, ok := e.connector.refusals.get(mg.GetUID())
	if !ok || was.record != 0 || was.settings != e.settings || !e.connector.Now().Before(was.until()) {
		return nil
	}
	return was.err
}

// obtained forgets why there was no record, once there is one.
func (e *external) obtained(mg *v1alpha1.NetBoxIPAddress) {
	if was, ok := e.connector.refusals.get(mg.GetUID()); ok && was.record == 0 {
		e.connector.refusals.forget(mg.GetUID())
	}
	e.connector.tried.forget(mg.GetUID())
}

// refusable is the update that is to be done, as it's remembered where NetBox refuses it.
func (e *external) refusable() refusal {
	t := e.todo
	t.patch.Assigned = nil // That's of its step.
	what, err := json.Marshal([]any{t.patch, t.step.move, t.step.kind, t.step.holder, t.step.seat, t.step.take})
	if err != nil {
		what = nil // It's asked for each time.
	}
	return refusal{failure: failure{settings: e.settings}, record: e.record.ID, lastUpdated: e.record.LastUpdated, what: string(what)}
}

// refused notes that NetBox refused the update that was to be done.
func (e *external) refused(mg *v1alpha1.NetBoxIPAddress, err error) {
	if !isRefusal(err) {
		e.connector.refusals.forget(mg.GetUID())
		return
	}
	e.until = e.refuse(mg, e.refusable(), err, true)
}

// stillRefused is why NetBox refused just the update that is to be done, as long as asking again is pointless.
func (e *external) stillRefused(mg *v1alpha1.NetBoxIPAddress) error {
	was, ok := e.connector.refusals.get(mg.GetUID())
	if !ok || e.todo.done() {
		return nil
	}
	if !was.same(e.refusable()) {
		e.connector.refusals.forget(mg.GetUID())
		return nil
	}
	if !e.connector.Now().Before(was.until()) {
		return nil
	}
	e.until = was.until()
	return was.err
}

// isRefusal says that NetBox doesn't take what it was asked for, as long as nobody changes something. Of an address that another has by now
// it's looked for who has it.
func isRefusal(err error) bool {
	if errors.As(err, new(barredError)) {
		return true
	}
	if taken(err) || errors.As(err, new(takenError)) || errors.As(err, new(movedError)) {
		return false
	}
	return errors.As(err, new(edgeError)) || netbox.IsInvalid(err) || netbox.IsForbidden(err) || netbox.IsMarkerTaken(err)
}
