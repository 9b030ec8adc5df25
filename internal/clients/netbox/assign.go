package netbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// A Place is the interface that an address is assigned to, and what has it.
type Place struct {
	// Kind is "" for what is neither a device's nor a virtual machine's interface, such as an FHRP group.
	Kind HolderKind
	ID   int64
	Name string
	// Holder is its device's or virtual machine's number.
	Holder     int64
	HolderName string
}

// String describes the place for a person.
func (p *Place) String() string {
	if p.Kind == "" {
		return fmt.Sprintf("%q, which is neither a device's nor a virtual machine's interface", p.Name)
	}
	return fmt.Sprintf("interface %q of %s %q", p.Name, p.Kind, p.HolderName)
}

// Same says whether both are the same interface; nil is none.
func (p *Place) Same(q *Place) bool {
	if p == nil || q == nil {
		return p == q
	}
	return p.Kind == q.Kind && p.ID == q.ID
}

// texts is how long the place's names are; nil has none.
func (p *Place) texts() int {
	if p == nil {
		return 0
	}
	return len(p.Name) + len(p.HolderName)
}

// mostNamed are the MAC addresses that a sentence names.
const mostNamed = 3

// An InterfaceRef says which interface of a holder is meant: by its number, its name, or any of some MAC addresses.
type InterfaceRef struct {
	ID   int64
	Name string
	MACs []string
}

// String describes the reference for a person.
func (r InterfaceRef) String() string {
	switch {
	case r.ID != 0:
		return strconv.FormatInt(r.ID, 10)
	case r.Name != "":
		return r.Name
	}
	if more := len(r.MACs) - mostNamed; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(r.MACs[:mostNamed], ", "), more)
	}
	return strings.Join(r.MACs, ", ")
}

// FindInterface returns the one interface that is meant. None is KindNotFound, several are KindAmbiguous. A nil holder means any:
// then it's found by its MAC address alone.
func (c *Client) FindInterface(ctx context.Context, h *Holder, r InterfaceRef) (Interface, error) {
	switch {
	case h == nil || len(r.MACs) > 0:
		return c.findByMAC(ctx, h, r.MACs)
	case r.ID != 0:
		return c.interfaceOf(ctx, *h, r)
	}
	k := call{
		op: fmt.Sprintf("find on %s %q the interface", h.Kind, h.Name), subject: r.String(),
		method: http.MethodGet, path: h.Kind.api().interfaces, want: http.StatusOK,
		query: url.Values{h.Kind.api().parent + "_id": {strconv.FormatInt(h.ID, 10)}, "name": {r.Name}, "fields": {interfaceFields(h.Kind)}},
	}
	all, err := listAll(ctx, c, k, interfaceDecoder(h.Kind))
	if err != nil {
		return Interface{}, err
	}
	return chooseInterface(k, all, func(i Interface) bool { return i.Holder == h.ID && i.Name == r.Name })
}

// interfaceOf reads the interface by its number, and sees to it that it's the holder's.
func (c *Client) interfaceOf(ctx context.Context, h Holder, r InterfaceRef) (Interface, error) {
	k := call{
		op: fmt.Sprintf("find on %s %q the interface number", h.Kind, h.Name), subject: r.String(), method: http.MethodGet,
		path: fmt.Sprintf("%s%d/", h.Kind.api().interfaces, r.ID), want: http.StatusOK, query: url.Values{"fields": {interfaceFields(h.Kind)}},
	}
	a, err := c.do(ctx, k)
	if err != nil {
		return Interface{}, err
	}
	i, err := decodeInterface(h.Kind, a.body)
	if err != nil {
		return Interface{}, k.failed(KindUnexpected, "its answer isn't an interface", err)
	}
	return chooseInterface(k, []Interface{i}, func(i Interface) bool { return i.Holder == h.ID && i.ID == r.ID })
}

// findByMAC looks for the interface that has one of some MAC addresses; on the holder, where there is one. MAC addresses aren't
// unique in NetBox: two devices may have the same (154, 158). They are asked for as many at a time as a URL has room for.
func (c *Client) findByMAC(ctx context.Context, h *Holder, macs []string) (Interface, error) {
	k := call{op: "find the interface with MAC", method: http.MethodGet, path: "dcim/mac-addresses/", want: http.StatusOK}
	k.subject = InterfaceRef{MACs: macs}.String()
	if h != nil {
		k.op = fmt.Sprintf("find on %s %q the interface with MAC", h.Kind, h.Name)
	}
	if len(macs) == 0 {
		return Interface{}, k.failed(KindInvalid, "no MAC address is known", nil)
	}
	found := map[Place]Interface{}
	for left := macs; len(left) > 0; {
		n := roomFor("mac_address", left)
		k.query = url.Values{"mac_address": left[:n]}
		all, err := listAll(ctx, c, k, decodeMAC)
		if err != nil {
			return Interface{}, err
		}
		for _, m := range all {
			if m.Kind != "" && m.HasMAC(left[:n]...) && (h == nil || m.Kind == h.Kind && m.Holder == h.ID) {
				i := found[m.Place]
				found[m.Place] = Interface{Place: m.Place, MACs: append(i.MACs, m.MACs...)}
			}
		}
		left = left[n:]
	}
	distinct := make([]Interface, 0, len(found))
	for _, i := range found {
		distinct = append(distinct, i)
	}
	slices.SortFunc(distinct, func(a, b Interface) int { return int(a.ID - b.ID) })
	return chooseInterface(k, distinct, func(Interface) bool { return true })
}

// chooseInterface filters again what came back. Pure.
func chooseInterface(k call, all []Interface, meant func(Interface) bool) (Interface, error) {
	found := slices.DeleteFunc(all, func(i Interface) bool { return !meant(i) })
	switch len(found) {
	case 0:
		return Interface{}, k.failed(KindNotFound, "NetBox has none, or the token may not see it", nil)
	case 1:
		return found[0], nil
	}
	var them []string
	for _, i := range found[:min(len(found), 4)] {
		them = append(them, i.String())
	}
	return Interface{}, k.failed(KindAmbiguous, fmt.Sprintf("NetBox has %d: %s; name the device, and the interface by its name", len(found), strings.Join(them, ", ")), nil)
}

// places lists what a look tells of the places of addresses.
func (v *view) places(tell func(Place) (int64, bool)) []int64 {
	v.mu.Lock()
	defer v.mu.Unlock()
	var out []int64
	for _, s := range v.seen {
		if s.ip.Assigned == nil {
			continue
		}
		if n, ok := tell(*s.ip.Assigned); ok && n != 0 {
			out = append(out, n)
		}
	}
	return out
}

// canonicalMAC is how two spellings of a MAC address are compared.
func canonicalMAC(s string) string {
	return strings.ToUpper(strings.NewReplacer("-", ":", ".", ":").Replace(s))
}

// A part is a nested interface, or null.
type part struct {
	ID             id   `json:"id"`
	Name           text `json:"name"`
	Display        text `json:"display"`
	Device         ref  `json:"device"`
	VirtualMachine ref  `json:"virtual_machine"`
}

// UnmarshalJSON never fails.
func (p *part) UnmarshalJSON(b []byte) error {
	type plain part
	var v plain
	if json.Unmarshal(b, &v) == nil {
		*p = part(v)
	}
	return nil
}

// place is the interface of an assigned_object; nil where there is none.
func (p *part) place(objectType string, number int64) *Place {
	if objectType == "" || number == 0 {
		return nil
	}
	out := &Place{Kind: kindOf(objectType), ID: number, Name: string(nameOf(p.Name))}
	holder := p.Device
	switch out.Kind {
	case Device:
	case VirtualMachine:
		holder = p.VirtualMachine
	default:
		out.Name = objectType + " " + string(nameOf(p.Display))
		return out
	}
	out.Holder, out.HolderName = int64(holder.ID), string(holder.Name)
	return out
}

// decodeMAC reads a MAC address as the interface that has it; one that nothing has is of no kind. It fails where there is none.
func decodeMAC(b []byte) (Interface, error) {
	var w struct {
		MAC    text `json:"mac_address"`
		Type   text `json:"assigned_object_type"`
		Number id   `json:"assigned_object_id"`
		Object part `json:"assigned_object"`
	}
	if err := json.Unmarshal(b, &w); err != nil || w.MAC == "" || len(w.MAC) > longestMAC {
		return Interface{}, errors.New("MAC address has no address")
	}
	i := Interface{MACs: []string{string(w.MAC)}}
	if p := w.Object.place(string(w.Type), int64(w.Number)); p != nil {
		i.Place = *p
	}
	return i, nil
}
