package netbox

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// partAvailable is the part of a path below a prefix or range.
const partAvailable = "available-ips"

// A supply is a prefix or range that addresses are asked of.
type supply struct {
	// rights beside those on addresses.
	rights []string
	// found is whether there is such a thing that the token sees; missing is its name where there isn't.
	found   bool
	missing string
	pool    pool
}

// availableIPs is the allocation. The order of its checks is NetBox's: a missing prefix, nonsense instead of wishes and a full prefix
// are told before the wishes themselves are looked at (367, 376, 763).
func (c *exchange) availableIPs(s supply) *response {
	may := !slices.ContainsFunc(s.rights, func(r string) bool { return !c.may(r) })
	switch {
	case c.reads() && (!may || !c.may("view ipaddress")):
		return noRight()
	case !c.reads() && c.r.Method != http.MethodPost:
		return c.notAllowed()
	case !c.reads() && (!may || !c.may("add ipaddress")):
		return noRight()
	case !s.found:
		return noMatch(s.missing)
	case c.reads():
		return c.listFree(s.pool)
	}
	wishes, single, res := c.wishes(s.pool)
	if res != nil {
		return res
	}
	addrs, ok := c.s.state.firstFree(s.pool, len(wishes))
	if !ok {
		return full()
	}
	return c.allocate(s.pool, addrs, wishes, single)
}

// wishes reads the body: an object, a list of them, or nothing (320 to 329). Masks are looked at here already (343, 345).
func (c *exchange) wishes(p pool) (out []map[string]any, single bool, res *response) {
	v, res := c.json()
	if res != nil {
		return nil, false, res
	}
	if v == nil && len(c.body) > 0 {
		return nil, false, answer(http.StatusBadRequest, []any{[]string{mayNotBeNull}})
	}
	items, isList := v.([]any)
	if v == nil {
		v = map[string]any{}
	}
	if !isList {
		items = []any{v}
	}
	wrong := make([]any, len(items))
	bad := false
	for i, item := range items {
		m, ok := item.(map[string]any)
		why := c.early(m, p)
		if !ok {
			why = map[string]any{c.s.traits.wholeRecord(): []string{notDictionary(item)}}
		}
		bad, wrong[i] = bad || why != nil, orEmpty(why)
		out = append(out, m)
	}
	if bad {
		return nil, false, answer(http.StatusBadRequest, wrong)
	}
	return out, !isList, nil
}

func orEmpty(m map[string]any) map[string]any {
	if m == nil {
		return map[string]any{}
	}
	return m
}

func notDictionary(v any) string {
	kind := map[string]string{"string": "str", "float64": "int", "bool": "bool", "[]interface {}": "list"}[fmt.Sprintf("%T", v)]
	return "Invalid data. Expected a dictionary, but got " + kind + "."
}

// early are the complaints that come before the prefix is looked at.
func (c *exchange) early(m map[string]any, p pool) map[string]any {
	if s, _ := m["description"].(string); strings.Contains(s, "\x00") && !c.s.traits.atLeast(4, 5) {
		return map[string]any{"description": []string{"Null characters are not allowed."}}
	}
	bits, ok := c.mask(m)
	switch {
	case !ok:
		return nil
	case bits > p.from.BitLen():
		return map[string]any{"prefix_length": fmt.Sprintf("Invalid prefix length (%d) for IPv6", bits)}
	case bits < p.bits:
		return map[string]any{"prefix_length": fmt.Sprintf("Prefix length must be greater than or equal to the parent mask length (%d)", p.bits)}
	}
	return nil
}

// mask is the one that was asked for, where the version listens.
func (c *exchange) mask(m map[string]any) (bits int, ok bool) {
	if !c.s.traits.prefixLengths() {
		return 0, false
	}
	switch v := m["prefix_length"].(type) {
	case float64:
		return int(v), true
	case string:
		n, err := strconv.Atoi(v)
		return n, err == nil
	}
	return 0, false
}

// allocate makes a record for each wish, or none. All are checked before the first is made: two of one list may have one marker (333).
func (c *exchange) allocate(p pool, addrs []netip.Addr, wishes []map[string]any, single bool) *response {
	var out []Address
	wrong, bad := make([]any, len(wishes)), false
	for i, m := range wishes {
		bits, ok := c.mask(m)
		if !ok {
			bits = p.bits
		}
		for _, key := range []string{"address", "vrf", "prefix_length"} { // overwritten by the parent's (341)
			delete(m, key)
		}
		a, res := c.apply(Address{Address: netip.PrefixFrom(addrs[i], bits), VRF: p.vrf, Status: "active"}, m)
		if res != nil && (single || res.status != http.StatusBadRequest) {
			return res
		}
		wrong[i] = map[string]any{}
		if res != nil {
			bad, wrong[i] = true, res.body
		}
		out = append(out, a)
	}
	if bad {
		return answer(http.StatusBadRequest, wrong)
	}
	if slices.ContainsFunc(out, func(a Address) bool { return !c.token.writes(a) }) {
		return noRight()
	}
	made := []any{}
	for _, a := range out {
		made = append(made, c.renderAddress(c.save(nil, a)))
	}
	if single {
		return answer(http.StatusCreated, made[0])
	}
	return answer(http.StatusCreated, made)
}

// listFree is GET available-ips: a plain list, 50 long unless limit says so (300 to 316).
func (c *exchange) listFree(p pool) *response {
	limit, err := strconv.Atoi(c.r.URL.Query().Get("limit"))
	if err != nil || limit <= 0 {
		limit = 50
	}
	free := []any{}
	for addr := range c.s.state.free(p) {
		if len(free) == limit {
			break
		}
		free = append(free, map[string]any{
			"family": familyOf(addr), "address": netip.PrefixFrom(addr, p.bits).String(), "vrf": c.nestedVRF(p.vrf),
		})
	}
	return answer(http.StatusOK, free)
}

// json decodes the body; nil is none, or null.
func (c *exchange) json() (any, *response) {
	if len(c.body) == 0 {
		return nil, nil //nolint:nilnil // Nothing is a body, too.
	}
	var v any
	if err := json.Unmarshal(c.body, &v); err != nil {
		return nil, detail(http.StatusBadRequest, "JSON parse error - "+err.Error())
	}
	return v, nil
}
