package netboxipaddress

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// preflight proves the marker field; what was proven is remembered for a while.
func (e *external) preflight(ctx context.Context, mg *v1alpha1.NetBoxIPAddress) error {
	pre, err := e.netbox.Preflight(ctx)
	if onlyObserved(mg) && netbox.IsMarkerField(err) { // Nothing is marked for it, nor looked for by marker.
		e.field = netbox.FieldMissing
		return nil
	}
	if err != nil {
		return err
	}
	e.connector.Saw(e.of, pre.Version.String())
	e.field = pre.Field
	return nil
}

// glance sets record to what was lately seen of it, and says whether that is enough: where nothing is to be written. Ten thousand
// resources that are as they should be cost as many requests as their records fill pages.
func (e *external) glance(ctx context.Context, mg *v1alpha1.NetBoxIPAddress) (bool, error) {
	number := recordOf(mg)
	if number <= 0 || meta.WasDeleted(mg) || e.connector.MaxAge == 0 {
		return false, nil
	}
	if _, doubtful := e.connector.displaced.get(mg.GetUID()); doubtful {
		return false, nil // Whatever another provider config's connection has seen of it.
	}
	ip, ok, err := e.netbox.Seen(ctx, number, e.connector.MaxAge)
	if err != nil || !ok {
		return false, err
	}
	if ownerOf(ip.Marker(e.inputs.field), e.us) != ownerUs {
		e.glimpse = &ip
		return false, nil
	}
	e.connector.losses.forget(mg.GetUID())   // It's there,
	e.connector.disputes.forget(mg.GetUID()) // and ours.
	if e.believed = e.stayed(mg, ip); e.believed {
		e.record, e.age = &ip, e.connector.MaxAge
		return true, nil
	}
	e.record = &ip
	patch, wrong := e.diff(ctx, mg.Spec.ForProvider)
	e.verdict = e.stands(ctx, mg, ip)
	if e.verdict != nil || wrong != nil {
		e.age = e.connector.MaxAge
		return true, nil //nolint:nilerr // NetBox has no say in what isn't allowed; it's said where the record is shown.
	}
	settled := patch.Empty() || e.known(mg, todo{patch: patch})
	if settled {
		e.age = e.connector.MaxAge
		s, wrong := e.next(ctx, mg, e.age)
		settled = wrong == nil && (s.done() || e.known(mg, todo{patch: patch, step: s}))
	}
	if !settled {
		e.age, e.before = 0, &ip
		e.record = nil // Whatever is to be done or told is so of the record as it's now.
	}
	return settled, nil
}

// known says of what differs that nothing of it is to be written, and that nothing is to be told: nobody may write to the record, or each
// field stays as somebody made it, and status says so already.
func (e *external) known(mg *v1alpha1.NetBoxIPAddress, t todo) bool {
	switch {
	case e.strayed():
		return false
	case !updates(mg) && mg.Spec.ForProvider.Drift != v1alpha1.DriftReport:
		return true
	case mg.Spec.ForProvider.Drift != v1alpha1.DriftReport:
		return false
	}
	drifted := e.driftOf(mg, t, t.step.done())
	for _, d := range drifted {
		if !slices.ContainsFunc(mg.Status.AtProvider.Drift, func(n v1alpha1.FieldDrift) bool { return sameDrift(n, d) }) {
			return false
		}
		if d.Field == wordAssignTo {
			t.step = step{}
		}
	}
	t.patch = without(t.patch, drifted)
	return t.done()
}

// find sets record to what is ours in NetBox, and leaves it nil where NetBox says that there is nothing.
func (e *external) find(ctx context.Context, mg *v1alpha1.NetBoxIPAddress) error {
	if err := e.lostLately(ctx, mg); err != nil {
		return err
	}
	if err := e.disputed(mg); err != nil {
		return err
	}
	err := e.findByName(ctx, mg)
	if err != nil && (!meta.WasDeleted(mg) || !another(err)) {
		return err
	}
	if e.record != nil || e.plan.adopt != nil || e.field == netbox.FieldMissing {
		return nil // without the field no record can carry a marker
	}
	if e.unasked = e.field == netbox.FieldReady && neverAsked(mg); e.unasked {
		return nil
	}
	if err := e.findByMarker(ctx); err != nil || e.record == nil {
		return err
	}
	return e.past(mg)
}

// neverAsked says that nobody ever asked for this address, as far as is known here, and that Create will: the marker is unique, so
// NetBox itself refuses a second record, and to look for a first one beforehand would be half of what an address costs.
func neverAsked(mg *v1alpha1.NetBoxIPAddress) bool {
	return len(mg.GetManagementPolicies()) > 0 && creates(mg) && !meta.WasDeleted(mg) && unnamed(mg) && meta.GetExternalCreatePending(mg).IsZero()
}

// recordOf is the number of the record that a resource has, as far as is known here: its external name, or where there's none what status
// says. Somebody may have taken the annotation off; and without LateInitialize in managementPolicies, one that was found is never put there.
// 0: none; findByName tells of a name that isn't a number.
func recordOf(mg *v1alpha1.NetBoxIPAddress) int64 {
	name := meta.GetExternalName(mg)
	if name == "" && !onlyObserved(mg) {
		return mg.Status.AtProvider.ID
	}
	number, err := strconv.ParseInt(name, 10, 64)
	if err != nil || number < 0 {
		return 0
	}
	return number
}

// unnamed says that nothing here names a record.
func unnamed(mg *v1alpha1.NetBoxIPAddress) bool {
	return meta.GetExternalName(mg) == "" && recordOf(mg) == 0
}

// creates says whether a record may be made, or taken over, for a resource.
func creates(mg *v1alpha1.NetBoxIPAddress) bool { return may(mg, xpv2.ManagementActionCreate) }

// updates says whether a record may be written to for a resource.
func updates(mg *v1alpha1.NetBoxIPAddress) bool { return may(mg, xpv2.ManagementActionUpdate) }

// deletes says whether the record may be let go with its resource.
func deletes(mg *v1alpha1.NetBoxIPAddress) bool { return may(mg, xpv2.ManagementActionDelete) }

// may says what management policies permit. Without any, nothing is forbidden.
func may(mg *v1alpha1.NetBoxIPAddress, a xpv2.ManagementAction) bool {
	p := mg.GetManagementPolicies()
	return len(p) == 0 || slices.Contains(p, xpv2.ManagementActionAll) || slices.Contains(p, a)
}

func (e *external) findByMarker(ctx context.Context) error {
	ip, err := e.netbox.FindByMarker(ctx, e.us.marker())
	if netbox.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	e.record = &ip
	return nil
}

// findByName looks at the record whose number is the external name, or else in status. It must be ours, or be one that may become ours: an
// annotation is easily written. What is only observed may be anybody's.
func (e *external) findByName(ctx context.Context, mg *v1alpha1.NetBoxIPAddress) error {
	name, id := meta.GetExternalName(mg), recordOf(mg)
	// Whatever somebody wrote into the name: that's what is to be released, or to be marked anew.
	if own := mg.Status.AtProvider; meta.WasDeleted(mg) && own.ID != 0 && hadAs(own, e.us) {
		id = own.ID
	}
	if had, err := e.formerly(ctx, mg); err != nil {
		return err
	} else if had != 0 {
		id = had
	}
	switch {
	case id == 0 && name == "":
		return nil
	case id == 0:
		return nameError{name}
	}
	ip, err := e.netbox.Get(ctx, id)
	if err == nil || netbox.IsNotFound(err) {
		e.connector.displaced.forget(mg.GetUID())
	}
	if netbox.IsNotFound(err) {
		e.left.gone = true
		return e.unshown(ctx, mg, id)
	}
	if err != nil {
		return err
	}
	err = e.claim(ctx, mg, ip)
	e.dispute(mg, ip, err)
	return err
}

// formerly is the record that carries the marker which a resource had before it was restored from a backup, by another UID, and that isn't marked anew yet;
// 0: none is shown. It may have another number than status says, where it was made again after that backup.
func (e *external) formerly(ctx context.Context, mg *v1alpha1.NetBoxIPAddress) (int64, error) {
	own := mg.Status.AtProvider
	if own.ID == 0 || onlyObserved(mg) || e.field == netbox.FieldMissing || ownerOf(own.Marker, e.us) != ownerRestored {
		return 0, nil
	}
	if g := e.glimpse; g != nil && g.Marker(e.inputs.field) == own.Marker {
		return g.ID, nil // It's read anyway.
	}
	ip, err := e.netbox.FindByMarker(ctx, own.Marker)
	if netbox.IsNotFound(err) || netbox.IsAmbiguous(err) {
		return 0, nil
	}
	return ip.ID, err
}

// claim takes the record that a resource names for its own, or says why it isn't.
func (e *external) claim(ctx context.Context, mg *v1alpha1.NetBoxIPAddress, ip netbox.IPAddress) error {
	id, o := ip.ID, e.whoseNow(mg, ip)
	switch {
	case o == ownerTwin:
		return e.notOurs(mg, id, o)
	case o == ownerRestored && meta.WasDeleted(mg) && !onlyObserved(mg):
		return e.unproven(mg, id, o)
	case o == ownerUs, o == ownerRestored, onlyObserved(mg):
		e.record = &ip
		return nil
	case meta.GetExternalName(mg) == "" && !e.held.shown: // Status is of when it was only observed.
		e.theirs = true
		return nil
	case e.renumbered(mg, ip, o):
		return nil // Ours is gone.
	case !meta.WasDeleted(mg):
		return e.adoptNamed(ctx, mg, ip)
	case o == ownerReleased:
		e.left.record = &ip // The answer to its release was lost.
		return nil
	case e.setAsideFor(ip):
		e.left.gone = true
		return nil
	case o == ownerNobody && ip.Unmarked(e.inputs.field) && (neverHad(mg) || onlySaw(mg, ip)):
		return nil // It was to be adopted, or was looked at, and never was its own.
	case o == ownerNobody && !e.binds(mg):
		return nil // It's left as it is.
	}
	return e.notOurs(mg, id, o)
}

// renumbered says of a record of our number that it's another's, or in another's quarantine, and of another address: NetBox gave the number again, as
// it does once a backup is restored that is older than our record was. Had somebody marked ours over, it would be of our address.
func (e *external) renumbered(mg *v1alpha1.NetBoxIPAddress, ip netbox.IPAddress, o owner) bool {
	n, noted := parseNote(ip.Marker(e.inputs.note))
	theirs := o == ownerOther || o == ownerCluster || o == ownerNobody && noted && ip.Unmarked(e.inputs.field) && n.marker != e.us.marker()
	return theirs && !meta.WasDeleted(mg) && mg.Status.AtProvider.ID == ip.ID && e.held.shown && e.held.strays(ip)
}

// whoseNow is whose, by what status says, too: a record that we had marked, and that carries the marker of our name with another UID, isn't
// what we had before a restore. Somebody of the same name lives, and took it.
func (e *external) whoseNow(mg *v1alpha1.NetBoxIPAddress, ip netbox.IPAddress) owner {
	o := e.whose(ip)
	if o == ownerRestored && mg.Status.AtProvider.Marker == e.us.marker() {
		return ownerTwin
	}
	return o
}

// unproven keeps a resource that is being deleted, and that never marked its record, from releasing it: that is of before a restore, or of
// a living original of this one in another cluster of the same id, and nobody here can tell. One that releases nothing goes without it.
func (e *external) unproven(mg *v1alpha1.NetBoxIPAddress, id int64, o owner) error {
	if policy, _ := releaseOf(mg.Spec.ForProvider); !deletes(mg) || policy == v1alpha1.ReleaseKeep {
		return nil
	}
	return e.notOurs(mg, id, o)
}

// notOurs says that a record isn't ours, or not any more.
func (e *external) notOurs(mg *v1alpha1.NetBoxIPAddress, id int64, o owner) error {
	return ownerError{id: id, owner: o, going: meta.WasDeleted(mg), had: mg.Status.AtProvider.ID == id && hadHere(mg.Status.AtProvider, e.us)}
}

// neverHad says that nothing was ever written for a resource, as far as is known here.
func neverHad(mg *v1alpha1.NetBoxIPAddress) bool {
	return mg.Spec.ForProvider.Adopt == v1alpha1.AdoptExternalName && meta.GetExternalCreatePending(mg).IsZero() && mg.Status.AtProvider.ID == 0
}

// onlySaw says that all that a resource ever had to do with a record was to look at it, as its status says: nothing was ever asked for, nor marked.
func onlySaw(mg *v1alpha1.NetBoxIPAddress, ip netbox.IPAddress) bool {
	o := mg.Status.AtProvider
	return meta.GetExternalCreatePending(mg).IsZero() && o.ID == ip.ID && o.Marker == ""
}

// another says that the record of the external name is plainly somebody else's, so that a resource can go without it. A record
// that carries no marker may have lost ours, and keeps the resource until a person has looked.
func another(err error) bool {
	var o ownerError
	return errors.As(err, &o) && (o.owner == ownerOther || o.owner == ownerCluster || o.owner == ownerTwin)
}
