package netbox

import (
	"maps"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
)

// availableIPs is the allocation. The order of its checks is NetBox's: a missing prefix and a full one
// are told before the body is looked at (367, 376, 763).
func (c *exchange) availableIPs(id int64) *response {
	p, ok := c.s.state.prefix(id)
	switch {
	case c.reads():
		return c.listFree(p, ok)
	case c.r.Method != http.MethodPost:
		return c.notAllowed()
	case !c.may("add ipaddress") || !c.may("view prefix"):
		return noRight()
	case !ok:
		return noMatch("Prefix")
	}
	m, res := c.object()
	if res != nil {
		return res
	}
	addr, free := c.s.state.firstFree(p)
	if !free || (p.MarkUtilized && !c.s.traits.atLeast(4, 4)) {
		return full()
	}
	a := Address{Address: netip.PrefixFrom(addr, p.Prefix.Bits()), VRF: p.VRF, Status: "active"}
	delete(m, "address")
	delete(m, "vrf")
	a, res = c.apply(a, m)
	if res != nil {
		return res
	}
	return answer(http.StatusCreated, c.renderAddress(c.store(a)))
}

// listFree is GET available-ips: a plain list, 50 long unless limit says so (300 to 316).
func (c *exchange) listFree(p Prefix, ok bool) *response {
	if !c.may("view prefix") || !c.may("view ipaddress") {
		return noRight()
	}
	if !ok {
		return noMatch("Prefix")
	}
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
			"family": map[bool]int{true: 4, false: 6}[addr.Is4()], "address": netip.PrefixFrom(addr, p.Prefix.Bits()).String(), "vrf": c.nestedVRF(p.VRF),
		})
	}
	return answer(http.StatusOK, free)
}

func (c *exchange) addresses() *response {
	if len(c.parts) == 2 {
		return c.addressCollection()
	}
	if len(c.parts) != 3 {
		return htmlPage(http.StatusNotFound)
	}
	right := map[string]string{http.MethodPatch: "change ipaddress", http.MethodDelete: "delete ipaddress"}[c.r.Method]
	if c.reads() {
		right = "view ipaddress"
	}
	if right == "" {
		return c.notAllowed()
	}
	id, res := c.number()
	if res != nil {
		return res
	}
	if !c.may(right) {
		return noRight()
	}
	a, ok := c.s.state.addresses[id]
	if !ok || !c.token.sees(a) {
		return noMatch("IPAddress")
	}
	if res := c.precondition(a); res != nil {
		return res
	}
	return c.address(a)
}

func (c *exchange) addressCollection() *response {
	switch {
	case c.reads() && !c.may("view ipaddress"), c.r.Method == http.MethodPost && !c.may("add ipaddress"):
		return noRight()
	case c.reads():
		return c.listAddresses()
	case c.r.Method != http.MethodPost:
		return c.notAllowed()
	}
	m, res := c.object()
	if res != nil {
		return res
	}
	if _, ok := m["address"]; !ok {
		return fieldError("address", "This field is required.")
	}
	a, res := c.apply(Address{Status: "active"}, m)
	if res != nil {
		return res
	}
	a = c.store(a)
	return c.made(c.renderAddress(a), etag(a.LastUpdated))
}

// address reads, changes or deletes one that is there and may be.
func (c *exchange) address(a Address) *response {
	switch c.r.Method {
	case http.MethodDelete:
		delete(c.s.state.addresses, a.ID)
		return answer(http.StatusNoContent, nil)
	case http.MethodPatch:
		m, res := c.object()
		if res != nil {
			return res
		}
		a, res = c.apply(a, m)
		if res != nil {
			return res
		}
		a = c.store(a)
	}
	return c.one(http.StatusOK, c.renderAddress(a), etag(a.LastUpdated))
}

// precondition obeys If-Match on writes from 4.6 on: only the current weak tag, or *, passes.
func (c *exchange) precondition(a Address) *response {
	tags := c.r.Header.Get("If-Match")
	if c.reads() || tags == "" || !c.s.traits.etags() {
		return nil
	}
	current := etag(a.LastUpdated)
	for t := range strings.SplitSeq(tags, ",") {
		if t = strings.TrimSpace(t); t == "*" || t == current {
			return nil
		}
	}
	res := detail(http.StatusPreconditionFailed, "Precondition failed.")
	res.header.Set("ETag", current)
	return res
}

// store gives a new record its number, and every record its time: each write is one, even {}. Two
// writes never have one time, as the ETag is made of it.
func (c *exchange) store(a Address) Address {
	now := c.s.now().UTC().Truncate(1000)
	if !now.After(a.LastUpdated) {
		now = a.LastUpdated.Add(1000)
	}
	if a.ID == 0 {
		a.ID, a.Created = c.s.state.number("address", 0), now
	}
	a.LastUpdated = now
	c.s.state.addresses[a.ID] = a
	return a
}

// apply puts the body's fields on a, or says what is wrong with them, all at once per stage: fields,
// then the record as a whole.
func (c *exchange) apply(a Address, m map[string]any) (Address, *response) {
	a.CustomFields = maps.Clone(a.CustomFields)
	if a.CustomFields == nil {
		a.CustomFields = map[string]any{}
	}
	wrong := map[string]any{}
	for key, v := range m {
		if why := c.set(&a, key, v); why != "" {
			wrong[key] = []string{why}
		}
	}
	if wrong["address"] != nil && !c.s.traits.atLeast(4, 6) { // a bug of theirs (509)
		return a, serverError(c.s.traits, "KeyError", "'data'")
	}
	if len(wrong) > 0 {
		return a, answer(http.StatusBadRequest, wrong)
	}
	if res := c.setFields(&a, m[keyCustomFields]); res != nil {
		return a, res
	}
	return a, c.unique(a, m)
}
