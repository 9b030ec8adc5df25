package netbox

import (
	"cmp"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"
)

func (c *exchange) addresses() *response {
	if len(c.parts) == 2 {
		return c.addressCollection()
	}
	id, res := c.detailOf("ipaddress")
	if res != nil {
		return res
	}
	a, ok := c.s.state.addresses[id]
	if !ok || !c.token.sees(a) {
		return noMatch("IPAddress")
	}
	if res := c.precondition(a.LastUpdated); res != nil {
		return res
	}
	return c.address(a)
}

// rightTo refuses methods that there aren't, and those that the token may not use. Only a collection takes POST.
func (c *exchange) rightTo(kind string, collection bool) *response {
	right := map[string]string{
		http.MethodGet: "view", http.MethodHead: "view", http.MethodPost: "add",
		http.MethodPatch: "change", http.MethodPut: "change", http.MethodDelete: "delete",
	}[c.r.Method]
	switch {
	case right == "" || right == "add" && !collection:
		return c.notAllowed()
	case !c.may(right + " " + kind):
		return noRight()
	}
	return nil
}

func (c *exchange) addressCollection() *response {
	if res := c.rightTo("ipaddress", true); res != nil {
		return res
	}
	switch {
	case c.reads():
		return c.listAddresses()
	case c.r.Method == http.MethodPost:
		return c.createAddresses()
	case c.r.Method == http.MethodDelete:
		return c.deleteAddresses()
	}
	return c.changeAddresses()
}

func (c *exchange) createAddresses() *response {
	v, res := c.json()
	if res != nil {
		return res
	}
	if items, ok := v.([]any); ok {
		return c.createList(items)
	}
	m, res := c.object()
	if res != nil {
		return res
	}
	a, res := c.create(m)
	if res != nil {
		return res
	}
	a = c.save(nil, a)
	return c.made(c.renderAddress(a), etag(a.LastUpdated))
}

// create checks one new record.
func (c *exchange) create(m map[string]any) (Address, *response) {
	if _, ok := m["address"]; !ok {
		return Address{}, fieldError("address", "This field is required.")
	}
	a, res := c.apply(Address{Status: "active"}, m)
	if res == nil && !c.token.writes(a) {
		res = noRight()
	}
	return a, res
}

// address reads, changes or deletes one that is there and may be.
func (c *exchange) address(a Address) *response {
	if c.r.Method == http.MethodDelete {
		by := c.author()
		if m, res := c.object(); res == nil {
			by.message, _ = m["changelog_message"].(string)
		}
		c.s.dropAddress(a, by)
		return answer(http.StatusNoContent, nil)
	}
	if !c.reads() {
		m, res := c.object()
		if res != nil {
			return res
		}
		if _, ok := m["address"]; !ok && c.r.Method == http.MethodPut {
			return fieldError("address", "This field is required.")
		}
		before := a
		if a, res = c.apply(a, m); res != nil {
			return res
		}
		if !c.token.writes(a) {
			return noRight()
		}
		a = c.save(&before, a)
	}
	return c.one(http.StatusOK, c.renderAddress(a), etag(a.LastUpdated), addressBrief())
}

// precondition obeys If-Match on writes from 4.6 on: only the current weak tag, or *, passes.
func (c *exchange) precondition(updated time.Time) *response {
	tags := c.r.Header.Get("If-Match")
	if c.reads() || tags == "" || !c.s.traits.etags() {
		return nil
	}
	current := etag(updated)
	for t := range strings.SplitSeq(tags, ",") {
		if t = strings.TrimSpace(t); t == "*" || t == current {
			return nil
		}
	}
	res := detail(http.StatusPreconditionFailed, "Precondition failed.")
	res.header.Set("ETag", current)
	return res
}

// save stores a record and writes it into the change log.
func (c *exchange) save(before *Address, a Address) Address {
	a = c.store(a)
	c.s.changed(c.author(), before, &a)
	return a
}

// author is whoever sent the request.
func (c *exchange) author() author {
	return author{user: c.token.Name, request: c.requestID(), method: c.r.Method, path: c.r.URL.Path}
}

// store gives a new record its number, and every record its time: each write is one, even {}. Two
// writes never have one time, as the ETag is made of it.
func (c *exchange) store(a Address) Address {
	now := c.s.after(a.LastUpdated)
	if a.ID == 0 {
		a.ID, a.Created = c.s.state.number("address", 0), now
	}
	a.LastUpdated = now
	c.s.state.addresses[a.ID] = a
	return a
}

// after is now, in the precision that NetBox keeps, and later than another time, unless the clock was set back since then.
func (s *Server) after(other time.Time) time.Time {
	now := s.now().UTC().Truncate(time.Microsecond)
	if !now.After(other) && other.Sub(now) < time.Second {
		now = other.Add(time.Microsecond)
	}
	return now
}

func addressBrief() []string { return []string{"family", "address", "description"} }

func (c *exchange) listAddresses() *response {
	return list(c, listing[Address]{
		all: c.seen(), known: c.addressFilters(), id: func(a Address) int64 { return a.ID }, order: c.byAddress,
		render: c.renderAddress, brief: addressBrief(),
	})
}

// byAddress is the order of lists: by host, but in 4.2 as PostgreSQL compares networks: of those that share the shorter mask's bits, the
// shorter mask is first (659).
func (c *exchange) byAddress(a, b Address) int {
	x, y := a.Address, b.Address
	if bits := min(x.Bits(), y.Bits()); !c.s.traits.atLeast(4, 4) && x.Addr().BitLen() == y.Addr().BitLen() {
		shared := netip.PrefixFrom(x.Addr(), bits).Masked().Addr().Compare(netip.PrefixFrom(y.Addr(), bits).Masked().Addr())
		return cmp.Or(shared, cmp.Compare(x.Bits(), y.Bits()), byHost(a, b))
	}
	return byHost(a, b)
}

func (c *exchange) addressFilters() filters[Address] {
	fs := filters[Address]{}
	fs.vrfs(func(a Address) int64 { return a.VRF })
	fs.things("tenant", func(a Address) int64 { return a.Tenant })
	fs.tags(func(a Address) []int64 { return a.Tags })
	fs.custom(c, typeAddress, func(a Address) map[string]any { return a.CustomFields })
	fs.text("dns_name", false, func(a Address) string { return a.DNSName })
	fs.text("description", false, func(a Address) string { return a.Description })
	fs.numbers("family", func(a Address) int64 { return familyOf(a.Address.Addr()) })
	fs.numbers("mask_length", func(a Address) int64 { return int64(a.Address.Bits()) })
	fs.numbers("assigned_object_id", func(a Address) int64 { return a.Assigned.ID })
	fs.choice("status", func(a Address) string { return a.Status }, statuses()...)
	fs.choice("role", func(a Address) string { return a.Role }, roles()...)
	fs.times(keyLastUpdated, func(a Address) time.Time { return a.LastUpdated })
	fs.times("created", func(a Address) time.Time { return a.Created })
	fs.truth("assigned", func(a Address) bool { return a.Assigned.ID != 0 })
	fs.truth("assigned_to_interface", func(a Address) bool { return a.Assigned.ID != 0 })
	fs["assigned_object_type"] = anyOf(func(v string) func(Address) bool { return func(a Address) bool { return a.Assigned.Type == v } })
	if !c.s.traits.atLeast(4, 4) { // which wants a number (650)
		fs["assigned_object_type"] = func(*exchange, []string) (func(Address) bool, string) { return nil, noChoice("That choice") }
	}
	for _, key := range []string{"created_by_request", "modified_by_request"} {
		fs[key] = anyOf(func(v string) func(Address) bool { return func(a Address) bool { return c.s.state.madeBy(a.ID, v) } })
	}
	if c.s.traits.atLeast(4, 5) { // nobody owns anything here
		fs["owner"] = func(_ *exchange, values []string) (func(Address) bool, string) { return nil, noChoice(values[0]) }
	}
	fs["address"] = anyOf(func(v string) func(Address) bool {
		if !c.s.traits.canonical() && !isCanonical(v) {
			return func(Address) bool { return false }
		}
		return func(a Address) bool { return sameAddress(v, a.Address) }
	})
	fs["parent"] = anyOf(func(v string) func(Address) bool {
		of, ok := network(v)
		return func(a Address) bool { return ok && of.Contains(a.Address.Addr()) }
	})
	fs["q"] = anyOf(func(v string) func(Address) bool {
		return func(a Address) bool {
			return strings.HasPrefix(a.Address.String(), v) || strings.Contains(a.DNSName, v) || strings.Contains(a.Description, v)
		}
	})
	c.interfaceFilters(fs)
	return fs
}

// interfaceFilters are those by device, virtual machine and interface. An unknown one finds nothing (644, 646).
func (c *exchange) interfaceFilters(fs filters[Address]) {
	on := func(a Address, virtual bool) (i Interface, m Machine) {
		i, _ = c.s.state.iface(a.Assigned)
		if i.Virtual != virtual {
			return Interface{}, Machine{}
		}
		m, _ = c.s.state.machine(i.Virtual, i.Machine)
		return i, m
	}
	for prefix, virtual := range map[string]bool{"": false, "vm": true} {
		machine := map[bool]string{false: "device", true: "virtual_machine"}[virtual]
		fs.numbers(machine+"_id", func(a Address) int64 { _, m := on(a, virtual); return m.ID })
		fs.numbers(prefix+"interface_id", func(a Address) int64 { i, _ := on(a, virtual); return i.ID })
		fs[machine] = anyOf(func(v string) func(Address) bool {
			return func(a Address) bool { _, m := on(a, virtual); return m.Name == v }
		})
		fs[prefix+"interface"] = anyOf(func(v string) func(Address) bool {
			return func(a Address) bool { i, _ := on(a, virtual); return i.Name == v }
		})
	}
}

// seen are the addresses that the token may see, in no order.
func (c *exchange) seen() []Address {
	all := c.s.state.all()
	if c.token.Sees == nil {
		return all
	}
	return slices.DeleteFunc(all, func(a Address) bool { return !c.token.Sees(a) })
}
