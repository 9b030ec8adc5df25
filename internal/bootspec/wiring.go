package bootspec

import (
	"fmt"
	"slices"
	"strings"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// What NetBox calls types and modes of interfaces that mean more than a port.
const (
	typeLAG     = "lag"
	typeVirtual = "virtual"
	typeBridge  = "bridge"

	modeTagged    = "tagged"
	modeTaggedAll = "tagged-all"
	modeQinQ      = "q-in-q"
)

// mostPorts of a bond, as people may name them.
const mostPorts = 16

func fromNetBox(i *v1alpha1.EntryInterface) bool {
	return i != nil && i.From == v1alpha1.InterfaceFromNetBox
}

// A wiring is what NetBox says of the network of one machine, while it's read.
type wiring struct {
	// asked is what the entry says itself, which counts.
	asked *v1alpha1.EntryInterface
	of    *v1alpha1.InterfaceObservation
	// top has the address, and base is the port or LAG below it, or itself.
	top, base *v1alpha1.InterfaceLink
	// part says that top is a part of base, as a VLAN is.
	part bool
	// vlan of the addresses' prefixes; 0: NetBox has none, or not of all the same.
	vlan int32
	macs []boot.MAC
}

// Wired is what an entry's machine has its network on, of what the entry says and, where it asks for that, of what NetBox has: as if all of it
// were written by hand. refs are the NetBoxIPAddresses that the entry names; nil ones aren't there. The machine's ports are known by its own
// records alone: NetBox says which of them are meant, and never that a MAC is the machine's.
func Wired(i *v1alpha1.EntryInterface, refs []*v1alpha1.NetBoxIPAddress, machine []string) (*v1alpha1.EntryInterface, *boot.Problem) {
	if !fromNetBox(i) {
		return i, nil
	}
	of, prob := seenOn(refs)
	if prob != nil {
		return nil, prob
	}
	w := wiring{asked: i, of: of, vlan: vlanOf(refs)}
	for _, s := range machine {
		if m, err := boot.ParseMAC(s); err == nil && !slices.Contains(w.macs, m) { // What isn't one is told where the plan is made.
			w.macs = append(w.macs, m)
		}
	}
	out := i.DeepCopy()
	out.From = ""
	for _, step := range []func(*v1alpha1.EntryInterface) *boot.Problem{w.place, w.ports, w.tag, w.size} {
		if prob := step(out); prob != nil {
			return nil, prob
		}
	}
	return out, nil
}

// seenOn is the one interface that NetBoxIPAddresses are assigned to.
func seenOn(refs []*v1alpha1.NetBoxIPAddress) (of *v1alpha1.InterfaceObservation, prob *boot.Problem) {
	name := ""
	for _, a := range refs {
		switch {
		case a == nil || a.Spec.ForProvider.AssignTo == nil:
			continue
		case a.Status.AtProvider.Interface == nil:
			return nil, no(v1alpha1.ReasonWaitingForAssignment, "NetBoxIPAddress %q shows no interface in NetBox yet, which interface.from: NetBox takes the network from; its conditions say whether it's assigned", a.Name)
		case of != nil && (of.ID != a.Status.AtProvider.Interface.ID || of.Device != a.Status.AtProvider.Interface.Device):
			return nil, no(v1alpha1.ReasonInvalid, "NetBoxIPAddress %q is on %s in NetBox, and %q on %s: interface.from: NetBox needs both on one; assign them to the same",
				name, placeName(of), a.Name, placeName(a.Status.AtProvider.Interface))
		}
		of, name = a.Status.AtProvider.Interface, a.Name
	}
	if of == nil {
		return nil, no(v1alpha1.ReasonInvalid, "interface.from: NetBox takes the network from the interface that an address is assigned to in NetBox, and none of the entry's NetBoxIPAddresses has assignTo; set it, or say the interface here")
	}
	return of, nil
}

// vlanOf is the VLAN that the addresses' prefixes have in NetBox; 0 where they have none, or not the same.
func vlanOf(refs []*v1alpha1.NetBoxIPAddress) (vlan int32) {
	for _, a := range refs {
		if a == nil || a.Status.AtProvider.Prefix == nil {
			continue
		}
		v := a.Status.AtProvider.Prefix.VLAN
		if v != 0 && vlan != 0 && v != vlan {
			return 0
		}
		vlan = max(vlan, v)
	}
	return vlan
}

func placeName(i *v1alpha1.InterfaceObservation) string {
	return fmt.Sprintf("interface %q of %q", i.Name, i.Device)
}

// link names an interface of the same device.
func (w *wiring) link(l *v1alpha1.InterfaceLink) string {
	return fmt.Sprintf("interface %q of %q", l.Name, w.of.Device)
}

// place finds out what the addresses are on, and what that is on. An address on a port of a LAG is the LAG's: a port in a bond has none of its own.
func (w *wiring) place(*v1alpha1.EntryInterface) *boot.Problem {
	w.top = &w.of.InterfaceLink
	w.base = w.top
	switch {
	case w.of.LAG != nil:
		w.top, w.base = w.of.LAG, w.of.LAG
	case w.of.Parent != nil:
		w.base, w.part = w.of.Parent, true
	}
	if w.base.Type == typeVirtual || w.base.Type == typeBridge {
		return no(v1alpha1.ReasonInvalid, "%s is of type %s in NetBox, which says no port that it's on: set its parent there, assign the address to a port, a LAG or a part of one, or name the ports in interface", w.link(w.base), w.base.Type)
	}
	return nil
}

// ports says the ports, and the bond where there is one.
func (w *wiring) ports(out *v1alpha1.EntryInterface) *boot.Problem {
	lag := w.base.Type == typeLAG
	if lag && out.Bond == nil {
		out.Bond = &v1alpha1.EntryBond{Name: bondName(w.base.Name), Mode: v1alpha1.BondLACP}
	}
	switch {
	case len(out.MACs) > 0, out.Bond != nil && !lag:
		return nil // They're said, or all that the machine has.
	case !lag:
		m, prob := w.port(w.link(w.base), w.base.MACs)
		out.MACs = []string{string(m)}
		return prob
	case len(w.base.Members) == 0:
		return no(v1alpha1.ReasonInvalid, "%s is a LAG in NetBox that no interface is a port of: set their LAG there, or name the ports in interface", w.link(w.base))
	case len(w.base.Members) > mostPorts:
		return no(v1alpha1.ReasonInvalid, "%s is a LAG of more than %d ports in NetBox; name the ports in interface", w.link(w.base), mostPorts)
	}
	for _, p := range w.base.Members {
		m, prob := w.port(fmt.Sprintf("port %q of %s", p.Name, w.link(w.base)), p.MACs)
		if prob != nil {
			return prob
		}
		if slices.Contains(out.MACs, string(m)) {
			return no(v1alpha1.ReasonInvalid, "two ports of %s have MAC %s in NetBox; correct one of them there, or name the ports in interface", w.link(w.base), m)
		}
		out.MACs = append(out.MACs, string(m))
	}
	return nil
}

// port is the machine's MAC that one port has in NetBox.
func (w *wiring) port(what string, macs []string) (boot.MAC, *boot.Problem) {
	var its []boot.MAC
	for _, s := range macs {
		if m, err := boot.ParseMAC(s); err == nil && !slices.Contains(its, m) {
			its = append(its, m)
		}
	}
	mine := slices.DeleteFunc(slices.Clone(its), func(m boot.MAC) bool { return !slices.Contains(w.macs, m) })
	switch {
	case len(mine) > 0:
		return mine[0], nil // Its primary one comes first.
	case len(its) == 0 && len(w.macs) == 1 && w.base.Type != typeLAG:
		return w.macs[0], nil // There's but one that it can be.
	case len(its) == 0:
		return "", no(v1alpha1.ReasonInvalid, "%s has no MAC address in NetBox, by which the machine's port would be known; add it there, or name the ports in interface", what)
	}
	return "", no(v1alpha1.ReasonInvalid, "%s has MAC %s in NetBox, and the machine has %s: a port that it doesn't have gets no address; correct NetBox, or the machine's macs", what, listed(its), listed(w.macs))
}

func listed(ms []boot.MAC) string {
	texts := make([]string, 0, len(ms))
	for _, m := range ms {
		texts = append(texts, string(m))
	}
	return strings.Join(texts, ", ")
}

// bondName is a LAG's name where a system can have it for a bond.
func bondName(name string) string {
	if bondForm.MatchString(name) && !takenForm.MatchString(name) {
		return name
	}
	return defaultBond
}

// tag says the VLAN that the system tags.
func (w *wiring) tag(out *v1alpha1.EntryInterface) (prob *boot.Problem) {
	if out.VLANID == 0 {
		out.VLANID, prob = w.vid()
	}
	return prob
}

// vid is the VLAN of the address on what has it; 0: what it sends has no tag.
func (w *wiring) vid() (int32, *boot.Problem) {
	one := int32(0)
	if len(w.top.TaggedVLANs) == 1 && w.top.Mode == modeTagged {
		one = w.top.TaggedVLANs[0]
	}
	carries := w.top.Mode == modeTaggedAll || slices.Contains(w.top.TaggedVLANs, w.vlan)
	switch {
	case w.top.Mode == modeQinQ:
		return 0, no(v1alpha1.ReasonInvalid, "%s has mode q-in-q in NetBox, which isn't supported; say vlanID in interface", w.link(w.top))
	case w.part:
		return w.own(one)
	case w.top.Mode != modeTagged && w.top.Mode != modeTaggedAll, w.vlan != 0 && w.vlan == w.top.UntaggedVLAN:
		return 0, nil
	case w.vlan != 0 && carries:
		return w.vlan, nil
	case w.vlan != 0:
		return 0, no(v1alpha1.ReasonInvalid, "%s doesn't carry VLAN %d in NetBox, which the prefix of its address has; add it there, or say vlanID in interface", w.link(w.top), w.vlan)
	case w.top.UntaggedVLAN != 0:
		return 0, nil
	case one != 0:
		return one, nil
	}
	return 0, no(v1alpha1.ReasonInvalid, "%s carries several VLANs in NetBox, and the prefix of its address has none there, so that which one the address is in isn't known; set the prefix's VLAN, or say vlanID in interface", w.link(w.top))
}

// own is the VLAN of what is a part of another interface: its own, or else that of the address's prefix.
func (w *wiring) own(tagged int32) (int32, *boot.Problem) {
	for _, v := range []int32{w.top.UntaggedVLAN, tagged, w.vlan} {
		if v != 0 {
			return v, nil
		}
	}
	return 0, no(v1alpha1.ReasonInvalid, "%s is a part of %q in NetBox, and neither has it a VLAN of its own there, nor the prefix of its address; set one of them, or say vlanID in interface", w.link(w.top), w.base.Name)
}

// size says the MTU.
func (w *wiring) size(out *v1alpha1.EntryInterface) *boot.Problem {
	if out.MTU != 0 {
		return nil
	}
	out.MTU = w.top.MTU
	if out.MTU == 0 {
		out.MTU = w.base.MTU
	}
	switch {
	case out.MTU != 0 && (out.MTU < leastMTU || out.MTU > mostMTU):
		return no(v1alpha1.ReasonInvalid, "%s has MTU %d in NetBox, and one from %d to %d can be said to a system; correct it there, or say mtu in interface", w.link(w.top), out.MTU, leastMTU, mostMTU)
	case w.base.MTU != 0 && out.MTU > w.base.MTU:
		return no(v1alpha1.ReasonInvalid, "%s has MTU %d in NetBox, and %q, which it's a part of, has %d, which is less; correct one of them there, or say mtu in interface", w.link(w.top), out.MTU, w.base.Name, w.base.MTU)
	}
	return nil
}
