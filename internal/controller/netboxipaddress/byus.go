package netboxipaddress

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// Who put an address on its interface decides whether it's released: what a person assigned elsewhere is in use there. That it was this resource is
// known by status, as soon as a look or an update has seen it there, whichever seat it's yet to take; before that by what was written down with the
// asking; and where neither is left, by what spec says.

// notePlace writes down which interface the record that is about to be asked for is made on: with what the managed reconciler writes before a Create,
// so that it's known whatever becomes of the answer, and of who asked.
func (e *external) notePlace(mg *v1alpha1.NetBoxIPAddress) {
	if e.place == nil {
		meta.RemoveAnnotations(mg, v1alpha1.AnnotationMadeOn)
		return
	}
	meta.AddAnnotations(mg, map[string]string{v1alpha1.AnnotationMadeOn: placeNote(*e.place)})
}

// placeNote is an interface as the annotation has it, such as device/11.
func placeNote(p netbox.Place) string {
	return strings.ReplaceAll(string(p.Kind), " ", "-") + "/" + strconv.FormatInt(p.ID, 10)
}

// asMade says that the record is on the interface that it was made on, and that status doesn't tell of it yet. Afterwards that says what is so; also of
// a resource that was restored without it, whose record has its former UID, the note says nothing: much may have been assigned since.
func (e *external) asMade(mg *v1alpha1.NetBoxIPAddress) bool {
	at := e.record.Assigned
	return at != nil && mg.Status.AtProvider.ID != e.record.ID && ownerOf(e.record.Marker(e.inputs.field), e.us) == ownerUs &&
		mg.GetAnnotations()[v1alpha1.AnnotationMadeOn] == placeNote(*at)
}

// arrived is what status says of an address that is on an interface by our doing, and whose assignment isn't done yet: on a machine that it was
// on before, it has the use there that it had.
func arrived(was *v1alpha1.AssignmentObservation, at netbox.Place) *v1alpha1.AssignmentObservation {
	o := assigned(at, "")
	if was != nil && sameMachine(was, at) {
		o.Use = was.Use
	}
	return o
}

// complete says whether an assignment was once done: else the address is on its interface, and no more.
func complete(o *v1alpha1.AssignmentObservation) bool { return o != nil && o.Use != "" }

// onItsWay is what status says of an assignment that somebody changed and that is being put right: what follows is no drift. An address that is where we
// had put it, or have put it again, is there by our doing all the same.
func (e *external) onItsWay(o *v1alpha1.AssignmentObservation) *v1alpha1.AssignmentObservation {
	if at := e.record.Assigned; o != nil && assignedTo(o, at) {
		return assigned(*at, "")
	}
	return nil
}

// byUs says whether it's this resource that put the address where it is: on that interface, or another one of the same machine.
func (e *external) byUs(ctx context.Context, mg *v1alpha1.NetBoxIPAddress) (bool, error) {
	at, was := e.record.Assigned, mg.Status.AtProvider.Assigned
	if at == nil || (was != nil && sameMachine(was, *at)) || e.asMade(mg) {
		return true, nil
	}
	by, err := e.names(ctx, mg, *at)
	if errors.As(err, new(hostError)) || errors.As(err, new(malformedError)) {
		return false, nil // It names nothing, so it doesn't name this.
	}
	return by, err
}

// names says whether spec says that the address is to be there: on that interface, or another one of the same machine. An error is that it names
// nothing, or that it can't be told what.
func (e *external) names(ctx context.Context, mg *v1alpha1.NetBoxIPAddress, at netbox.Place) (bool, error) {
	w, err := e.wish(ctx, mg)
	switch {
	case w == nil || w.holder.Kind == "" && err != nil: // Of a host without a MAC address it's known which device it's of.
		return false, err
	case at.Kind == "":
		return false, nil
	case w.holder.Kind == "":
		i, ok, err := e.netbox.SeenInterface(ctx, at.Kind, at.ID, 0)
		return err == nil && ok && i.HasMAC(w.iface.MACs...), err
	case !w.holder.Names(at.Kind, at.Holder, at.HolderName):
		return false, nil
	case w.holder.Site == "" && w.serial == "":
		return true, nil
	}
	h, ok, err := e.netbox.SeenHolder(ctx, at.Kind, at.Holder, 0)
	return err == nil && ok && (w.holder.Site == "" || w.holder.Site == h.Site) && w.mismatch(h) == nil, err
}
