package netbox

import (
	"cmp"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"
)

func familyOf(a netip.Addr) int64 {
	if a.Is4() {
		return 4
	}
	return 6
}

func (c *exchange) prefixes() *response {
	if len(c.parts) == 2 {
		if res := c.reading("prefix"); res != nil {
			return res
		}
		return c.listPrefixes()
	}
	id, res := c.number()
	if res != nil {
		return res
	}
	p, ok := c.s.state.prefix(id)
	ok = ok && c.token.seesPrefix(p)
	if len(c.parts) == 4 && c.parts[3] == partAvailable {
		s := supply{rights: []string{"view prefix"}, found: ok, missing: "Prefix"}
		if ok {
			s.pool = c.s.state.poolOf(p, c.s.traits)
		}
		return c.availableIPs(s)
	}
	if len(c.parts) != 3 {
		return htmlPage(http.StatusNotFound)
	}
	if res := c.reading("prefix"); res != nil {
		return res
	}
	if !ok {
		return noMatch("Prefix")
	}
	return c.one(http.StatusOK, c.renderPrefix(p), etag(p.updated), prefixBrief())
}

func prefixBrief() []string { return []string{"family", "prefix", "description", "_depth"} }

// reading refuses what isn't a GET, or isn't allowed.
func (c *exchange) reading(kind string) *response {
	switch {
	case !c.reads():
		return c.notAllowed()
	case !c.may("view " + kind):
		return noRight()
	}
	return nil
}

// listPrefixes is in NetBox's order: the global table first, then by VRF's number, then by network.
func (c *exchange) listPrefixes() *response {
	all := slices.DeleteFunc(slices.Clone(c.s.state.prefixes), func(p Prefix) bool { return !c.token.seesPrefix(p) })
	return list(c, listing[Prefix]{
		all: all, known: c.prefixFilters(), id: func(p Prefix) int64 { return p.ID }, render: c.renderPrefix, brief: prefixBrief(),
		order: func(a, b Prefix) int {
			return cmp.Or(cmp.Compare(a.VRF, b.VRF), a.Prefix.Addr().Compare(b.Prefix.Addr()), cmp.Compare(a.Prefix.Bits(), b.Prefix.Bits()))
		},
	})
}

func (c *exchange) prefixFilters() filters[Prefix] {
	fs := filters[Prefix]{}
	fs.vrfs(func(p Prefix) int64 { return p.VRF })
	fs.things("role", func(p Prefix) int64 { return p.Role })
	fs.things("tenant", func(p Prefix) int64 { return p.Tenant })
	fs.things("site", func(p Prefix) int64 { return p.Site })
	fs.tags(func(p Prefix) []int64 { return p.Tags })
	fs.custom(c, typePrefix, func(p Prefix) map[string]any { return p.CustomFields })
	fs.text("description", false, func(p Prefix) string { return p.Description })
	fs.numbers("family", func(p Prefix) int64 { return familyOf(p.Prefix.Addr()) })
	fs.numbers("mask_length", func(p Prefix) int64 { return int64(p.Prefix.Bits()) })
	fs.numbers("depth", func(p Prefix) int64 { return c.depth(p) })
	fs.numbers("children", func(p Prefix) int64 { return c.children(p) })
	fs.numbers("scope_id", func(p Prefix) int64 { return p.Site })
	fs.choice("status", func(p Prefix) string { return p.Status }, "container", "active", "reserved", "deprecated")
	fs.truth("is_pool", func(p Prefix) bool { return p.IsPool })
	fs.truth("mark_utilized", func(p Prefix) bool { return p.MarkUtilized })
	fs.times(keyLastUpdated, func(p Prefix) time.Time { return p.updated })
	fs["scope_type"] = anyOf(func(v string) func(Prefix) bool {
		return func(p Prefix) bool { return v == "dcim.site" && p.Site != 0 }
	})
	fs["prefix"] = anyOf(func(v string) func(Prefix) bool { return func(p Prefix) bool { return p.Prefix.String() == v } })
	fs["q"] = anyOf(func(v string) func(Prefix) bool {
		return func(p Prefix) bool {
			return strings.HasPrefix(p.Prefix.String(), v) || strings.Contains(p.Description, v)
		}
	})
	for key, holds := range map[string]func(p, of netip.Prefix) bool{
		"contains":       covers,
		"within":         func(p, of netip.Prefix) bool { return covers(of, p) && of.Bits() < p.Bits() },
		"within_include": func(p, of netip.Prefix) bool { return covers(of, p) },
	} {
		fs[key] = anyOf(func(v string) func(Prefix) bool {
			of, ok := network(v)
			return func(p Prefix) bool { return ok && holds(p.Prefix, of) }
		})
	}
	return fs
}

// network reads a CIDR or an address.
func network(v string) (netip.Prefix, bool) {
	if p, err := netip.ParsePrefix(v); err == nil {
		return p.Masked(), true
	}
	a, err := netip.ParseAddr(v)
	if err != nil {
		return netip.Prefix{}, false
	}
	return netip.PrefixFrom(a, a.BitLen()), true
}

func covers(outer, inner netip.Prefix) bool {
	return outer.Bits() <= inner.Bits() && outer.Contains(inner.Addr())
}

// depth is how many prefixes of its table a prefix is in.
func (c *exchange) depth(p Prefix) (n int64) {
	for _, o := range c.s.state.prefixes {
		if o.VRF == p.VRF && o.Prefix.Bits() < p.Prefix.Bits() && covers(o.Prefix, p.Prefix) {
			n++
		}
	}
	return n
}

// children is how many prefixes of its table are in a prefix.
func (c *exchange) children(p Prefix) (n int64) {
	for _, o := range c.s.state.prefixes {
		if o.VRF == p.VRF && o.Prefix.Bits() > p.Prefix.Bits() && covers(p.Prefix, o.Prefix) {
			n++
		}
	}
	return n
}

func (c *exchange) ranges() *response {
	if len(c.parts) == 2 {
		if res := c.reading("iprange"); res != nil {
			return res
		}
		return c.listRanges()
	}
	id, res := c.number()
	if res != nil {
		return res
	}
	r, ok := byID(c.s.state.ranges, id, func(r Range) int64 { return r.ID })
	if len(c.parts) == 4 && c.parts[3] == partAvailable {
		return c.availableIPs(supply{rights: []string{"view iprange"}, found: ok, missing: "IPRange", pool: poolOfRange(r)})
	}
	if len(c.parts) != 3 {
		return htmlPage(http.StatusNotFound)
	}
	if res := c.reading("iprange"); res != nil {
		return res
	}
	if !ok {
		return noMatch("IPRange")
	}
	return c.one(http.StatusOK, c.renderRange(r), etag(r.updated), rangeBrief())
}

func rangeBrief() []string { return []string{"family", "start_address", "end_address", "description"} }

func (c *exchange) listRanges() *response {
	fs := filters[Range]{}
	fs.vrfs(func(r Range) int64 { return r.VRF })
	fs.things("role", func(r Range) int64 { return r.Role })
	fs.things("tenant", func(r Range) int64 { return r.Tenant })
	fs.tags(func(r Range) []int64 { return r.Tags })
	fs.custom(c, typeRange, func(r Range) map[string]any { return r.CustomFields })
	fs.text("description", false, func(r Range) string { return r.Description })
	fs.numbers("family", func(r Range) int64 { return familyOf(r.Start.Addr()) })
	fs.choice("status", func(r Range) string { return r.Status }, "active", "reserved", "deprecated")
	fs.truth("mark_utilized", func(r Range) bool { return r.MarkUtilized })
	fs["start_address"] = anyOf(func(v string) func(Range) bool { return func(r Range) bool { return sameAddress(v, r.Start) } })
	fs["end_address"] = anyOf(func(v string) func(Range) bool { return func(r Range) bool { return sameAddress(v, r.End) } })
	fs["parent"] = anyOf(func(v string) func(Range) bool {
		of, ok := network(v)
		return func(r Range) bool { return ok && of.Contains(r.Start.Addr()) && of.Contains(r.End.Addr()) }
	})
	// PostgreSQL compares masks, too: only an address with the range's own is ever between its ends (434).
	fs["contains"] = anyOf(func(v string) func(Range) bool {
		of, err := netip.ParsePrefix(v)
		return func(r Range) bool { return err == nil && of.Bits() == r.Start.Bits() && r.holds(of.Addr()) }
	})
	if c.s.traits.populated() {
		fs.truth("mark_populated", func(r Range) bool { return r.MarkPopulated })
	}
	return list(c, listing[Range]{
		all: c.s.state.ranges, known: fs, id: func(r Range) int64 { return r.ID }, render: c.renderRange, brief: rangeBrief(),
		order: func(a, b Range) int { return cmp.Or(cmp.Compare(a.VRF, b.VRF), a.Start.Addr().Compare(b.Start.Addr())) },
	})
}

// sameAddress compares as NetBox's filters do: without a mask any mask, with one exactly that, nonsense is nothing (600 to 605).
func sameAddress(v string, a netip.Prefix) bool {
	addr, err := netip.ParseAddr(v)
	p, perr := netip.ParsePrefix(v)
	return (err == nil && addr == a.Addr()) || (perr == nil && p == a)
}

func (c *exchange) vrfs() *response {
	if res := c.reading("vrf"); res != nil {
		return res
	}
	if len(c.parts) == 3 {
		id, res := c.number()
		if res != nil {
			return res
		}
		v, ok := c.s.state.vrf(id)
		if !ok {
			return noMatch("VRF")
		}
		return c.one(http.StatusOK, c.renderVRF(v), etag(v.created), []string{"name", "rd", "description"})
	}
	fs := filters[VRF]{}
	fs.text("name", false, func(v VRF) string { return v.Name })
	fs.text("rd", false, func(v VRF) string { return v.RD })
	fs.truth("enforce_unique", func(v VRF) bool { return v.EnforceUnique })
	return list(c, listing[VRF]{
		all: c.s.state.vrfs, known: fs, id: func(v VRF) int64 { return v.ID }, render: c.renderVRF, brief: []string{"name", "rd", "description"},
		order: func(a, b VRF) int { return cmp.Or(cmp.Compare(a.Name, b.Name), nullsLast(a.RD, b.RD)) },
	})
}

// nullsLast is PostgreSQL's order.
func nullsLast(a, b string) int {
	if (a == "") != (b == "") {
		return cmp.Compare(strconv.FormatBool(a == ""), strconv.FormatBool(b == ""))
	}
	return cmp.Compare(a, b)
}
