package netboxipaddress

import (
	"context"
	"slices"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

const (
	// mostTagged are the VLANs of an interface that status shows, and mostPorts the ports of a LAG, MAC addresses of each included.
	mostTagged, mostPorts = 256, 64
)

// showInterface puts on a resource what NetBox has of the interface that its address is assigned to: by what all addresses' interfaces were lately
// seen to be, so that it costs none of them a request of its own. It's a nicety to the address, which others go by: as long as it can't be read, and
// as long as the address is on its way back to where it was, what was said before stays.
func (e *external) showInterface(ctx context.Context, mg *v1alpha1.NetBoxIPAddress) {
	if e.verdict != nil {
		return // What a look before came to is said again, and nothing is asked.
	}
	o := &mg.Status.AtProvider
	e.showVLAN(o)
	if mg.Spec.ForProvider.AssignTo == nil {
		o.Interface = nil
		return
	}
	at := e.record.Assigned
	if !complete(o.Assigned) || !assignedTo(o.Assigned, at) {
		return
	}
	if o.Interface != nil && o.Interface.ID != at.ID {
		o.Interface = nil // Of another one.
	}
	age := e.wiredAge(mg)
	if age > 0 && (o.Interface != nil && e.connector.settles() || e.connector.rests(e.of.UID)) {
		return
	}
	now, err := e.interfaceAt(ctx, *at, age)
	if err != nil {
		e.connector.unwired.put(e.of.UID, e.connector.Now())
		if age == 0 {
			e.connector.looked.put(mg.GetUID(), "\x00") // What was asked for is owed: no annotation is that.
		}
		return
	}
	o.Interface = now
	e.trim(o)
}

// rests says that the interfaces of a NetBox couldn't be read a short time ago: then no look waits for that, or costs a request, until it's tried again.
func (c *Connector) rests(of types.UID) bool {
	failed, known := c.unwired.get(of)
	return known && c.Now().Sub(failed).Abs() < settling
}

// settling is how long after a start what status says of interfaces isn't read anew, since there's enough to read then, and how long after they
// couldn't be read nobody tries.
const settling = 5 * time.Minute

// settles says that this process has begun a short time ago.
func (c *Connector) settles() bool { return c.Now().Sub(c.began).Abs() < settling }

// wiredAge is how old what is known of an interface may be: it's read now where somebody has just asked for a look, by the resource's annotation.
func (e *external) wiredAge(mg *v1alpha1.NetBoxIPAddress) time.Duration {
	asked := mg.GetAnnotations()[meta.AnnotationKeyReconcileRequestedAt]
	before, known := e.connector.looked.get(mg.GetUID())
	e.connector.looked.put(mg.GetUID(), asked)
	if known && before != asked {
		return 0
	}
	return e.connector.MaxAge
}

// interfaceAt is what NetBox has of an interface, and of what that is a part or a port of; nil where it shows none.
func (e *external) interfaceAt(ctx context.Context, at netbox.Place, age time.Duration) (*v1alpha1.InterfaceObservation, error) {
	link, i, err := e.link(ctx, at.Kind, at.ID, age)
	if link == nil || err != nil {
		return nil, err
	}
	out := &v1alpha1.InterfaceObservation{InterfaceLink: *link, Device: at.HolderName}
	if i.Parent != 0 {
		if out.Parent, _, err = e.link(ctx, at.Kind, i.Parent, age); err != nil {
			return nil, err
		}
	}
	if i.LAG != 0 {
		if out.LAG, _, err = e.link(ctx, at.Kind, i.LAG, age); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// link is what NetBox says of one interface; nil where it shows none.
func (e *external) link(ctx context.Context, kind netbox.HolderKind, number int64, age time.Duration) (*v1alpha1.InterfaceLink, netbox.Interface, error) {
	i, ok, err := e.netbox.SeenInterface(ctx, kind, number, age)
	if err != nil || !ok {
		return nil, i, err
	}
	out := &v1alpha1.InterfaceLink{
		ID: i.ID, Name: i.Name, Type: i.Type, MACs: i.MACs, MTU: int32(i.MTU), Mode: i.Mode, UntaggedVLAN: int32(i.Untagged), //nolint:gosec // Bounded as they're decoded.
	}
	for _, v := range i.Tagged {
		out.TaggedVLANs = append(out.TaggedVLANs, int32(v)) //nolint:gosec // As above.
	}
	if i.Type != netbox.TypeLAG {
		return out, i, nil
	}
	ports, err := e.netbox.SeenMembers(ctx, i.ID, age)
	for _, p := range ports[:min(len(ports), mostPorts)] {
		out.Members = append(out.Members, v1alpha1.InterfaceMember{ID: p.ID, Name: p.Name, MACs: p.MACs})
	}
	return out, i, err
}

// trim leaves out the VLANs of a trunk that are too many to be shown, but for the prefix's.
func (e *external) trim(o *v1alpha1.NetBoxIPAddressObservation) {
	if o.Interface == nil {
		return
	}
	for _, l := range []*v1alpha1.InterfaceLink{&o.Interface.InterfaceLink, o.Interface.Parent, o.Interface.LAG} {
		if l == nil || len(l.TaggedVLANs) <= mostTagged {
			continue
		}
		kept := slices.Clone(l.TaggedVLANs[:mostTagged])
		if p := o.Prefix; p != nil && slices.Contains(l.TaggedVLANs[mostTagged:], p.VLAN) {
			kept[mostTagged-1] = p.VLAN
		}
		l.TaggedVLANs = kept
	}
}

// showVLAN puts on a resource which VLAN its prefix is, where that was read lately: of a prefix that is a source, which is looked at anyway.
func (e *external) showVLAN(o *v1alpha1.NetBoxIPAddressObservation) {
	if o.Prefix == nil || o.Prefix.ID == 0 {
		return
	}
	parent, ok := e.connector.stocks.parentOf(stockKey{e.of.UID, netbox.ParentPrefix, o.Prefix.ID})
	if ok && int32(parent.VLAN) != o.Prefix.VLAN { //nolint:gosec // Bounded as it's decoded.
		p := *o.Prefix              // What status said before is still in use.
		p.VLAN = int32(parent.VLAN) //nolint:gosec // As above.
		o.Prefix = &p
	}
}

// parentAge is how long a prefix or range is believed to be as it was read, but for how full it is.
const parentAge = 30 * time.Minute

// parentOf is a source as it was read; ok is false where it was only heard of.
func (s *stocks) parentOf(key stockKey) (p netbox.Parent, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k, ok := s.all[key]
	if !ok || !k.known {
		return p, false
	}
	return k.parent, true
}

// asked is a source as it's to be looked at: one that was read long ago is read again.
func (s *stock) asked(now time.Time) stock {
	out := *s
	out.known = s.known && now.Sub(s.read) < parentAge
	return out
}
