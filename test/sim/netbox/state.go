package netbox

import (
	"cmp"
	"iter"
	"net/netip"
	"slices"
	"strings"
	"time"
)

// A Token lets somebody in. The zero rights are all rights.
type Token struct {
	// Name is ours, for the request log.
	Name string
	// Secret as sent after "Token " or "Bearer ".
	Secret   string
	ReadOnly bool
	Expired  bool
	// Rights, such as "view ipaddress" or "add ipaddress"; nil means a superuser.
	Rights []string
	// Sees hides records where it says no; nil means all are seen.
	Sees func(Address) bool
}

// may says whether the token has the right, such as "change ipaddress".
func (t Token) may(right string) bool { return t.Rights == nil || slices.Contains(t.Rights, right) }

func (t Token) sees(a Address) bool { return t.Sees == nil || t.Sees(a) }

// A VRF of this NetBox.
type VRF struct {
	ID            int64
	Name, RD      string
	EnforceUnique bool
	created       time.Time
}

// A Prefix of this NetBox. VRF 0 is the global table.
type Prefix struct {
	ID                   int64
	Prefix               netip.Prefix
	VRF                  int64
	Status, Description  string
	IsPool, MarkUtilized bool
	created              time.Time
}

// A Named thing is a tenant or a tag.
type Named struct {
	ID         int64
	Name, Slug string
}

// A CustomField of this NetBox. Only text fields are validated.
type CustomField struct {
	ID          int64
	Name        string
	ObjectTypes []string
	Type        string
	Unique      bool
	Required    bool
	FilterLogic string
	Label       string
	Description string
	UIEditable  string
	created     time.Time
}

func (f CustomField) forAddresses() bool { return slices.Contains(f.ObjectTypes, "ipam.ipaddress") }

// An Address of this NetBox. VRF and Tenant 0 mean none.
type Address struct {
	ID                   int64
	Address              netip.Prefix
	VRF, Tenant          int64
	Status, Role         string
	DNSName, Description string
	Comments             string
	Tags                 []int64
	CustomFields         map[string]any
	Created, LastUpdated time.Time
}

// state is the database. Numbers are never used twice.
type state struct {
	tokens    []Token
	vrfs      []VRF
	prefixes  []Prefix
	tenants   []Named
	tags      []Named
	fields    []CustomField
	addresses map[int64]Address
	next      map[string]int64
}

func newState() state {
	return state{addresses: map[int64]Address{}, next: map[string]int64{}}
}

// number gives the wanted number, or the next free one of its kind.
func (s *state) number(kind string, want int64) int64 {
	if want == 0 {
		want = s.next[kind] + 1
	}
	s.next[kind] = max(s.next[kind], want)
	return want
}

// token finds who is asking, or says why nobody is.
func (s *state) token(header string, tr traits) (t Token, why string) {
	scheme, secret, _ := strings.Cut(header, " ")
	if header == "" || (scheme != "Token" && (scheme != "Bearer" || !tr.bearer())) {
		return Token{}, "Authentication credentials were not provided."
	}
	i := slices.IndexFunc(s.tokens, func(t Token) bool { return t.Secret == secret })
	switch {
	case i >= 0 && s.tokens[i].Expired:
		return Token{}, "Token expired"
	case i >= 0:
		return s.tokens[i], ""
	case !tr.bearer():
		return Token{}, "Invalid token"
	case strings.HasPrefix(secret, "nbt_"):
		return Token{}, "Invalid v2 token"
	}
	return Token{}, "Invalid v1 token"
}

func byID[T any](all []T, id int64, of func(T) int64) (T, bool) {
	i := slices.IndexFunc(all, func(v T) bool { return of(v) == id })
	if i < 0 {
		var zero T
		return zero, false
	}
	return all[i], true
}

func (s *state) vrf(id int64) (VRF, bool) {
	return byID(s.vrfs, id, func(v VRF) int64 { return v.ID })
}

func (s *state) prefix(id int64) (Prefix, bool) {
	return byID(s.prefixes, id, func(v Prefix) int64 { return v.ID })
}

func (s *state) field(name string) (CustomField, bool) {
	i := slices.IndexFunc(s.fields, func(f CustomField) bool { return f.Name == name })
	if i < 0 {
		return CustomField{}, false
	}
	return s.fields[i], true
}

// sorted returns the addresses in NetBox's order: by host, then number.
func (s *state) sorted() []Address {
	out := make([]Address, 0, len(s.addresses))
	for _, a := range s.addresses {
		out = append(out, a)
	}
	slices.SortFunc(out, func(a, b Address) int {
		return cmp.Or(a.Address.Addr().Compare(b.Address.Addr()), cmp.Compare(a.ID, b.ID))
	})
	return out
}

// holder finds another address that has this value in a custom field.
func (s *state) holder(field string, value any, except int64) bool {
	for _, a := range s.addresses {
		if a.ID != except && a.CustomFields[field] == value {
			return true
		}
	}
	return false
}

// duplicate finds another address with this host in this table, whatever the mask.
func (s *state) duplicate(addr netip.Addr, vrf, except int64) (Address, bool) {
	for _, a := range s.addresses {
		if a.ID != except && a.VRF == vrf && a.Address.Addr() == addr {
			return a, true
		}
	}
	return Address{}, false
}

// firstFree is NetBox's first fit.
func (s *state) firstFree(p Prefix) (netip.Addr, bool) {
	for a := range s.free(p) {
		return a, true
	}
	return netip.Addr{}, false
}

// free yields what a prefix has to give: an address of any mask and status in the prefix's table counts
// as taken; the network's own addresses are skipped as NetBox skips them (303 to 312).
func (s *state) free(p Prefix) iter.Seq[netip.Addr] {
	taken := map[netip.Addr]bool{}
	for _, a := range s.addresses {
		if a.VRF == p.VRF || (p.VRF == 0 && p.Status == "container") {
			taken[a.Address.Addr()] = true
		}
	}
	all := p.IsPool || p.Prefix.Addr().BitLen()-p.Prefix.Bits() <= 1
	return func(yield func(netip.Addr) bool) {
		for a := p.Prefix.Addr(); p.Prefix.Contains(a); a = a.Next() {
			first := a == p.Prefix.Addr()
			broadcast := a.Is4() && !p.Prefix.Contains(a.Next())
			if taken[a] || (!all && (first || broadcast)) {
				continue
			}
			if !yield(a) {
				return
			}
		}
	}
}
