package netboxipaddress

import (
	"context"
	"errors"
	"net/netip"
	"strconv"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/config"
)

// external is the client of one address for one reconcile.
type external struct {
	connector *Connector
	netbox    NetBox
	us        identity
	of        config.Identity
	grant     grant
	inputs    inputs
	// warnBelow is the part of a source, in percent, below which its owner is warned.
	warnBelow int32
	// url of the NetBox.
	url string
	// settings change whenever what Create depends on does.
	settings string

	// was is what status showed before.
	was v1alpha1.NetBoxIPAddressObservation
	// What Observe found, for the Create, Update or Delete of the same reconcile.
	field  netbox.FieldState
	record *netbox.IPAddress
	plan   plan
	// unasked says that the marker wasn't looked for.
	unasked bool
	// recordless says that it waits and was found to have no record, so that none is looked for. awaited says that one may come
	// yet of what was asked for before.
	recordless, awaited bool
	// sought says that it was found out whether there is a record.
	sought bool
	// missing is what was found out about a record that isn't there, nil before that, and doubt says, by an error, that it may be there all the same.
	missing *lostError
	doubt   error
	// What is to be done, and age how old what was seen of NetBox may be: 0 where it was read now.
	todo todo
	age  time.Duration
	// stepped is what was found out about the next step of the assignment, and astray says that it isn't as it should be.
	stepped stepped
	astray  bool
	// verdict is what a look before came to, where it stands; nil where this one is to find out. until is when what is refused may be asked
	// for again, glimpse a record that isn't ours, as it was seen lately, and has our number, and before our record as it was seen lately, where
	// that isn't enough to leave it alone.
	verdict         *verdict
	until           time.Time
	glimpse, before *netbox.IPAddress
	// place is the interface that a record to be made is for, and wished what spec says of it; nil where it says nothing.
	place  *netbox.Place
	wished *wish
	// held is what the resource was given, and stays what is said of a moved record that isn't put back. carried says of a resource that is
	// being deleted that somebody moved its record.
	held    holding
	stays   *movedError
	carried bool
	// believed says that the record was found to stay moved a moment ago.
	believed bool
	// lost says that the POST of this Create had no answer, denied that it was refused, and remains that what it made is there though the Create
	// failed. latest is until when it may be sent.
	lost, denied, remains bool
	latest                time.Time
	// ruled says that NetBox refused a record by a rule that nothing which the resource asks for explains, and failedOver that it failed inside over
	// one, and has none.
	ruled, failedOver bool
	// back is why a record that was just made is to be taken back, and aside for whom it's to be set aside.
	back  *takenError
	aside *identity
	// gave are the records that this Create has given away.
	gave []string
	// theirs says that status names a record that never was this resource's. left is what became of a record that is being released.
	theirs bool
	left   leftover
	// seated says, by an error, that the seat which is wished for an address is taken; nil while that isn't known.
	seated func(netip.Addr) error
	// dnsName that spec asks for. named says that a person named the record.
	dnsName string
	named   bool
}

var _ managed.TypedExternalClient[*v1alpha1.NetBoxIPAddress] = &external{}

// Observe looks for the record, and publishes what is known of an address that may be used.
func (e *external) Observe(ctx context.Context, mg *v1alpha1.NetBoxIPAddress) (managed.ExternalObservation, error) {
	o, err := e.observe(ctx, mg)
	if err == nil && o.ResourceExists {
		o.ConnectionDetails = details(mg)
	}
	return o, err
}

// observe looks for the record, by its number and else by its marker, and writes nothing. That it isn't there is said only where
// NetBox says so; every other trouble is an error. Where it isn't there, it also finds out what would keep it from being
// made: what Create could say would be lost.
func (e *external) observe(ctx context.Context, mg *v1alpha1.NetBoxIPAddress) (managed.ExternalObservation, error) {
	if untouched(mg) {
		return managed.ExternalObservation{}, nil
	}
	mg.Status.AtProvider.DeepCopyInto(&e.was)
	if err := e.preflight(ctx, mg); err != nil {
		return managed.ExternalObservation{}, e.trouble(mg, err)
	}
	if e.justDeleted(mg) {
		e.tellLeft(ctx, mg)
		e.connector.forget(mg)
		return managed.ExternalObservation{}, nil
	}
	settled, err := e.glance(ctx, mg)
	if e.recordless = e.hasNone(mg); err == nil && !settled && !e.recordless {
		err = e.search(ctx, mg)
	}
	if err != nil {
		e.connector.doubted.forget(mg.GetUID()) // How long NetBox can't be asked at all is no part of it.
		return e.waiting(mg, err)
	}
	e.sought = true
	if e.believed {
		return managed.ExternalObservation{ResourceExists: true, ResourceUpToDate: true}, nil
	}
	if onlyObserved(mg) {
		return e.shown(ctx, mg)
	}
	if err := e.leaves(ctx, mg); err != nil {
		return managed.ExternalObservation{}, e.trouble(mg, err)
	}
	if e.record != nil {
		return e.show(ctx, mg)
	}
	if meta.WasDeleted(mg) {
		if err := e.goes(ctx, mg); err != nil {
			return managed.ExternalObservation{}, e.trouble(mg, err)
		}
		e.tellLeft(ctx, mg)
		e.connector.forget(mg)
		return managed.ExternalObservation{}, nil
	}
	err = e.decide(ctx, mg)
	switch {
	case err == nil && e.record != nil: // It's at the address that was to be made.
		return e.show(ctx, mg)
	case err == nil && creates(mg):
		e.tellRestored(mg)
		e.connector.asks(mg)
		e.notePlace(mg)
		return managed.ExternalObservation{}, nil
	case err == nil:
		err = uncreatedError{}
	}
	if e.unasked {
		return e.waitingUnasked(ctx, mg, err)
	}
	return e.waiting(mg, e.bereft(ctx, mg, err))
}

// waitingUnasked shows what a resource waits for that never asked for a record: one may be there all the same, where this cluster's data was set back.
func (e *external) waitingUnasked(ctx context.Context, mg *v1alpha1.NetBoxIPAddress, err error) (managed.ExternalObservation, error) {
	if ferr := e.findByMarker(ctx); ferr != nil {
		return managed.ExternalObservation{}, e.trouble(mg, ferr)
	}
	if e.record != nil {
		return e.show(ctx, mg)
	}
	e.foundNone(mg, !e.awaited)
	return e.waiting(mg, err)
}

// decide makes the plan, where there isn't one yet, and finds out what would keep it from being carried out.
func (e *external) decide(ctx context.Context, mg *v1alpha1.NetBoxIPAddress) error {
	if mg.Spec.ForProvider.Adopt == v1alpha1.AdoptExternalName && meta.GetExternalName(mg) == "" {
		return malformedError{"adopt: ExternalName takes over the record whose number annotation crossplane.io/external-name is, and there is no such annotation"}
	}
	if e.plan.adopt == nil {
		if err := e.prepare(ctx, mg); err != nil || e.record != nil {
			return err
		}
	}
	if e.plan.adopt != nil {
		return e.refusedLately(mg)
	}
	return e.aim(ctx, mg)
}

// waiting shows what a resource waits for.
func (e *external) waiting(mg *v1alpha1.NetBoxIPAddress, err error) (managed.ExternalObservation, error) {
	e.tellLost(mg, err)
	t := e.trouble(mg, err)
	reason := t.reason
	if l := (lostError{}); errors.As(err, &l) && l.cause != nil {
		reason = sentence(l.cause, e.inputs).reason
	}
	e.showWaiting(mg, t)
	e.connector.stocks.forgo(mg.GetUID())
	if len(e.plan.candidates) > 0 && t.reason != v1alpha1.ReasonExhausted {
		e.connector.stocks.leave(mg.GetUID())
	}
	if !waits(reason) {
		return managed.ExternalObservation{}, t
	}
	// Saying that it exists keeps Create from being called. An error would, too, but each one makes the next look later, and
	// keeps it late after the cause has gone.
	return managed.ExternalObservation{ResourceExists: true, ResourceUpToDate: true}, nil
}

// waits says that NetBox was asked and just has nothing to give: nothing failed, and somebody may change it there any time.
func waits(r xpv2.ConditionReason) bool {
	return r == v1alpha1.ReasonExhausted || r == v1alpha1.ReasonNotFound || r == v1alpha1.ReasonLost
}

// diff is what must be written, where all that is asked for is supported and allowed.
func (e *external) diff(ctx context.Context, p v1alpha1.NetBoxIPAddressParameters) (netbox.Patch, error) {
	policy, ok := e.policy(deref(p.DNSName))
	if !ok {
		return netbox.Patch{}, e.notAllowed(e.network(), deref(p.DNSName))
	}
	patch := e.reorder(ctx, p, diff(p, policy, e.inputs.field, e.us.marker(), *e.record))
	if e.strayed() {
		e.held.back(&patch, p.PrefixLength, *e.record)
	}
	return patch, e.reserved(p)
}

// Create makes the record: one POST with the marker in it.
func (e *external) Create(ctx context.Context, mg *v1alpha1.NetBoxIPAddress) (managed.ExternalCreation, error) {
	switch {
	case e.aside != nil:
		err := asideError{e.record.Address.String(), e.setAside(ctx, mg, *e.record, *e.aside)}
		e.goOn(mg, err)
		return managed.ExternalCreation{}, sentence(err, e.inputs)
	case e.back != nil:
		return managed.ExternalCreation{}, sentence(e.takeBack(ctx, mg, *e.record, *e.back), e.inputs)
	}
	if _, again := e.connector.tried.get(mg.GetUID()); again {
		e.connector.Tally.Retried(e.of.Ref)
	}
	ip, err := e.obtain(ctx, mg)
	if err != nil {
		e.connector.stocks.forgo(mg.GetUID())
		e.goOn(mg, err)
		err = e.explain(ctx, mg, err)
		e.remember(mg, err)
		return managed.ExternalCreation{}, sentence(err, e.inputs)
	}
	e.connector.Failpoint("netbox-after-post")
	e.obtained(mg)
	e.displace(mg, ip)
	e.tellMade(mg, ip)
	meta.SetExternalName(mg, strconv.FormatInt(ip.ID, 10))
	e.record = &ip
	if patch, err := e.diff(ctx, mg.Spec.ForProvider); err == nil && patch.Empty() && mg.Spec.ForProvider.AssignTo == nil && len(e.traces(ip)) == 0 {
		o := observation(ip, nil, e.inputs.field, e.inputs.note)
		o.Marker, o.AppliedGeneration, o.Given = e.us.marker(), mg.GetGeneration(), e.receives(ctx, mg, ip.Address.Addr(), ip.VRF)
		e.showOrigin(ctx, mg, &o, v1alpha1.NetBoxIPAddressObservation{})
		e.connector.made.put(mg.GetUID(), o)
	}
	return managed.ExternalCreation{}, nil
}

// Made shows what Create just made, where that is just as it should be, and nobody else shows it.
func (c *Connector) Made(mg *v1alpha1.NetBoxIPAddress) bool {
	o, ok := c.made.get(mg.GetUID())
	c.made.forget(mg.GetUID())
	if ok = ok && !c.claimed(mg, o); ok {
		mg.Status.AtProvider = o
		mg.SetConditions(xpv2.Available())
		showServed(mg)
	}
	return ok
}

// Delete lets the address go, as the release policy says. The client looks at the marker once more before it writes: the one that
// Observe took for ours.
func (e *external) Delete(ctx context.Context, mg *v1alpha1.NetBoxIPAddress) (managed.ExternalDelete, error) {
	if e.record == nil {
		return managed.ExternalDelete{}, nil
	}
	if err := e.release(ctx, mg); err != nil {
		return managed.ExternalDelete{}, sentence(err, e.inputs)
	}
	if policy, _ := releaseOf(mg.Spec.ForProvider); policy == v1alpha1.ReleaseDelete {
		e.connector.deleted.put(mg.GetUID(), true)
	}
	return managed.ExternalDelete{}, nil
}

// justDeleted says, once, that NetBox has just said that the record is deleted. No other one can carry the marker, as long as that is
// unique: to look for one would be half of what a release costs. Unless a POST that went without an answer may be carried out yet.
func (e *external) justDeleted(mg *v1alpha1.NetBoxIPAddress) bool {
	deleted, _ := e.connector.deleted.get(mg.GetUID())
	e.connector.deleted.forget(mg.GetUID())
	_, may := e.connector.mayCome(mg)
	return deleted && !may && meta.WasDeleted(mg) && e.field == netbox.FieldReady
}

// Disconnect does nothing: the connection is shared.
func (e *external) Disconnect(context.Context) error { return nil }
