package netbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net/netip"
	"slices"
)

// A ParentKind is what addresses are allocated from.
type ParentKind string

// The kinds of parents.
const (
	ParentPrefix ParentKind = "prefix"
	ParentRange  ParentKind = "range"
)

// A Parent is the part of a prefix or an IP range (ipam/prefixes, ipam/ip-ranges) that we read: what addresses are allocated from.
type Parent struct {
	Kind ParentKind
	ID   int64
	// Prefix is the prefix; of a range, the network that its addresses' mask makes of them.
	Prefix netip.Prefix
	// First and Last address of a range. Those of a prefix aren't valid: its network and broadcast address may count or not.
	First, Last netip.Addr
	// VRF is nil in the global table.
	VRF    *VRF
	Status string
	// Pool says that a prefix gives its network and broadcast address, too.
	Pool bool
	// VLAN is the number (VID) of a prefix's VLAN; 0 is none.
	VLAN int
	// Utilized and Populated are NetBox's marks for what isn't to be filled, or is full of what NetBox doesn't know singly.
	Utilized, Populated bool

	// What filters ask for.
	role, tenant string
	site         *string // nil: not said, or a place that may be in any site
	tags         []string
	fields       map[string]any
}

// path of the parent's own resource, or of one below it.
func (p Parent) path(below string) string {
	collection := "prefixes"
	if p.Kind == ParentRange {
		collection = "ip-ranges"
	}
	return fmt.Sprintf("ipam/%s/%d/%s", collection, p.ID, below)
}

// Contains says whether an address is one that the parent may give.
func (p Parent) Contains(a netip.Addr) bool {
	if p.Kind == ParentRange {
		return a.BitLen() == p.First.BitLen() && p.First.Compare(a) <= 0 && a.Compare(p.Last) <= 0
	}
	return p.Prefix.Contains(a)
}

// CIDR is the prefix, or a range's ends.
func (p Parent) CIDR() string {
	if p.Kind == ParentRange {
		return fmt.Sprintf("%s-%s/%d", p.First, p.Last, p.Prefix.Bits())
	}
	return p.Prefix.String()
}

// String describes the parent for a person.
func (p Parent) String() string { return fmt.Sprintf("%s %q of %s", p.Kind, p.CIDR(), p.table()) }

func (p Parent) table() VRFRef {
	switch {
	case p.VRF == nil:
		return VRFRef{Global: true}
	case p.VRF.Name != "":
		return VRFRef{Name: p.VRF.Name}
	}
	return VRFRef{ID: p.VRF.ID}
}

// Size is how many addresses the parent can give in all, as NetBox counts: IPv4 networks and broadcasts don't count but in pools, /31
// and /32, nor the first address of an IPv6 prefix but in pools, /127 and /128. ok is false where it's more than an int64 holds.
func (p Parent) Size() (n int64, ok bool) {
	if p.Kind == ParentRange {
		first, last := new(big.Int).SetBytes(p.First.AsSlice()), new(big.Int).SetBytes(p.Last.AsSlice())
		d := last.Sub(last, first)
		if !d.IsInt64() || d.Int64() == 1<<63-1 {
			return 0, false
		}
		return d.Int64() + 1, true
	}
	host := p.Prefix.Addr().BitLen() - p.Prefix.Bits()
	if host >= 63 {
		return 0, false
	}
	n = int64(1) << host
	switch {
	case host <= 1 || p.Pool:
	case p.Prefix.Addr().Is4():
		n -= 2
	default:
		n--
	}
	return n, true
}

// bare leaves out what only filters ask for.
func (p Parent) bare() Parent {
	p.role, p.tenant, p.tags, p.fields = "", "", nil, nil
	return p
}

// bare decodes without what only filters ask for.
func bare(decode func([]byte) (Parent, error)) func([]byte) (Parent, error) {
	return func(b []byte) (Parent, error) {
		p, err := decode(b)
		return p.bare(), err
	}
}

// weight is about how much memory it takes, in bytes, where it's bare.
func (p Parent) weight() int64 {
	const parent, vrf = 268, 48
	n := parent + len(p.Status)
	if p.VRF != nil {
		n += vrf + len(p.VRF.Name) + len(p.VRF.RD)
	}
	if p.site != nil {
		n += len(*p.site)
	}
	return int64(n)
}

// weightOfParents is about how much memory what was found by a key takes, with its place in a map.
func weightOfParents(k parentKey, all []Parent) int64 {
	n := int64(300 + len(k.text) + len(k.vrf.Name) + len(k.vrf.RD))
	for _, p := range all {
		n += p.weight()
	}
	return n
}

// compareParents orders by network, whatever the VRF, then by number.
func compareParents(a, b Parent) int {
	first := func(p Parent) netip.Addr {
		if p.Kind == ParentRange {
			return p.First
		}
		return p.Prefix.Addr()
	}
	if c := first(a).Compare(first(b)); c != 0 {
		return c
	}
	if a.Prefix.Bits() != b.Prefix.Bits() {
		return a.Prefix.Bits() - b.Prefix.Bits()
	}
	switch {
	case a.ID < b.ID:
		return -1
	case a.ID > b.ID:
		return 1
	}
	return 0
}

// parentFields are what prefixes and ranges have in common.
type parentFields struct {
	ID        id     `json:"id"`
	VRF       ref    `json:"vrf"`
	Tenant    ref    `json:"tenant"`
	Role      ref    `json:"role"`
	Status    choice `json:"status"`
	Tags      refs   `json:"tags"`
	Fields    values `json:"custom_fields"`
	Utilized  truth  `json:"mark_utilized"`
	Populated truth  `json:"mark_populated"`
}

// truth takes true, and makes anything else false.
type truth bool

// UnmarshalJSON never fails.
func (t *truth) UnmarshalJSON(b []byte) error {
	*t = string(b) == "true"
	return nil
}

func (w *parentFields) parent(k ParentKind) Parent {
	return Parent{
		Kind: k, ID: int64(w.ID), VRF: w.VRF.vrf(), Status: string(w.Status), Utilized: bool(w.Utilized), Populated: bool(w.Populated),
		role: string(w.Role.Slug), tenant: string(w.Tenant.Slug), tags: w.Tags.slugs(), fields: w.Fields,
	}
}

// decodePrefix fails where there is no id or no prefix.
func decodePrefix(b []byte) (Parent, error) {
	var w struct {
		parentFields

		Prefix    text  `json:"prefix"`
		Pool      truth `json:"is_pool"`
		VLAN      vlan  `json:"vlan"`
		ScopeType text  `json:"scope_type"`
		Scope     ref   `json:"scope"`
	}
	if err := json.Unmarshal(b, &w); err != nil {
		return Parent{}, fmt.Errorf("prefix isn't an object: %w", err)
	}
	n, err := netip.ParsePrefix(string(w.Prefix))
	if err != nil || w.ID == 0 {
		return Parent{}, errors.New("prefix has no id or no prefix")
	}
	p := w.parent(ParentPrefix)
	p.Prefix, p.Pool, p.VLAN = n, bool(w.Pool), int(w.VLAN)
	if w.ScopeType == "" || w.ScopeType == "dcim.site" {
		p.site = new(string(w.Scope.Slug))
	}
	return p, nil
}

// decodeRange fails where there is no id, or no range of addresses of one family and mask.
func decodeRange(b []byte) (Parent, error) {
	var w struct {
		parentFields

		Start text `json:"start_address"`
		End   text `json:"end_address"`
	}
	if err := json.Unmarshal(b, &w); err != nil {
		return Parent{}, fmt.Errorf("range isn't an object: %w", err)
	}
	first, err := netip.ParsePrefix(string(w.Start))
	last, lerr := netip.ParsePrefix(string(w.End))
	if err != nil || lerr != nil || w.ID == 0 {
		return Parent{}, errors.New("range has no id or no addresses")
	}
	if first.Addr().BitLen() != last.Addr().BitLen() || last.Addr().Less(first.Addr()) {
		return Parent{}, errors.New("range ends before it begins")
	}
	p := w.parent(ParentRange)
	p.Prefix, p.First, p.Last = first.Masked(), first.Addr(), last.Addr()
	return p, nil
}

// ordered sorts parents into the order in which they serve.
func ordered(all []Parent) []Parent {
	slices.SortFunc(all, compareParents)
	return all
}
