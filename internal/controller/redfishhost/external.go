package redfishhost

import (
	"context"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/gate"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/config"
)

// external is the client of one host for one reconcile.
type external struct {
	connector *Connector
	host      types.UID
	namespace string
	name      types.NamespacedName
	target    gate.Target
	inputs    inputs
	// unusable says why the target can't be used, or is nil.
	unusable error
	// inventoryAge is how long an inventory is believed.
	inventoryAge time.Duration
	// events says that its BMC is to be listened to.
	events bool

	// pushing says that its BMC is to send its events, push what is wanted and seen of
	// that, and pushRecord what of it the journal has.
	pushing    bool
	push       pushSeen
	pushRecord pushRecord

	// What Observe found, for the Update or Delete of the same reconcile.
	system     redfish.System
	connection redfish.Connection
	trouble    error
	// bios is what Observe saw of the BIOS settings that are wanted.
	bios *biosSeen
	// secureBoot is nil where it isn't wanted, or isn't told.
	secureBoot *secureBootSeen
	// media are the BMC's drives, and inserted what we put into them.
	media    mediaIn
	inserted map[string]insertedRecord
	// accounts of images' servers, by type of drive.
	accounts map[string]mediaAccount
	// excerpt of the BMC's log, around something that failed.
	excerpt []string
	// want is what the acts of this reconcile are for.
	want want
	// own is the host's own Secret, and rotation what was seen of it. initial says
	// that its password is changed before the machine is known, and unseen that
	// it isn't looked at again with a password that was changed a moment ago.
	own      ownSecret
	rotation rotationSeen
	initial  bool
	unseen   bool
	// shared says that another host of the same BMC has something on its way.
	shared bool
}

var _ managed.TypedExternalClient[*v1alpha1.RedfishHost] = &external{}

// Observe looks at the machine and writes nothing to it. A BMC that doesn't
// answer is condition Reachable and no error: the host still exists, and Ready
// doesn't flap with its BMC.
func (e *external) Observe(ctx context.Context, host *v1alpha1.RedfishHost) (managed.ExternalObservation, error) {
	if meta.WasDeleted(host) && host.Spec.ClaimRef == nil && (!leavesTraces(host) || outdated(host)) {
		e.leave(ctx, host)

		return managed.ExternalObservation{}, nil
	}
	ctx = e.connector.counting(ctx, host)
	pin, err := e.lookWithNext(ctx, host)
	if later := gate.IsBusy(err) && !meta.WasDeleted(host); e.connector.postpone(host, later) {
		// Nothing is known that is new: it stays as it was, and is looked at again soon.
		return managed.ExternalObservation{ResourceExists: true, ResourceUpToDate: true}, nil
	}
	if err != nil && !isTrouble(err) {
		return managed.ExternalObservation{}, err
	}
	e.connector.tallies.look(host, err == nil)
	if err != nil && meta.WasDeleted(host) && host.Spec.ClaimRef == nil {
		// What we would clear is a hint to a machine that nobody has any more:
		// it isn't worth keeping the object for a dead BMC. The gate that
		// decides about installs is in bootd.
		e.leave(ctx, host)

		return managed.ExternalObservation{}, nil
	}
	if err != nil {
		return e.observeTrouble(ctx, host, err)
	}

	fresh := false
	if !meta.WasDeleted(host) && !outdated(host) {
		if fresh, err = e.enrol(ctx, host, pin); err != nil {
			return managed.ExternalObservation{}, err
		}
	}

	if err := e.lookOthers(ctx, host); err != nil {
		return managed.ExternalObservation{}, err
	}
	o := e.show(host, pin, fresh)
	if meta.WasDeleted(host) && !outdated(host) && e.over(host) {
		e.leave(ctx, host)

		return managed.ExternalObservation{}, nil
	}
	// Nothing is done to a host that is only looked at, however much it asks for.
	acts := allows(host, xpv2.ManagementActionUpdate)
	if !meta.WasDeleted(host) && (!acts || !e.rotating(host)) {
		e.connector.inventories.refresh(host, e.system, e.target, e.inventoryAge, acts && !o.ResourceUpToDate) //nolint:contextcheck // It outlives this look.
	}
	if !fresh {
		e.hear(host, nil) //nolint:contextcheck // The same.
	}

	return o, nil
}

// observeTrouble shows why a host can't be looked at. What a rotation has to do with that comes first.
func (e *external) observeTrouble(ctx context.Context, host *v1alpha1.RedfishHost, err error) (managed.ExternalObservation, error) {
	e.trouble = err
	e.halt(host, err)
	e.inputs.was, e.inputs.is = changedFrom(host, e.system.Identity)
	showTrouble(host, err, sentence(err, e.inputs))
	e.hear(host, err) //nolint:contextcheck // It outlives this look.
	first, err := e.rotatesFirst(ctx, host, err)

	return managed.ExternalObservation{ResourceExists: true, ResourceUpToDate: !first}, err
}

// look reads the machine, unless another host has it.
func (e *external) look(ctx context.Context, host *v1alpha1.RedfishHost) (pin string, err error) {
	if e.unusable != nil {
		return "", e.unusable
	}
	others, err := e.others(ctx, bmcIndexed(host))
	if err != nil {
		return "", err
	}
	if o := duplicateBySpec(host, others); o != nil {
		return "", e.duplicate(host, o)
	}
	if err := refused(host, e.target, e.connector.Now()); err != nil {
		return "", err
	}
	var unfound error
	err = e.connector.Gates.Do(ctx, e.target, func(ctx context.Context, bmc BMC) error {
		if e.system, unfound = e.find(ctx, bmc, host); unfound != nil {
			return unfound
		}
		pin, e.connection = bmc.Pin(), bmc.Connection()
		if recognise(host, e.system.Identity) != nil {
			return nil //nolint:nilerr // It's told below, unless another host has that machine.
		}
		if err := e.follow(ctx, bmc, host); err != nil {
			return err
		}

		return e.lookBeside(ctx, bmc, host)
	})
	if unfound != nil {
		err = notListed(host, err) // It let us in; what isn't Redfish doesn't.
	}
	if err != nil {
		return pin, e.rememberRefusal(ctx, host, err)
	}
	twins, err := e.others(ctx, namesIndexed(e.system.Identity))
	if err != nil {
		return pin, err
	}
	if o := duplicateByIdentity(host, e.system.Identity, append(others, twins...)); o != nil {
		return pin, e.duplicate(host, o)
	}

	return pin, recognise(host, e.system.Identity)
}

// lookBeside reads what is wanted beside the System itself. Of a host that is
// deleted that's what has to be taken away.
func (e *external) lookBeside(ctx context.Context, bmc BMC, host *v1alpha1.RedfishHost) error {
	w := wanted(host.Spec.ForProvider)
	if meta.WasDeleted(host) {
		w = released(w, nil)
	}
	if err := e.lookMedia(ctx, bmc, host, w); err != nil {
		return err
	}
	if err := e.lookSecureBoot(ctx, bmc, host, w); err != nil {
		return err
	}

	if err := e.lookBIOS(ctx, bmc, host, w); err != nil {
		return err
	}

	return e.lookPush(ctx, bmc, host)
}

// isTrouble says whether err is shown on the host, and not an error of ours or
// of Kubernetes.
func isTrouble(err error) bool {
	return redfish.KindOf(err) != "" || config.ReasonOf(err) != "" || errors.Is(err, errDuplicate) || errors.Is(err, errIdentityChanged)
}

// others lists the hosts that may be the same machine by values of the index,
// from the cache and without copying. Some may be in it twice.
func (c *Connector) others(ctx context.Context, values []string) ([]v1alpha1.RedfishHost, error) {
	var out []v1alpha1.RedfishHost
	for _, v := range values {
		list := &v1alpha1.RedfishHostList{}
		if err := c.Kube.List(ctx, list, client.MatchingFields{fieldMachine: v}, client.UnsafeDisableDeepCopy); err != nil {
			return nil, errors.Wrap(err, "cannot list hosts")
		}
		out = append(out, list.Items...)
	}

	return out, nil
}

func (e *external) others(ctx context.Context, values []string) ([]v1alpha1.RedfishHost, error) {
	return e.connector.others(ctx, values)
}

// duplicate names the other host only to readers of its namespace.
func (e *external) duplicate(host, other *v1alpha1.RedfishHost) error {
	if other.GetNamespace() == host.GetNamespace() {
		e.inputs.other = other.GetName()
	}

	return errDuplicate
}

// leavesTraces says whether we may have set an override that is still there, put
// an image into a drive, or have switched a machine off that is to be on again.
func leavesTraces(host *v1alpha1.RedfishHost) bool {
	j := parseJournal(host.GetAnnotations()[v1alpha1.AnnotationJournal])

	return j != nil && (j.Override != "" || len(j.Media) > 0 || j.Push.ID != "" || j.Boot.traces(j.Act) || (j.pending() && (j.Act.Action == actSetBootOnce || isReset(j.Act.Action))))
}

// halt ends the reading of a host's inventory where a look ended in trouble. A BMC
// that doesn't answer is asked for no inventory anyway; and what was read since
// the last good look may be another machine's.
func (e *external) halt(host *v1alpha1.RedfishHost, err error) {
	switch {
	case redfish.IsUnreachable(err):
	case errors.Is(err, errIdentityChanged):
		e.connector.inventories.forget(host.GetUID())
	default:
		e.connector.inventories.halt(host.GetUID())
	}
}

// counting returns a context whose requests to a BMC count as a host's.
func (c *Connector) counting(ctx context.Context, host *v1alpha1.RedfishHost) context.Context {
	return c.tallies.counting(ctx, nameOfHost(host), host.GetUID())
}

// Create is never called: a machine is there or not, and Observe says of every
// host that it exists.
func (e *external) Create(context.Context, *v1alpha1.RedfishHost) (managed.ExternalCreation, error) {
	return managed.ExternalCreation{}, errors.New("cannot create a machine: it is registered, not made")
}

// Update takes one step.
func (e *external) Update(ctx context.Context, host *v1alpha1.RedfishHost) (managed.ExternalUpdate, error) {
	e.target.Lane = gate.Act

	return managed.ExternalUpdate{}, e.advance(e.connector.counting(ctx, host), host, wanted(host.Spec.ForProvider))
}

// Delete takes one step towards off while the host is bound, and takes away
// our override once it isn't.
func (e *external) Delete(ctx context.Context, host *v1alpha1.RedfishHost) (managed.ExternalDelete, error) {
	e.target.Lane = gate.Act

	return managed.ExternalDelete{}, e.advance(e.connector.counting(ctx, host), host, leaving(host))
}

// leaving is what is wanted of a host that is deleted.
func leaving(host *v1alpha1.RedfishHost) want {
	w := released(wanted(host.Spec.ForProvider), parseJournal(host.GetAnnotations()[v1alpha1.AnnotationJournal]))
	if host.Spec.ClaimRef == nil {
		w.power = v1alpha1.Unmanaged
	}

	return w
}

// over says whether nothing more is done for a host that is deleted, whatever is
// left of ours on its machine: what was tried in vain keeps no host.
func (e *external) over(host *v1alpha1.RedfishHost) bool {
	j := parseJournal(host.GetAnnotations()[v1alpha1.AnnotationJournal])

	return host.Spec.ClaimRef == nil && !j.pending() && following(e.view(host, leaving(host), j, e.seen(e.system))).idle()
}

// Disconnect does nothing: the session belongs to the gatekeeper.
func (e *external) Disconnect(context.Context) error { return nil }
