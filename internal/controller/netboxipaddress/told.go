package netboxipaddress

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// Reasons of events: one for each address that is taken, and one for each that is given up.
const (
	eventAllocated event.Reason = "Allocated"
	eventReleased  event.Reason = "Released"
	eventTakenOver event.Reason = "TakenOver"
)

// tellMade tells of a record that was made for a resource, or adopted.
func (e *external) tellMade(mg *v1alpha1.NetBoxIPAddress, ip netbox.IPAddress) {
	if e.plan.adopt != nil {
		e.adopted(mg, ip)
		return
	}
	e.allocated(mg, ip)
}

// tellFound tells of a record that was found, of which nobody was told: the answer to its POST was lost, or nobody lived to record it. Once
// status names it, it was told, whether or not its number is kept as the external name. The copy that was read may be behind what was told.
func (e *external) tellFound(mg *v1alpha1.NetBoxIPAddress) {
	asked := meta.GetExternalCreatePending(mg)
	named := meta.GetExternalName(mg) == strconv.FormatInt(e.record.ID, 10)
	told, _ := e.connector.told.get(mg.GetUID())
	switch {
	case meta.WasDeleted(mg), asked.IsZero(), mg.Status.AtProvider.ID == e.record.ID, told == e.record.ID:
	case !named:
		e.allocated(mg, *e.record)
	case mg.Spec.ForProvider.Adopt == v1alpha1.AdoptExternalName && asked.After(meta.GetExternalCreateSucceeded(mg)):
		e.adopted(mg, *e.record)
	}
}

func (e *external) allocated(mg *v1alpha1.NetBoxIPAddress, ip netbox.IPAddress) {
	e.connector.told.put(mg.GetUID(), ip.ID)
	e.connector.Recorder.Event(mg, event.Normal(eventAllocated, fmt.Sprintf("address %s is record %d of the NetBox of %s", ip.Address, ip.ID, e.inputs.config)))
}

func (e *external) adopted(mg *v1alpha1.NetBoxIPAddress, ip netbox.IPAddress) {
	e.connector.told.put(mg.GetUID(), ip.ID)
	e.connector.Recorder.Event(mg, event.Normal(eventAdopted, fmt.Sprintf("record %d (%s) of NetBox carried no marker and is this resource's now", ip.ID, ip.Address)))
}

// takenOver tells of a record that was marked anew: that of a resource of our name with another UID, which ours was before a restore.
func (e *external) takenOver(mg *v1alpha1.NetBoxIPAddress) {
	mg.Status.AtProvider.Marker = e.us.marker()
	e.connector.Recorder.Event(mg, event.Warning(eventTakenOver, fmt.Errorf("record %d (%s) of the NetBox of %s carried the marker of a NetBoxIPAddress of this cluster id, namespace and name with another UID, as after a restore from a backup, and is this resource's now",
		e.record.ID, e.record.Address, e.inputs.config)))
}

// behindFor is how long the copy of a resource that is read may be behind what was just shown on it.
const behindFor = 10 * time.Second

// A warning is what people were warned of.
type warning struct {
	message string
	at      time.Time
}

// warn tells what a resource is about to show and didn't before, as far as the copy of it that was read says: once. Of several things each
// is told.
func (e *external) warn(mg *v1alpha1.NetBoxIPAddress, ev event.Event) {
	all, now := e.connector.warned, e.connector.Now()
	last, _ := all.get(mg.GetUID())
	if was, ok := last[ev.Reason]; ok && was.message == ev.Message && now.Sub(was.at) < behindFor {
		return
	}
	next := map[event.Reason]warning{ev.Reason: {ev.Message, now}}
	for reason, was := range last {
		if reason != ev.Reason && now.Sub(was.at) < behindFor {
			next[reason] = was
		}
	}
	all.put(mg.GetUID(), next)
	e.connector.Recorder.Event(mg, ev)
}

// A farewell is what is told of a record that is let go: once, however many looks find it so.
type farewell struct {
	reason  event.Reason
	message string
	told    bool
	// record that stays in quarantine, and until when; the zero time of others.
	record int64
	until  time.Time
}

// A leftover is what a resource that is being deleted has left: gone says that NetBox has no such record, and record is one that was
// released, and stays.
type leftover struct {
	gone   bool
	record *netbox.IPAddress
}

// bid notes what is to be told of a record that is about to be let go. It's told by the look that finds it so, right before the resource goes:
// what is told earlier, a process that is started in between tells again.
func (e *external) bid(mg *v1alpha1.NetBoxIPAddress, f farewell) {
	e.connector.farewells.put(mg.GetUID(), f)
}

func (e *external) tell(mg *v1alpha1.NetBoxIPAddress, f farewell) {
	e.connector.Recorder.Event(mg, event.Normal(f.reason, f.message))
	f.told = true
	e.connector.farewells.put(mg.GetUID(), f)
}

// tellLeft tells of a record that was let go, also by a call whose answer was lost, and of one that was gone before.
func (e *external) tellLeft(ctx context.Context, mg *v1alpha1.NetBoxIPAddress) {
	f, tried := e.connector.farewells.get(mg.GetUID())
	seen := mg.Status.AtProvider.ID != 0 || !meta.GetExternalCreateSucceeded(mg).IsZero()
	switch {
	case f.told:
	case tried:
		e.tell(mg, f)
		e.tellUnseen(ctx, mg, f)
	case e.left.record != nil:
		n, _ := parseNote(e.left.record.Marker(e.inputs.note))
		e.tell(mg, left(*e.left.record, n.until))
	case e.left.gone && seen:
		address, _, _ := lastSeen(mg.Status.AtProvider)
		e.tell(mg, e.released(netbox.IPAddress{ID: recordOf(mg), Address: address}))
	}
}

// released says that a record was deleted.
func (e *external) released(ip netbox.IPAddress) farewell {
	what := fmt.Sprintf("record %d", ip.ID)
	if ip.Address.IsValid() {
		what = fmt.Sprintf("address %s, record %d", ip.Address, ip.ID)
	}
	return farewell{reason: eventReleased, message: fmt.Sprintf("%s of the NetBox of %s, was given up", what, e.inputs.config)}
}

// left says that a record stays in NetBox, for good or until then.
func left(ip netbox.IPAddress, until time.Time) farewell {
	if until.IsZero() {
		return farewell{reason: eventKept, message: fmt.Sprintf("record %d (%s) stays in NetBox as it is; it isn't ours any more", ip.ID, ip.Address)}
	}
	return farewell{reason: eventQuarantined, record: ip.ID, until: until, message: fmt.Sprintf("record %d (%s) is deprecated in NetBox, and is deleted there after %s", ip.ID, ip.Address, until.UTC().Format(time.RFC3339))}
}
