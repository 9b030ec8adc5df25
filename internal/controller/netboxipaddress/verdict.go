package netboxipaddress

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// A verdict is what a look at a record came to where nothing is written: why what differs can't be, or, without an error, that the record
// stays on the interface where somebody put it. It's said again at each look, and NetBox is asked for nothing, until the record, the resource or
// what either goes by is another by then: what thousands of resources ask for may be missing in NetBox for days.
type verdict struct {
	err     error
	grounds grounds
	// at is when it was found, and until the time up to which it's believed; the zero time: as long as belief says.
	at, until time.Time
	// of is the provider config.
	of types.UID
}

// Grounds are what a verdict was found by, as a digest.
type grounds [sha256.Size]byte

// groundsOf are the record, the settings, what Kubernetes says of the assignment, and what the resource shows. ok is false where that can't
// be told.
func (e *external) groundsOf(ctx context.Context, mg *v1alpha1.NetBoxIPAddress, ip netbox.IPAddress) (out grounds, ok bool) {
	w, werr := e.wish(ctx, mg)
	ready, o := mg.GetCondition(xpv2.TypeReady), mg.Status.AtProvider
	record, ok := digest(ip)
	b, err := json.Marshal([]any{
		record, e.settings, fmt.Sprintf("%+v %v", w, werr), ready.Status, ready.Reason, ready.Message, o.ID, o.Drift, o.Assigned,
	})
	return sha256.Sum256(b), ok && err == nil
}

// digest tells one state of a record from another, however it was read.
func digest(ip netbox.IPAddress) (out grounds, ok bool) {
	ip.ETag, ip.URL = "", ""
	b, err := json.Marshal(ip) //nolint:musttag // Nobody reads it.
	return sha256.Sum256(b), err == nil
}

// stands returns the verdict of a look before, where it holds of the record as it was seen lately, and the resource shows it; nil where it's
// to be found out anew.
func (e *external) stands(ctx context.Context, mg *v1alpha1.NetBoxIPAddress, ip netbox.IPAddress) *verdict {
	all := e.connector.verdicts
	v, ok := all.get(mg.GetUID())
	if !ok {
		return nil
	}
	until := v.until
	if until.IsZero() {
		until = v.at.Add(e.connector.belief(all.count(e.of.UID)))
	}
	if !e.connector.Now().Before(until) || !e.said(mg, v.err) {
		return nil
	}
	if now, sure := e.groundsOf(ctx, mg, ip); !sure || now != v.grounds {
		return nil
	}
	return &v
}

// said says whether a resource shows why it isn't as it should be.
func (e *external) said(mg *v1alpha1.NetBoxIPAddress, err error) bool {
	c := mg.GetCondition(xpv2.TypeSynced)
	return err == nil || (c.Status == corev1.ConditionFalse && strings.HasSuffix(c.Message, sentence(err, e.inputs).message))
}

// weigh decides what is to be done about the record, and shows whether the address may be used. An error is why nothing can be done.
func (e *external) weigh(ctx context.Context, mg *v1alpha1.NetBoxIPAddress) error {
	if e.verdict != nil {
		return e.verdict.err
	}
	err := e.consideredAnew(ctx, mg)
	if rerr := e.showUse(ctx, mg, err); err == nil {
		err = rerr
	}
	return err
}

// consideredAnew decides what is to be done, of what NetBox didn't just refuse. Nothing is written by what was only seen.
func (e *external) consideredAnew(ctx context.Context, mg *v1alpha1.NetBoxIPAddress) error {
	var err error
	if e.todo, err = e.consider(ctx, mg); err == nil && e.age > 0 && !e.todo.done() && updates(mg) {
		err = e.lookAgain(ctx, mg)
	}
	if err == nil {
		err = e.unkept(mg, e.todo.words())
	}
	if err == nil {
		err = e.stillRefused(mg)
	}
	return err
}

// conclude remembers what a look or an update came to, where nothing follows of it. What is shown of that must be shown already.
func (e *external) conclude(ctx context.Context, mg *v1alpha1.NetBoxIPAddress, err error) {
	if e.verdict != nil || e.connector.MaxAge == 0 {
		return
	}
	all, uid := e.connector.verdicts, mg.GetUID()
	stays := e.astray && (e.todo.done() || !updates(mg))
	v := verdict{err: err, at: e.connector.Now(), until: e.until, of: e.of.UID}
	ok := err == nil && stays || err != nil && lasts(err)
	if ok {
		v.grounds, ok = e.groundsOf(ctx, mg, *e.record)
	}
	if !ok {
		all.forget(uid)
		return
	}
	all.put(uid, v)
}

// lasts says that a trouble is as it is as long as nobody changes something, and not that somebody couldn't be asked.
func lasts(err error) bool {
	switch netbox.KindOf(err) {
	case netbox.KindNotFound, netbox.KindAmbiguous, netbox.KindForbidden, netbox.KindInvalid, netbox.KindMarkerTaken:
		return true
	case "":
	default: // It may be gone the next time.
		return false
	}
	for _, own := range []any{
		new(takenError), new(seatTakenError), new(hostError), new(edgeError), new(unkeptError), new(malformedError), new(notAllowedError), new(uncreatedError),
	} {
		if errors.As(err, own) {
			return true
		}
	}
	return false
}
