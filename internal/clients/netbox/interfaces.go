package netbox

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"time"
)

// Types of interfaces that mean more than a port, and modes of them, as NetBox calls them.
const (
	TypeLAG     = "lag"
	TypeVirtual = "virtual"
	TypeBridge  = "bridge"

	ModeAccess    = "access"
	ModeTagged    = "tagged"
	ModeTaggedAll = "tagged-all"
)

// An Interface is the part of an interface that an assignment depends on, and of which a machine's network is made (4.2 to 4.7).
type Interface struct {
	Place

	// MACs are its addresses, upper case with colons, the primary one first.
	MACs []string
	// Type is NetBox's value, such as "lag"; "" of a virtual machine's.
	Type string
	// MTU in bytes; 0 where it isn't said.
	MTU int
	// Mode is NetBox's value; "" where it isn't said.
	Mode string
	// Untagged is the number (VID) of the VLAN that it carries without a tag; 0 is none.
	Untagged int
	// Tagged are those of the VLANs that it carries with a tag, in order.
	Tagged []int
	// Parent is the number of the interface that it's a part of, and LAG of that which it's a port of; 0 is none.
	Parent, LAG int64
}

// HasMAC says whether one of the interface's MAC addresses is among some, in whichever case they are written.
func (i Interface) HasMAC(macs ...string) bool {
	return slices.ContainsFunc(i.MACs, func(m string) bool {
		return slices.ContainsFunc(macs, func(n string) bool { return canonicalMAC(m) == canonicalMAC(n) })
	})
}

func (i Interface) number() int64 { return i.ID }

// changed is never: MAC addresses are records of their own.
func (i Interface) changed() time.Time { return time.Time{} }

// weight is about how much memory it takes, in bytes.
func (i Interface) weight() int64 {
	const plain, address, vlan = 230, 16, 8
	n := plain + i.texts() + len(i.Type) + len(i.Mode) + vlan*len(i.Tagged)
	for _, m := range i.MACs {
		n += address + len(m)
	}
	return int64(n)
}

// macAge is how old what is known of interfaces may be: there are many of them, they seldom change, and when their MAC addresses last did isn't
// told, as they are records of their own.
const macAge = 30 * time.Minute

// SeenInterface returns an interface as it was at some moment of the last maxAge, or of the last half an hour where that's longer; with a maxAge of
// 0 as it is now. Those of all addresses are read together, and what they are parts of: as SeenHolder does.
func (c *Client) SeenInterface(ctx context.Context, kind HolderKind, number int64, maxAge time.Duration) (i Interface, ok bool, err error) {
	k := rosterCall("list the interfaces with addresses of each %s", kind, kind.api().interfaces, url.Values{"fields": {interfaceFields(kind)}})
	if maxAge > 0 {
		maxAge = max(maxAge, macAge)
	}
	others := func() []int64 { return c.wired(kind) }
	return c.interfaces[kind].look(ctx, number, maxAge, others, k, func(ctx context.Context, k call, pages int, stray func(Interface) bool) ([]Interface, bool, error) {
		return listSome(ctx, c, k, pages, interfaceDecoder(kind), stray)
	})
}

// wired are the interfaces that addresses are on, and, as far as these are known, those that they are parts and ports of.
func (c *Client) wired(kind HolderKind) []int64 {
	out := c.view.places(func(p Place) (int64, bool) { return p.ID, p.Kind == kind })
	for _, i := range c.interfaces[kind].those(out) {
		out = append(out, i.Parent, i.LAG)
	}
	return slices.DeleteFunc(out, func(n int64) bool { return n == 0 })
}

// those are the records of some numbers, as far as they are known.
func (r *roster[V]) those(numbers []int64) []V {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []V
	for _, n := range numbers {
		if e, ok := r.known[n]; ok && e.shown {
			out = append(out, e.value)
		}
	}
	return out
}

// interfaceFields are what decodeInterface reads. What a virtual machine's hasn't is left out of the answer.
func interfaceFields(kind HolderKind) string {
	return "id,name,type,mtu,mode,untagged_vlan,tagged_vlans,parent,lag,mac_address,mac_addresses," + kind.api().parent
}

func interfaceDecoder(kind HolderKind) func([]byte) (Interface, error) {
	return func(b []byte) (Interface, error) { return decodeInterface(kind, b) }
}

const (
	// mostMACs are more than any interface has, and longestMAC is longer than any that NetBox takes.
	mostMACs, longestMAC = 64, 32
	// lastVLAN is the largest VID.
	lastVLAN = 4094
)

// vlan takes a nested VLAN, of which it reads the VID. A VLAN's bare number isn't that.
type vlan int

// UnmarshalJSON never fails.
func (v *vlan) UnmarshalJSON(b []byte) error {
	var w struct {
		VID id `json:"vid"`
	}
	if json.Unmarshal(b, &w) == nil && w.VID <= lastVLAN {
		*v = vlan(w.VID)
	}
	return nil
}

// vlans takes a list of nested VLANs, and makes anything else none.
type vlans []int

// UnmarshalJSON never fails.
func (v *vlans) UnmarshalJSON(b []byte) error {
	var out []int
	for raw := range elements(b) {
		var one vlan
		_ = one.UnmarshalJSON(raw) // It never fails.
		if one != 0 {
			out = append(out, int(one))
		}
	}
	slices.Sort(out)
	*v = slices.Clip(slices.Compact(out))
	return nil
}

// decodeInterface fails where there is no id, or nothing that has it.
func decodeInterface(kind HolderKind, b []byte) (Interface, error) {
	var p part
	var w struct {
		Type     choice `json:"type"`
		MTU      id     `json:"mtu"`
		Mode     choice `json:"mode"`
		Untagged vlan   `json:"untagged_vlan"`
		Tagged   vlans  `json:"tagged_vlans"`
		Parent   ref    `json:"parent"`
		LAG      ref    `json:"lag"`
		Primary  text   `json:"mac_address"`
	}
	var m struct {
		MACs []struct {
			Address text `json:"mac_address"`
		} `json:"mac_addresses"`
	}
	if err := json.Unmarshal(b, &p); err != nil || p.ID == 0 {
		return Interface{}, errors.New("interface has no id")
	}
	_ = json.Unmarshal(b, &w) // None of these fails.
	_ = json.Unmarshal(b, &m) // What isn't a list of MAC addresses is none.
	at := p.place(kind.api().object, int64(p.ID))
	if at.Holder == 0 {
		return Interface{}, errors.New("interface has no " + string(kind))
	}
	i := Interface{
		Place: *at, Type: string(nameOf(text(w.Type))), Mode: string(nameOf(text(w.Mode))), Untagged: int(w.Untagged), Tagged: w.Tagged,
		Parent: int64(w.Parent.ID), LAG: int64(w.LAG.ID),
	}
	if w.MTU <= 1<<16 {
		i.MTU = int(w.MTU)
	}
	for _, m := range m.MACs[:min(len(m.MACs), mostMACs)] {
		if len(m.Address) <= longestMAC {
			i.MACs = append(i.MACs, string(m.Address))
		}
	}
	slices.SortStableFunc(i.MACs, func(a, b string) int {
		return cmp.Compare(rank(a == string(w.Primary)), rank(b == string(w.Primary)))
	})
	return i, nil
}

// rank puts what is first before the rest.
func rank(first bool) int {
	if first {
		return 0
	}
	return 1
}
