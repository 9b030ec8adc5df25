package netbox

import (
	"net/netip"
	"slices"
	"strings"
	"time"
)

// A Token lets somebody in. The zero rights are all rights.
type Token struct {
	// Name is that of the user, for the request log and the change log.
	Name string
	// Secret as sent after "Token " or "Bearer ".
	Secret   string
	ReadOnly bool
	Expired  bool
	Disabled bool
	// Refused is the sentence that this token is refused with, such as "User inactive"; "" is none.
	Refused string
	// Rights, such as "view ipaddress" or "add ipaddress"; nil means a superuser.
	Rights []string
	// Sees hides records where it says no; nil means all are seen.
	Sees func(Address) bool
	// SeesPrefix hides prefixes where it says no; nil means all are seen.
	SeesPrefix func(Prefix) bool
	// Writes says which records may be the result of a write; nil means all.
	Writes func(Address) bool
}

// may says whether the token has the right, such as "change ipaddress".
func (t Token) may(right string) bool { return t.Rights == nil || slices.Contains(t.Rights, right) }

func (t Token) sees(a Address) bool { return t.Sees == nil || t.Sees(a) }

func (t Token) seesPrefix(p Prefix) bool { return t.SeesPrefix == nil || t.SeesPrefix(p) }

func (t Token) writes(a Address) bool { return t.Writes == nil || t.Writes(a) }

// A VRF of this NetBox.
type VRF struct {
	ID            int64
	Name, RD      string
	EnforceUnique bool
	created       time.Time
}

// A Prefix of this NetBox. VRF 0 is the global table; 0 is none for site, role and tenant, too.
type Prefix struct {
	ID                 int64
	Prefix             netip.Prefix
	VRF                int64
	Site, Role, Tenant int64
	// VLAN is the number of one, not its VID; 0 is none.
	VLAN                 int64
	Status, Description  string
	IsPool, MarkUtilized bool
	Tags                 []int64
	CustomFields         map[string]any
	created, updated     time.Time
}

// A Range is an IP range of this NetBox. Both ends have the range's mask.
type Range struct {
	ID                          int64
	Start, End                  netip.Prefix
	VRF, Role, Tenant           int64
	Status, Description         string
	MarkPopulated, MarkUtilized bool
	Tags                        []int64
	CustomFields                map[string]any
	created, updated            time.Time
}

func (r Range) holds(a netip.Addr) bool {
	return a.BitLen() == r.Start.Addr().BitLen() && !a.Less(r.Start.Addr()) && !r.End.Addr().Less(a)
}

// A Named thing is a tenant, a tag, a site, a role, a device type and so on.
type Named struct {
	ID         int64
	Name, Slug string
	// Color of a tag; "" is NetBox's grey.
	Color string
	// ObjectTypes that a tag may be on, such as "ipam.ipaddress"; none means all.
	ObjectTypes []string
	created     time.Time
}

// A ChoiceSet is what a custom field of the type select chooses from.
type ChoiceSet struct {
	ID      int64
	Name    string
	Choices []Choice
}

// A Choice of a choice set.
type Choice struct{ Value, Label string }

// An Object is what an address or a MAC address is assigned to. The zero one is none.
type Object struct {
	// Type is "dcim.interface" or "virtualization.vminterface".
	Type string
	ID   int64
}

// An Address of this NetBox. VRF and Tenant 0 mean none.
type Address struct {
	ID                   int64
	Address              netip.Prefix
	VRF, Tenant          int64
	Status, Role         string
	Assigned             Object
	DNSName, Description string
	Comments             string
	Tags                 []int64
	CustomFields         map[string]any
	Created, LastUpdated time.Time
}

// state is the database. Numbers are never used twice, unless a backup is restored.
type state struct {
	tokens     []Token
	vrfs       []VRF
	prefixes   []Prefix
	ranges     []Range
	named      map[string][]Named // by kind: "tenant", "tag", "site", "role"
	choices    []ChoiceSet
	fields     []CustomField
	addresses  map[int64]Address
	machines   []Machine
	interfaces []Interface
	macs       []MAC
	vlans      []VLAN
	changes    []change
	latest     change
	hooks      []Webhook
	next       map[string]int64
}

func newState() state {
	return state{addresses: map[int64]Address{}, named: map[string][]Named{}, next: map[string]int64{}}
}

// number gives the wanted number, or the next free one of its kind.
func (s *state) number(kind string, want int64) int64 {
	if want == 0 {
		want = s.next[kind] + 1
	}
	for _, taken := s.addresses[want]; taken && kind == "address"; _, taken = s.addresses[want] {
		want++
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
	if why := malformed(secret, tr); why != "" {
		return Token{}, why
	}
	i := slices.IndexFunc(s.tokens, func(t Token) bool { return t.Secret == secret })
	switch {
	case i >= 0 && s.tokens[i].Refused != "":
		return Token{}, s.tokens[i].Refused
	case i >= 0 && s.tokens[i].Disabled:
		return Token{}, "Token disabled"
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

// malformed says what is wrong with the form of a secret (014, 015).
func malformed(secret string, tr traits) string {
	switch {
	case strings.Contains(secret, " ") && tr.bearer():
		return `Invalid authorization header: Must be in the form "Bearer <key>.<token>" or "Token <token>"`
	case strings.Contains(secret, " "):
		return "Invalid token header. Token string should not contain spaces."
	case tr.bearer() && strings.HasPrefix(secret, "nbt_") && !strings.Contains(secret, "."):
		return "Invalid authorization header: Could not parse key from v2 token. Did you mean to use 'Token' instead of 'Bearer'?"
	}
	return ""
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

func (s *state) thing(kind string, id int64) (Named, bool) {
	return byID(s.named[kind], id, func(n Named) int64 { return n.ID })
}
