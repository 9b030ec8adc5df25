package netboxipaddress

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
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

// undivided says, by an error, that the record of a resource, which it's about to show for the first time, carries the marker of another one that lives:
// NetBoxes before 4.6 let two take over one record in the same moment, and people write markers.
func (e *external) undivided(ctx context.Context, mg *v1alpha1.NetBoxIPAddress) error {
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

// notAnothers says, by an error, that just this record, which carries our marker, is another one's, as its status says.
func (e *external) notAnothers(ctx context.Context, mg *v1alpha1.NetBoxIPAddress, ip netbox.IPAddress) error {
	of, err := e.marksAnothers(ctx, mg, ip)
	if err != nil || of == nil {
		return err
	}
	e.connector.displaced.put(mg.GetUID(), true)
	return markedError{ip.ID, ip.Address.String(), e.whoseWords(*of)}
}

// A markedError is another one's record that carries our marker.
type markedError struct {
	record  int64
	address string
	by      string
}

func (e markedError) Error() string { return "record of another one carries our marker" }

func (e markedError) words(in inputs) (reason xpv2.ConditionReason, message string) {
	return v1alpha1.ReasonConflict, fmt.Sprintf("record %d of address %q is %s, as its status says, and carries this resource's marker in custom field %q, as where somebody wrote it there: nothing is written to it; put the marker there that it had, or have that resource deleted if it's of before a restore",
		e.record, e.address, e.by, in.field)
}

// unclaimed says, by an error, that a record which a resource names, and is about to show for the first time, is of an address that another one shows. Its
// Create saw none; but what a copy of NetBox's database shows of the record since may be of before somebody deleted it. Nothing is written to it:
// it's read at the next look, whatever was seen of it.
func (e *external) unclaimed(ctx context.Context, mg *v1alpha1.NetBoxIPAddress) error {
	if onlyObserved(mg) {
		return nil
	}
	of, err := e.loser(ctx, mg, *e.record)
	if of == nil {
		return err
	}
	both := behindError{}
	twice := errors.As(err, &both) && !both.unlogged
	same := twice && both.record == e.record.ID
	if err == nil && mayAdopt(mg) { // Who has a record taken over may mean that, once the other one doesn't say any more that it's in use.
		var other *v1alpha1.NetBoxIPAddress
		other, err = e.living(ctx, *of)
		same = other != nil && e.has(other, *e.record)
		if err == nil && !same && (other == nil || other.GetCondition(xpv2.TypeReady).Status != corev1.ConditionTrue) {
			return nil
		}
	}
	e.connector.displaced.put(mg.GetUID(), true)
	// Both are read live at each look: what is shown twice for longer than a copy is behind was there twice, as where duplicates are allowed, or were
	// made by people. One record that two have stays so.
	if twice && !same && !e.connector.catchesUp(types.UID("both "+string(mg.GetUID()))) {
		e.connector.displaced.forget(mg.GetUID())
		return nil
	}
	return doubledError{e.record.ID, e.record.Address.String(), e.whoseWords(*of), err, same}
}

// mayAdopt says that a resource may take over what is in NetBox.
func mayAdopt(mg *v1alpha1.NetBoxIPAddress) bool {
	return mg.Spec.ForProvider.Adopt == v1alpha1.AdoptExternalName || mg.Spec.ForProvider.Adopt == v1alpha1.AdoptIfUnowned
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

// shows says that the status of a resource has an address of a table by a record of its own.
func (c *Connector) shows(mg *v1alpha1.NetBoxIPAddress, address netip.Addr, vrf *netbox.VRF) bool {
	a, table, seen := lastSeen(mg.Status.AtProvider)
	return seen && a.Addr() == address && tableRef(table) == tableRef(vrf) && mg.Status.AtProvider.Marker == identityOf(c.ClusterID, mg).marker()
}
