package netboxipaddress

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// Between the answer to a POST and the first status that shows its address nobody else sees whose that is. Where somebody deletes the record within that
// time, NetBox gives the address to the next one, and a copy of its database that is behind still shows the record to the first. So who is given
// an address waits for one whose Create is under way, as long as that may tell it yet, and nobody shows an address for the first time that another
// one's status has.

// underWay says that a Create of a resource has begun, and what came of it isn't written down yet.
func (c *Connector) underWay(mg *v1alpha1.NetBoxIPAddress) bool {
	a := mg.GetAnnotations()
	began := c.past(mg, meta.GetExternalCreatePending(mg))
	return a[v1alpha1.AnnotationAsked] != a[v1alpha1.AnnotationAnswered] && time.Now().Before(began.Add(c.Asking))
}

// An underWayError is an address of a record that is gone, and that another resource may be about to be told of.
type underWayError struct {
	record  int64
	address netip.Addr
}

func (e underWayError) Error() string { return fmt.Sprintf("record %d isn't told yet", e.record) }

func (e underWayError) words(in inputs) (reason xpv2.ConditionReason, message string) {
	return v1alpha1.ReasonConflict, fmt.Sprintf("another resource of this cluster was given address %s a moment ago, by record %d of the NetBox of %s, which somebody deleted, and hasn't said so yet: it's waited for that",
		e.address, e.record, in.config)
}

// A doubledError is an address that a resource was given and has never shown, and that another one's status has.
type doubledError struct {
	record  int64
	address string
	// by says whose it is, and cause why that can't be told for sure.
	by    string
	cause error
	// same says that the other one has this very record.
	same bool
}

// Error doesn't wrap the cause: that is of another record.
func (e doubledError) Error() string { return "address " + e.address + " is shown by another one" }

func (e doubledError) words(in inputs) (reason xpv2.ConditionReason, message string) {
	why := "its own record isn't in NetBox any more: a machine may be using the address; have that resource deleted to give it up, or delete this one"
	if e.cause != nil {
		why = sentence(e.cause, in).message
	}
	message = fmt.Sprintf("address %q of record %d is %s, as its status says, and isn't used before it's known whose it is; %s", e.address, e.record, e.by, why)
	if e.same {
		message = fmt.Sprintf("record %d of address %q is %s, too, as where two provider configs of one NetBox differ in markerField, so the address isn't used: have that resource deleted, or delete this one, with release.policy: Keep",
			e.record, e.address, e.by)
	}
	return v1alpha1.ReasonConflict, message
}

// toldOf says that a resource shows a record as its own already, which is all that proves that it is: who may write the resource writes its external name, and
// who may write in NetBox its marker. What it only observed it shows without that.
func (e *external) toldOf(ip netbox.IPAddress) bool {
	return e.was.ID == ip.ID && e.was.Marker == e.us.marker()
}

// undivided says, by an error, that the record of a resource that was never told of it is another one's, too, who lives: NetBoxes before 4.6 let two take over
// one record in the same moment, and people write markers.
func (e *external) undivided(ctx context.Context, mg *v1alpha1.NetBoxIPAddress) error {
	if meta.WasDeleted(mg) {
		if e.binds(mg) {
			if err := e.sharedWith(ctx, *e.record); err != nil {
				return err
			}
		}
		return e.notAnothers(ctx, mg, *e.record)
	}
	t, shared, err := e.sharedBy(ctx, *e.record)
	switch {
	case err != nil:
		return err
	case !shared:
		return e.notAnothers(ctx, mg, *e.record)
	}
	by := "some other cluster's"
	if t.of.cluster == e.us.cluster {
		by = e.whoseWords(t.of)
	}
	e.connector.displaced.put(mg.GetUID(), true)
	return doubledError{e.record.ID, e.record.Address.String(), by, nil, true}
}

// notAnothers says, by an error, that a record which carries our marker, and which this resource was never told of, is just the one that another's status has,
// who lives. Either somebody wrote our marker there, or NetBox gave its number anew, as after a restore, to what was asked for here; nobody can tell, so
// nothing of it is written before a person has said whose it is.
func (e *external) notAnothers(ctx context.Context, mg *v1alpha1.NetBoxIPAddress, ip netbox.IPAddress) error {
	if made, _ := e.connector.answered.get(mg.GetUID()); e.toldOf(ip) || made == ip.ID {
		return nil
	}
	of, err := e.sharer(ctx, ip)
	if err != nil || of == nil {
		return err
	}
	e.connector.displaced.put(mg.GetUID(), true) // What was seen of it lately isn't enough: it's mended in NetBox.
	return markedError{ip.ID, ip.Address.String(), e.whoseWords(*of), meta.WasDeleted(mg)}
}

// A markedError is another one's record that carries our marker.
type markedError struct {
	record  int64
	address string
	by      string
	// going says that this resource is being deleted.
	going bool
}

func (e markedError) Error() string { return "record of another one carries our marker" }

func (e markedError) words(in inputs) (reason xpv2.ConditionReason, message string) {
	message = fmt.Sprintf("record %d of address %q is %s, as its status says, and carries this resource's marker in custom field %q, as where somebody wrote it there, or NetBox gave the number anew after a restore: it's neither used nor written to; put that one's marker there, or delete the record in NetBox, or have that resource deleted if it's of before a restore",
		e.record, e.address, e.by, in.field)
	if e.going {
		message += ", or set spec.forProvider.release.policy: Keep to leave the record as it is"
	}
	return v1alpha1.ReasonConflict, message
}

// unclaimed says, by an error, that a record which a resource names, and is about to show for the first time, is of an address that another one shows. Its
// Create saw none; but what a copy of NetBox's database shows of the record since may be of before somebody deleted it. Nothing is written to it:
// it's read at the next look, whatever was seen of it.
func (e *external) unclaimed(ctx context.Context, mg *v1alpha1.NetBoxIPAddress) error {
	of, err := e.loser(ctx, mg, *e.record)
	if of == nil {
		return err
	}
	both, twice := shownTwice(err)
	same := twice && both.record == e.record.ID
	e.connector.displaced.put(mg.GetUID(), true)
	// Both are read live at each look: what is shown twice for longer than a copy is behind was there twice, as where duplicates are allowed, or were
	// made by people. One record that two have stays so.
	if twice && !same && !e.connector.catchesUp(types.UID("both "+string(mg.GetUID()))) {
		e.connector.displaced.forget(mg.GetUID())
		return e.unparted(ctx, mg)
	}
	return doubledError{e.record.ID, e.record.Address.String(), e.whoseWords(*of), err, same}
}

// unparted says, by an error, that the record of a resource which was restored from a backup has its address beside another one's that neither shares it nor
// has it since people made both: that was given it while this one's record was away, as far as can be told, and the backup doesn't know of that.
func (e *external) unparted(ctx context.Context, mg *v1alpha1.NetBoxIPAddress) error {
	spec := mg.Spec.ForProvider
	if !e.restored() && (spec.Address == "" || e.named) { // One that is to have just that address may have been marked anew already, while its record was away.
		return nil
	}
	p, role := plan{address: e.record.Address, vrf: e.record.VRF, duplicates: spec.Duplicates}, deref(spec.Role)
	others, err := e.others(ctx, p, role)
	if err != nil || len(others) == 0 {
		return err
	}
	all, err := e.formers(ctx, p.address.Addr(), p.vrf, role)
	if err != nil {
		return err
	}
	for _, ip := range others {
		i := slices.IndexFunc(all, func(f former) bool { return f.owns(ip) })
		if i < 0 || all[i].offers {
			continue
		}
		f := all[i]
		if unknown := e.was.Given == nil || f.given == nil; e.was.Given.Before(f.given) || unknown && !f.adopts && !e.cameAfter(mg, f) {
			t := e.takenFrom(p, ip)
			said := &trouble{v1alpha1.ReasonMoved, t.sentence(e.inputs), t}
			e.sayMoved(mg, said) // Whatever the backup says of Ready.
			return said
		}
	}
	return nil
}

// cameAfter says that a person named this resource's record when another one had the address already, as far as their annotations tell.
func (e *external) cameAfter(mg *v1alpha1.NetBoxIPAddress, f former) bool {
	mine := meta.GetExternalCreateSucceeded(mg)
	return e.named && (mine.IsZero() || !mine.Before(f.created))
}

// restored says that the record carries the marker that its resource had before it was restored from a backup.
func (e *external) restored() bool {
	return e.record != nil && ownerOf(e.record.Marker(e.inputs.field), e.us) == ownerRestored
}

// claimed says that another resource shows the address that a Create has just made, as far as the cache has it: then the look that follows finds out.
func (c *Connector) claimed(mg *v1alpha1.NetBoxIPAddress, made v1alpha1.NetBoxIPAddressObservation) bool {
	a, vrf, seen := lastSeen(made)
	if c.Holders == nil || !seen {
		return false
	}
	found, err := c.Holders(context.Background(), a.Addr())
	if err != nil {
		return true
	}
	for i := range found {
		if found[i].GetUID() != mg.GetUID() && c.shows(&found[i], a.Addr(), vrf) {
			return true
		}
	}
	return false
}

// shows says that the status of a resource has an address of a table by a record of its own, of before it was restored from a backup, too.
func (c *Connector) shows(mg *v1alpha1.NetBoxIPAddress, address netip.Addr, vrf *netbox.VRF) bool {
	a, table, seen := lastSeen(mg.Status.AtProvider)
	return seen && a.Addr() == address && tableRef(table) == tableRef(vrf) && hadAs(mg.Status.AtProvider, identityOf(c.ClusterID, mg))
}
