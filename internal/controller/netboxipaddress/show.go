package netboxipaddress

import (
	"context"
	"slices"
	"strconv"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// shown puts a record on a resource that may only observe it. What the policies don't leave to the namespace isn't shown, even if it was.
func (e *external) shown(ctx context.Context, mg *v1alpha1.NetBoxIPAddress) (managed.ExternalObservation, error) {
	if err := e.observeOnly(mg); err != nil {
		mg.Status.AtProvider = e.kept(mg.Status.AtProvider)
		if mg.GetCondition(xpv2.TypeReady).Status == corev1.ConditionTrue {
			mg.SetConditions(xpv2.Unavailable()) // Whatever was shown before isn't any more.
		}
		return e.waiting(mg, err)
	}
	e.showRecord(ctx, mg)
	mg.Status.AtProvider.Assigned, mg.Status.AtProvider.Interface, mg.Status.AtProvider.Drift, mg.Status.AtProvider.AppliedGeneration = nil, nil, nil, 0
	switch {
	case mg.Status.AtProvider.Marker == "":
		mg.SetConditions(xpv2.Available())
	case e.strayed(): // It had what it shows.
		e.sayMoved(mg, sentence(e.movedBy(ctx, mg.GetUID()), e.inputs))
		e.staysFor(mg)
	default:
		if err := e.returns(ctx, mg, nil); err != nil {
			return managed.ExternalObservation{}, e.trouble(mg, err)
		}
		mg.SetConditions(xpv2.Available())
	}
	return managed.ExternalObservation{ResourceExists: true, ResourceUpToDate: true}, nil
}

// kept is what stays on a resource of a record that it may only observe, and isn't shown any more: what it had itself before, by which it's known whose
// the address is, and nothing of what never was its own.
func (e *external) kept(before v1alpha1.NetBoxIPAddressObservation) v1alpha1.NetBoxIPAddressObservation {
	if !hadAs(before, e.us) {
		return v1alpha1.NetBoxIPAddressObservation{}
	}
	return v1alpha1.NetBoxIPAddressObservation{
		ID: before.ID, URL: before.URL, Address: before.Address, Family: before.Family, VRF: before.VRF, Prefix: before.Prefix, Range: before.Range, Marker: before.Marker,
		Given: before.Given,
	}
}

// showRecord puts on a resource what its record says. What was given stays, though our record may say otherwise by now.
func (e *external) showRecord(ctx context.Context, mg *v1alpha1.NetBoxIPAddress) {
	before := mg.Status.AtProvider
	now := observation(*e.record, nil, e.inputs.field, e.inputs.note)
	o := ownerOf(e.record.Marker(e.inputs.field), e.us)
	had := (before.ID == now.ID || o == ownerUs) && hadAs(before, e.us) // Its record may have been made again since.
	switch {
	case o == ownerUs && (!onlyObserved(mg) || had): // To be looked at is nothing that one has.
		now.Marker = e.us.marker()
	case o == ownerRestored && !onlyObserved(mg):
		now.Marker = e.record.Marker(e.inputs.field) // It has it as before, until it's marked anew.
	case had:
		now.Marker = before.Marker // It's its own, though it may only observe it, whatever somebody wrote there.
	}
	if now.Marker != "" {
		now.Given = before.Given
		untold := before.Given == nil && mg.GetCondition(xpv2.TypeReady).Status == corev1.ConditionTrue // By what shows no such time yet.
		if !e.strayed() && (before.ID != now.ID || !hadAs(before, e.us) || untold) {
			now.Given = e.receives(ctx, mg, e.record.Address.Addr(), e.record.VRF)
		}
	}
	if e.strayed() && (o == ownerUs || o == ownerRestored || had) {
		e.held.keep(&now, before)
	} else {
		e.showOrigin(ctx, mg, &now, before)
	}
	now.Assigned, now.Interface, now.Drift, now.AppliedGeneration = before.Assigned, before.Interface, before.Drift, before.AppliedGeneration
	if e.asMade(mg) && (before.Assigned == nil || !assignedTo(before.Assigned, e.record.Assigned)) {
		now.Assigned = assigned(*e.record.Assigned, "")
	}
	mg.Status.AtProvider = now
}

// show puts what was found on the resource and says what differs.
func (e *external) show(ctx context.Context, mg *v1alpha1.NetBoxIPAddress) (managed.ExternalObservation, error) {
	back, err := e.prove(ctx, mg)
	if err != nil {
		return managed.ExternalObservation{}, e.trouble(mg, err)
	}
	e.connector.appears(mg) // One that only carries our marker is no answer to what was asked for.
	if back {
		return managed.ExternalObservation{}, nil // Create takes it back.
	}
	e.tellFound(mg)
	name := strconv.FormatInt(e.record.ID, 10)
	named, carried := meta.GetExternalName(mg) != name, e.isCarried(mg)
	meta.SetExternalName(mg, name)
	if meta.WasDeleted(mg) {
		e.carried = carried
		e.connector.origins.forget(mg.GetUID())
		e.connector.stocks.leave(mg.GetUID())
		e.connector.unkept.forget(mg.GetUID())
		if !deletes(mg) { // It goes without another look.
			e.connector.forget(mg)
		}
		return managed.ExternalObservation{ResourceExists: true, ResourceUpToDate: true}, nil
	}
	e.obtained(mg)
	e.connector.culprits.forget(mg.GetUID())
	e.connector.losses.forget(mg.GetUID())
	e.connector.doubted.forget(mg.GetUID())
	e.connector.missed.forget(mg.GetUID())
	e.connector.disputes.forget(mg.GetUID())
	e.showRecord(ctx, mg)
	showServed(mg)
	if err = e.weigh(ctx, mg); err != nil {
		said := e.trouble(mg, err)
		e.conclude(ctx, mg, err)
		return managed.ExternalObservation{}, said
	}
	e.conclude(ctx, mg, nil)
	e.showInterface(ctx, mg)
	if e.stays != nil && (e.todo.done() || !updates(mg)) {
		e.staysFor(mg)
	}
	// The annotation that was set above lives on only as part of a late initialisation.
	return managed.ExternalObservation{
		ResourceExists: true, ResourceUpToDate: e.todo.done(), ResourceLateInitialized: named, Diff: e.todo.words(),
	}, nil
}

// trouble words an error and shows it on the resource: the managed reconciler shows it in Synced, but only as a sentence.
func (e *external) trouble(mg *v1alpha1.NetBoxIPAddress, err error) *trouble {
	t := sentence(err, e.inputs)
	ready := mg.GetCondition(xpv2.TypeReady)
	if meta.WasDeleted(mg) {
		mg.SetConditions(xpv2.Deleting()) // Whatever was wrong, or right, before: Synced says what keeps it.
		return t
	}
	if ready.Status == corev1.ConditionTrue && (e.record != nil || !unready(t.reason)) {
		return t
	}
	if ready.Reason == v1alpha1.ReasonMoved && (e.strayed() || !unready(t.reason)) {
		return t // That comes before whatever else is wrong, and stays true while NetBox can't be asked.
	}
	if ready.Reason == v1alpha1.ReasonLost && e.record == nil && !e.sought && !unready(t.reason) {
		return t // So does that, until it's looked for again.
	}
	c := xpv2.Unavailable().WithMessage(t.message)
	c.Reason = t.reason
	mg.SetConditions(c)
	return t
}

// showUse says whether the address may be used: not where its record is another one's than was given, nor before that was seen to have no
// double. said is what else is wrong.
func (e *external) showUse(ctx context.Context, mg *v1alpha1.NetBoxIPAddress, said error) error {
	moved := mg.GetCondition(xpv2.TypeReady).Reason == v1alpha1.ReasonMoved
	switch {
	case e.stays != nil:
		e.sayMoved(mg, sentence(*e.stays, e.inputs))
	case moved && e.strayed(): // It's about to be put back.
	default:
		if err := e.returns(ctx, mg, said); err != nil {
			return err
		}
		if !e.saysSo(mg, said) || complete(mg.Status.AtProvider.Assigned) || mg.Spec.ForProvider.AssignTo == nil {
			showReady(mg) // Else what it waits for is said already, and since when.
		}
	}
	return nil
}

// saysSo says that Ready has what is wrong, as a look before found it.
func (e *external) saysSo(mg *v1alpha1.NetBoxIPAddress, said error) bool {
	return said != nil && sentence(said, e.inputs).message == mg.GetCondition(xpv2.TypeReady).Message
}

// returns says, by an error, that the address which this resource had, and that was taken from it for a while, is another one's by now. What is
// said at this look, too, of a record that is there, as that its seat is taken, took nothing.
func (e *external) returns(ctx context.Context, mg *v1alpha1.NetBoxIPAddress, said error) error {
	ready := mg.GetCondition(xpv2.TypeReady)
	switch {
	case e.strayed():
		return nil
	case ready.Reason == v1alpha1.ReasonMoved, e.overtaken(ctx, mg):
	case mg.Spec.ForProvider.Adopt == v1alpha1.AdoptExternalName && !e.toldOf(*e.record): // One of a pair that people made is such when it comes back, too.
		return nil
	case !unready(ready.Reason), !e.held.shown, e.was.ID != e.record.ID, e.saysSo(mg, said):
		return nil
	case mg.Spec.ForProvider.Adopt == v1alpha1.AdoptExternalName || sharesRole(e.record.Role):
		if paired, err := e.paired(ctx, mg); paired || err != nil {
			return err
		}
	}
	return e.undoubled(ctx, mg)
}

// paired says that who else has the record's address is what people made: beside one that a person named, too, or by a role that both share. Neither
// was given it as free.
func (e *external) paired(ctx context.Context, mg *v1alpha1.NetBoxIPAddress) (bool, error) {
	p, role := e.heldPlan(mg), deref(mg.Spec.ForProvider.Role)
	others, err := e.others(ctx, p, role)
	if err != nil || len(others) == 0 {
		return false, err
	}
	named := mg.Spec.ForProvider.Adopt == v1alpha1.AdoptExternalName
	all, err := e.formers(ctx, p.address.Addr(), p.vrf, role)
	return !slices.ContainsFunc(others, func(ip netbox.IPAddress) bool {
		if _, elsewhere := e.markedElsewhere(ip); !elsewhere && ip.Unmarked(e.inputs.field) { // A marker in another field is no person's.
			return !named && !sharesRole(ip.Role)
		}
		return !named || !slices.ContainsFunc(all, func(f former) bool { return f.adopts && f.owns(ip) })
	}), err
}

// showReady says that the address is there. One that was never assigned yet, and is to be, isn't ready for use before.
func showReady(mg *v1alpha1.NetBoxIPAddress) {
	ready := mg.GetCondition(xpv2.TypeReady).Status == corev1.ConditionTrue
	if ready || mg.Spec.ForProvider.AssignTo == nil || complete(mg.Status.AtProvider.Assigned) {
		mg.SetConditions(xpv2.Available().WithMessage(unsourced(mg)))
		return
	}
	c := xpv2.Unavailable().WithMessage("the address is taken and is yet to be assigned as spec.forProvider.assignTo says")
	c.Reason = v1alpha1.ReasonWaitingForAssignment
	mg.SetConditions(c)
}

// unready says whether a trouble takes an address that was given away from its holder: only that no record is ours any more, or that
// it's gone. That NetBox can't be asked just now, or doesn't take a change of it, doesn't.
func unready(r xpv2.ConditionReason) bool {
	return r == v1alpha1.ReasonConflict || r == v1alpha1.ReasonAmbiguous || r == v1alpha1.ReasonLost || r == v1alpha1.ReasonMoved
}
