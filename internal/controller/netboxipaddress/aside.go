package netboxipaddress

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

const (
	// setAsides is how many addresses of one source one Create leaves to those who lost them.
	setAsides = 8
	// eventSetAside tells that an address was.
	eventSetAside event.Reason = "SetAside"
)

// An asideError is an address that NetBox gave and that another resource may be using, whose record was deleted.
type asideError struct {
	address string
	// cause is why that can't be told, or the address can't be set aside; nil: it was.
	cause error
}

// Error doesn't wrap the cause: that says nothing of the POST.
func (e asideError) Error() string { return "address " + e.address + " isn't to be used" }

func (e asideError) words(in inputs) (reason xpv2.ConditionReason, message string) {
	message = fmt.Sprintf("address %q, which NetBox gave, is set aside there: another resource of this cluster had it, whose record somebody deleted, and a machine may be using it; another address is asked for", e.address)
	if e.cause != nil {
		message = fmt.Sprintf("address %q, which NetBox gave, may be another resource's, whose record somebody deleted: it isn't used before that is known, or it is set aside; %s", e.address, sentence(e.cause, in).message)
	}
	return v1alpha1.ReasonConflict, message
}

// A keptError is a record with this resource's marker whose address is another one's, and that isn't written to.
type keptError struct {
	id int64
	// by says whose the address is.
	by string
	// unasked says that this resource never asked for it; else it's that none may be made for it.
	unasked bool
}

func (e keptError) Error() string { return fmt.Sprintf("record %d stays as it is", e.id) }

func (e keptError) words(inputs) (reason xpv2.ConditionReason, message string) {
	message = fmt.Sprintf("record %d carries this resource's marker, and spec.managementPolicies let none be made for this resource: add Create there, so that it's set aside; or delete that record in NetBox", e.id)
	if e.unasked {
		message = fmt.Sprintf("record %d carries this resource's marker, which never asked for it, as far as is known here, and its address is %s, as the status of that says, as after a restore from a backup: whose machine doesn't use it goes; have that resource deleted, or delete the record in NetBox",
			e.id, e.by)
	}
	return v1alpha1.ReasonConflict, message
}

// allocateUnused asks a source for an address until it gives one that no machine of another resource may be using.
func (e *external) allocateUnused(ctx context.Context, mg *v1alpha1.NetBoxIPAddress, c candidate) (ip netbox.IPAddress, err error) {
	for range setAsides {
		if ip, err = e.allocate(ctx, c, mg.Spec.ForProvider); err != nil {
			return ip, err
		}
		e.connector.Failpoint("netbox-after-allocate")
		made, aside := ip.ID, asideError{}
		ip, err = e.unused(ctx, mg, ip)
		if errors.As(err, &aside) && aside.cause == nil {
			continue
		}
		if err != nil { // It's tried again.
			e.connector.answered.put(mg.GetUID(), made)
		}
		return ip, err
	}
	return ip, err
}

// goOn has a resource looked at again at once whose address was set aside: the next one is to be asked for, and retries come ever later, while
// hundreds may have been lost. Each time one at least is set aside, so it comes to an end. So is one that has more sources to ask: each that
// was is known by then to be full, as long as so many can be known.
func (e *external) goOn(mg *v1alpha1.NetBoxIPAddress, err error) {
	aside := asideError{}
	goes := errors.As(err, &aside) && aside.cause == nil
	if goes || errors.As(err, new(moreError)) && !e.connector.stocks.crowded(e.of.UID) {
		e.connector.Again(types.NamespacedName{Namespace: mg.GetNamespace(), Name: mg.GetName()}, e.connector.Now())
	}
}

// unused returns a record that was just made of whichever address was free, unless another resource may be using that: then it's set aside. What fails
// here is found by its marker, and looked at again before it's used.
func (e *external) unused(ctx context.Context, mg *v1alpha1.NetBoxIPAddress, ip netbox.IPAddress) (netbox.IPAddress, error) {
	of, err := e.loser(ctx, mg, ip)
	if err == nil && of == nil {
		return ip, nil
	}
	if err == nil {
		err = e.setAside(ctx, mg, ip, *of)
	}
	e.remains = err != nil
	return netbox.IPAddress{}, asideError{ip.Address.String(), err}
}

// proveUnused is that for a record that was found.
func (e *external) proveUnused(ctx context.Context, mg *v1alpha1.NetBoxIPAddress) (back bool, err error) {
	of, err := e.loser(ctx, mg, *e.record)
	if ours := e.mayBeOurs(mg); err == nil && of != nil && (!ours || !creates(mg)) {
		err = keptError{e.record.ID, e.whoseWords(*of), !ours}
	}
	switch {
	case err != nil:
		return false, asideError{e.record.Address.String(), err}
	case of == nil:
		return false, nil
	}
	e.aside = of
	return true, nil
}

// setAside leaves a record that was just made to the resource that had its address: in quarantine, as if that had released it. Nobody gets the
// address as long as its machine may be using it, and whenLost: Restore finds it.
func (e *external) setAside(ctx context.Context, mg *v1alpha1.NetBoxIPAddress, ip netbox.IPAddress, of identity) error {
	if err := e.netbox.EnsureReleaseField(ctx); err != nil {
		return err
	}
	n := note{marker: of.marker(), until: e.endOf(quarantine)}
	r := netbox.Release{Marker: e.us.marker(), Note: n.String(), Retire: true, Clear: true} // What its request wrote is this tenant's.
	r.Fields = slices.Sorted(maps.Keys(mg.Spec.ForProvider.CustomFields))
	if err := e.givesAway(mg, ip.ID, func() error { return e.netbox.Release(ctx, ip, r) }); err != nil {
		return err
	}
	e.connector.answered.forget(mg.GetUID())
	e.connector.Due(n.until)
	e.rouse(of) // It may have looked in between, and seen another one's record.
	next := ", and another one is asked for"
	if meta.WasDeleted(mg) {
		next = ""
	}
	e.connector.Recorder.Event(mg, event.Warning(eventSetAside, fmt.Errorf("address %s, record %d of the NetBox of %s, is %s, whose record somebody deleted: it stays deprecated until %s%s",
		ip.Address, ip.ID, e.inputs.config, e.whoseWords(of), n.until.UTC().Format(time.RFC3339), next)))
	return nil
}

// mayBeOurs says that a record with our marker, which was never shown here, may be of what was asked for.
func (e *external) mayBeOurs(mg *v1alpha1.NetBoxIPAddress) bool {
	return !e.unasked && e.connector.mayHaveMade(mg, e.denied)
}

// setAsideFor says that a record is in quarantine for another resource of this cluster, which had lost its address: one that names it all the same, as
// where another provider set it aside in that moment, goes without it.
func (e *external) setAsideFor(ip netbox.IPAddress) bool {
	n, _ := parseNote(ip.Marker(e.inputs.note))
	of, ok := parseMarker(n.marker)
	return ok && of.cluster == e.us.cluster && of.uid != e.us.uid && e.retired(ip)
}

// whoseWords say whose an address is, without naming anything of another namespace.
func (e *external) whoseWords(of identity) string {
	if of.namespace != e.us.namespace {
		return "another namespace's resource's"
	}
	return fmt.Sprintf("that of NetBoxIPAddress %q", of.name)
}

// unlost says, by an error, that a given address is to be had in NetBox only since somebody deleted another resource's record of it.
func (e *external) unlost(ctx context.Context, p v1alpha1.NetBoxIPAddressParameters, address netip.Prefix, vrf *netbox.VRF) error {
	of, err := e.loserOf(ctx, p, address.Addr(), vrf)
	if err != nil || of == nil {
		return err
	}
	return takenError{address: address.String(), by: e.whoseWords(*of), lost: true}
}

// usurped is that for a record of a given address that was just made, or found.
func (e *external) usurped(ctx context.Context, mg *v1alpha1.NetBoxIPAddress, ip netbox.IPAddress) error {
	of, err := e.loser(ctx, mg, ip)
	if err != nil || of == nil {
		return err
	}
	return takenError{address: ip.Address.String(), by: e.whoseWords(*of), lost: true}
}
