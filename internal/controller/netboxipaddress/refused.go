package netboxipaddress

import (
	"encoding/json"
	"errors"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// A refusal is what NetBox refused of an update, and why. It's told at each look and not asked for again for pause, as a name that nobody
// made in NetBox may be in the spec of thousands: unless the record, or what is to be written, is another by then.
type refusal struct {
	failure

	record      int64
	lastUpdated string
	what        string
	pause       time.Duration
}

// same says whether two refusals are of the same update of the same record as it was, with the same settings.
func (r refusal) same(o refusal) bool {
	return r.settings == o.settings && r.record == o.record && r.lastUpdated == o.lastUpdated && r.what == o.what && r.what != ""
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

// refused notes that NetBox refused the update that was to be done: for a while, and each time for twice as long.
func (e *external) refused(mg *v1alpha1.NetBoxIPAddress, err error) {
	if !isRefusal(err) {
		e.connector.refusals.forget(mg.GetUID())
		return
	}
	now := e.refusable()
	now.err, now.at, now.pause = err, e.connector.Now(), retryAfter
	if was, ok := e.connector.refusals.get(mg.GetUID()); ok && was.same(now) {
		now.pause = min(2*was.pause, retryUnkept)
	}
	e.connector.refusals.put(mg.GetUID(), now)
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
	if e.connector.Now().Sub(was.at) >= was.pause {
		return nil
	}
	return was.err
}

// isRefusal says that NetBox doesn't take what it was asked for, as long as nobody changes something. Of an address that another has by now
// it's looked for who has it.
func isRefusal(err error) bool {
	if taken(err) || errors.As(err, new(takenError)) || errors.As(err, new(movedError)) {
		return false
	}
	return errors.As(err, new(edgeError)) || netbox.IsInvalid(err) || netbox.IsForbidden(err) || netbox.IsMarkerTaken(err)
}
