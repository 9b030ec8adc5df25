package netboxipaddress

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// Assigner is what the assignment of an address uses.
type Assigner interface {
	FindHolder(ctx context.Context, r netbox.HolderRef) (netbox.Holder, error)
	SeenHolder(ctx context.Context, kind netbox.HolderKind, number int64, maxAge time.Duration) (h netbox.Holder, ok bool, err error)
	FindInterface(ctx context.Context, h *netbox.Holder, r netbox.InterfaceRef) (netbox.Interface, error)
	SeenInterface(ctx context.Context, kind netbox.HolderKind, number int64, maxAge time.Duration) (i netbox.Interface, ok bool, err error)
	SeenMembers(ctx context.Context, lag int64, maxAge time.Duration) ([]netbox.Interface, error)
	Seat(ctx context.Context, kind netbox.HolderKind, number int64, seat netbox.Seat, from, to int64) (netbox.Holder, error)
}

// A step is the next act of an assignment. NetBox refuses to move an address that is in a seat of its device or virtual machine to
// another one, and to seat one that isn't there: so it's cleared, moved, and seated, one act a look. Each look finds out anew from
// NetBox alone what comes next: a crash in between forgets nothing. The zero step is that all is done.
type step struct {
	// target is where the address is to be when all is done; nil is nowhere.
	target *netbox.Place
	// move the address there now, or away from where it is.
	move *netbox.Place
	// seat of the holder to clear, or to take where take is set.
	kind   netbox.HolderKind
	holder int64
	seat   netbox.Seat
	take   bool
}

func (s step) done() bool { return s.move == nil && s.seat == "" }

// stepped is what was found out about the next step of a record as it was seen.
type stepped struct {
	record *netbox.IPAddress
	age    time.Duration
	step   step
	err    error
}

// next finds out what is to be done for the assignment, by what was seen within age; 0 is now. Of one record that's asked for once.
func (e *external) next(ctx context.Context, mg *v1alpha1.NetBoxIPAddress, age time.Duration) (step, error) {
	if e.stepped.record != e.record || e.stepped.age != age {
		s, err := e.findStep(ctx, mg, age)
		e.stepped = stepped{e.record, age, s, err}
	}
	return e.stepped.step, e.stepped.err
}

func (e *external) findStep(ctx context.Context, mg *v1alpha1.NetBoxIPAddress, age time.Duration) (step, error) {
	was := mg.Status.AtProvider.Assigned
	w, err := e.wish(ctx, mg)
	if err != nil {
		return step{}, err
	}
	if w == nil {
		if was == nil || !assignedTo(was, e.record.Assigned) {
			return step{}, nil // Nothing is asked for, and what is there isn't ours.
		}
		return e.leave(ctx, nil, age)
	}
	if err := e.mayAssign(w, e.record.Address); err != nil {
		return step{}, err
	}
	in, holder, err := e.inPlace(ctx, w, was, age)
	if err != nil {
		return step{}, err
	}
	if in {
		return seatStep(*e.record, holder, w.use, was)
	}
	target, _, err := e.target(ctx, w)
	if err != nil {
		return step{}, err
	}
	return e.leave(ctx, target, age)
}

// inPlace says whether the address is on the interface that is wanted, and returns the holder as far as it matters.
func (e *external) inPlace(ctx context.Context, w *wish, was *v1alpha1.AssignmentObservation, age time.Duration) (bool, *netbox.Holder, error) {
	at := e.record.Assigned
	if at == nil || at.Kind == "" || (w.holder.Kind != "" && !w.holder.Names(at.Kind, at.Holder, at.HolderName)) {
		return false, nil, nil
	}
	switch {
	case w.iface.ID != 0 && w.iface.ID != at.ID, w.iface.Name != "" && w.iface.Name != at.Name:
		return false, nil, nil
	case len(w.iface.MACs) > 0:
		i, ok, err := e.netbox.SeenInterface(ctx, at.Kind, at.ID, age)
		if err != nil || !ok || !i.HasMAC(w.iface.MACs...) {
			return false, nil, err
		}
	}
	if w.use == v1alpha1.UseAdditional && (!complete(was) || was.Use == w.use) && w.holder.Site == "" && w.serial == "" {
		return true, nil, nil
	}
	h, ok, err := e.netbox.SeenHolder(ctx, at.Kind, at.Holder, age)
	if err != nil || !ok || (w.holder.Site != "" && h.Site != w.holder.Site) {
		return false, nil, err
	}
	return true, &h, w.mismatch(h)
}

// target looks up the interface that is wanted, and what has it, as NetBox has them now.
func (e *external) target(ctx context.Context, w *wish) (*netbox.Place, *netbox.Holder, error) {
	var holder *netbox.Holder
	if w.holder.Kind != "" {
		h, err := e.netbox.FindHolder(ctx, w.holder)
		if err == nil {
			err = w.mismatch(h)
		}
		if err != nil {
			return nil, nil, err
		}
		holder = &h
	}
	i, err := e.netbox.FindInterface(ctx, holder, w.likely())
	if netbox.IsNotFound(err) && len(w.macs) > 0 {
		i, err = e.netbox.FindInterface(ctx, holder, w.iface)
	}
	if netbox.IsAmbiguous(err) && w.searched {
		err = hostError{v1alpha1.ReasonAmbiguous, fmt.Sprintf("RedfishHost %q, which assignTo names, has several interfaces in NetBox (%v): say which in assignTo.interface", w.host, err)}
	}
	if err != nil {
		return nil, nil, err
	}
	return &i.Place, holder, nil
}

// foresee looks for what would keep an address that is yet to be made from being assigned: none is taken in vain. It returns the
// interface, so that the address is made on it.
func (e *external) foresee(ctx context.Context, mg *v1alpha1.NetBoxIPAddress) (*netbox.Place, error) {
	w, err := e.wish(ctx, mg)
	if w == nil || err != nil {
		return nil, err
	}
	if e.plan.address.IsValid() {
		if err := e.mayAssign(w, e.plan.address); err != nil {
			return nil, err
		}
	}
	target, holder, err := e.target(ctx, w)
	if err != nil {
		return nil, err
	}
	if holder == nil && target.Holder != 0 && w.use != v1alpha1.UseAdditional { // The interface was found by its MAC address alone.
		h, err := e.netbox.FindHolder(ctx, netbox.HolderRef{Kind: target.Kind, ID: target.Holder})
		if err != nil {
			return nil, err
		}
		holder = &h
	}
	return target, e.vacant(ctx, mg, w, holder)
}

// request says what a new record is to be: on its interface from the beginning. That this is allowed was seen of each source.
func (e *external) request(p v1alpha1.NetBoxIPAddressParameters, policy v1alpha1.NetBoxPolicy) netbox.Request {
	r := requestOf(p, policy, e.us.marker())
	r.Assigned, r.NotAfter = e.place, e.latest
	return r
}

// mismatch says, by an error, that a device isn't the machine that it's named for.
func (w *wish) mismatch(h netbox.Holder) error {
	if w.serial == "" || h.Serial == "" || strings.EqualFold(w.serial, h.Serial) {
		return nil
	}
	return hostError{v1alpha1.ReasonConflict, fmt.Sprintf("%s %q in NetBox has serial number %q, but RedfishHost %q has %q: name the right device in the host's netboxDevice, or correct NetBox", h.Kind, h.Name, h.Serial, w.host, w.serial)}
}

// leave moves the address to a target, or away; before that it clears the seats of another holder that name it.
func (e *external) leave(ctx context.Context, target *netbox.Place, age time.Duration) (step, error) {
	s, at := step{target: target}, e.record.Assigned
	if at != nil && at.Kind != "" && (target == nil || target.Kind != at.Kind || target.Holder != at.Holder) {
		h, ok, err := e.netbox.SeenHolder(ctx, at.Kind, at.Holder, age)
		if err != nil {
			return step{}, err
		}
		for _, seat := range netbox.Seats() {
			if ok && h.Seated[seat].ID == e.record.ID {
				s.kind, s.holder, s.seat = at.Kind, at.Holder, seat
				return s, nil
			}
		}
	}
	s.move = target
	if target == nil {
		s.move = &netbox.Place{}
	}
	return s, nil
}

// assignedTo says whether a place is the one that this resource has assigned its address to.
func assignedTo(was *v1alpha1.AssignmentObservation, at *netbox.Place) bool {
	if at == nil || was.Interface.ID != at.ID {
		return false
	}
	return (was.Device != nil && at.Kind == netbox.Device) || (was.VirtualMachine != nil && at.Kind == netbox.VirtualMachine)
}

// sameHolder says whether a holder is the one that this resource has assigned its address to.
func sameHolder(was *v1alpha1.AssignmentObservation, h netbox.Holder) bool {
	return sameMachine(was, netbox.Place{Kind: h.Kind, Holder: h.ID})
}

// sameMachine says whether a place is on the device or virtual machine that this resource has assigned its address to.
func sameMachine(was *v1alpha1.AssignmentObservation, at netbox.Place) bool {
	o := was.Device
	if at.Kind == netbox.VirtualMachine {
		o = was.VirtualMachine
	}
	return at.Kind != "" && o != nil && o.ID == at.Holder
}

// assigned is what status says of an assignment: with a use where it's done.
func assigned(at netbox.Place, use v1alpha1.AddressUse) *v1alpha1.AssignmentObservation {
	holder := &v1alpha1.NetBoxObject{ID: at.Holder, Name: at.HolderName}
	o := &v1alpha1.AssignmentObservation{Interface: v1alpha1.NetBoxObject{ID: at.ID, Name: at.Name}, Use: use}
	if at.Kind == netbox.VirtualMachine {
		o.VirtualMachine = holder
	} else {
		o.Device = holder
	}
	return o
}
