package netboxipaddress

import (
	"context"
	"fmt"
	"net/netip"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// errNoBMC is what's wrong with an out-of-band address of a virtual machine.
var errNoBMC = malformedError{"assignTo.use: a virtual machine has no out-of-band address; use Primary or Additional"}

// vacant says, by an error, that no address that may be taken can have the seat that is wanted. Which seat that is depends on its family:
// a source whose addresses can't have theirs is passed over.
func (e *external) vacant(ctx context.Context, mg *v1alpha1.NetBoxIPAddress, w *wish, holder *netbox.Holder) error {
	if holder != nil && holder.Kind == netbox.VirtualMachine && w.use == v1alpha1.UseOutOfBand {
		return errNoBMC
	}
	taken := func(a netip.Addr) error {
		if seat := seatOf(w.use, a); holder != nil && seat != "" && holder.Seated[seat].ID != 0 {
			return seatTakenError{seat, *holder}
		}
		return nil
	}
	if e.plan.address.IsValid() {
		return taken(e.plan.address.Addr())
	}
	e.seated = taken
	if i, err := e.usable(ctx, mg, 0); i >= 0 || err != nil || len(e.plan.candidates) == 0 {
		return err
	}
	return e.exhausted(mg)
}

// seatStep is what is to be done about the seats of an address's holder, once it's in place. What the resource took before for
// another use is given back; whatever else the seats hold is left alone.
func seatStep(ip netbox.IPAddress, h *netbox.Holder, use v1alpha1.AddressUse, was *v1alpha1.AssignmentObservation) (step, error) {
	s := step{target: ip.Assigned}
	if h == nil {
		return s, nil
	}
	s.kind, s.holder = h.Kind, h.ID
	seat := seatOf(use, ip.Address.Addr())
	if was != nil && sameHolder(was, *h) {
		if old := seatOf(was.Use, ip.Address.Addr()); old != "" && old != seat && h.Seated[old].ID == ip.ID {
			s.seat = old
			return s, nil
		}
	}
	switch {
	case seat == "" || h.Seated[seat].ID == ip.ID:
	case h.Kind == netbox.VirtualMachine && seat == netbox.SeatOutOfBand:
		return s, errNoBMC
	case h.Seated[seat].ID != 0:
		return s, seatTakenError{seat, *h}
	default:
		s.seat, s.take = seat, true
	}
	return s, nil
}

// seatOf is the seat for a use and a family; "" for none.
func seatOf(use v1alpha1.AddressUse, a netip.Addr) netbox.Seat {
	switch {
	case use == v1alpha1.UseOutOfBand:
		return netbox.SeatOutOfBand
	case use != v1alpha1.UsePrimary:
		return ""
	case a.Is6():
		return netbox.SeatPrimary6
	}
	return netbox.SeatPrimary4
}

// sit does what a step says about a seat.
func (e *external) sit(ctx context.Context, s step) error {
	from, to := e.record.ID, int64(0)
	if s.take {
		from, to = 0, e.record.ID
	}
	_, err := e.netbox.Seat(ctx, s.kind, s.holder, s.seat, from, to)
	return err
}

// A seatTakenError says that a seat is another address's. It's never taken over, be that a person's or one of ours: two resources
// that want it would take it from each other for ever, and a machine is reached by what it holds.
type seatTakenError struct {
	seat   netbox.Seat
	holder netbox.Holder
}

func (e seatTakenError) Error() string {
	return fmt.Sprintf("%s of %s %q is another address", e.seat, e.holder.Kind, e.holder.Name)
}

func (e seatTakenError) words(inputs) (reason xpv2.ConditionReason, message string) {
	what := map[netbox.Seat]string{
		netbox.SeatPrimary4: "primary IPv4 address", netbox.SeatPrimary6: "primary IPv6 address", netbox.SeatOutOfBand: "out-of-band address",
	}[e.seat]
	by := e.holder.Seated[e.seat]
	return v1alpha1.ReasonConflict, fmt.Sprintf("the %s of %s %q in NetBox is %s already (%s), and isn't taken from it: clear it there, or set assignTo.use to Additional; it is tried again",
		what, e.holder.Kind, e.holder.Name, by.Address, by.URL)
}
