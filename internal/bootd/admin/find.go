package admin

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// near is by how many of its twelve digits a MAC may differ from one that is likely meant.
const near = 3

// find gives the machine that is asked about, and the NIC of it; an error says in one sentence why there's none, and who may be meant.
func (h *handler) find(st *boot.State, q Query) (*boot.Plan, boot.MAC, error) {
	if st == nil {
		return nil, "", errors.New("this bootd doesn't know any machine yet: it hasn't read its source; see its log")
	}
	p, mac, err := h.first(st, q)
	if err != nil || mac != "" {
		return p, mac, err
	}
	if macs := macsOf(h.o.View(), p); len(macs) > 0 {
		return p, macs[0], nil
	}
	return p, anyMachine, nil
}

func (h *handler) first(st *boot.State, q Query) (*boot.Plan, boot.MAC, error) {
	switch {
	case q.MAC != "":
		mac, err := boot.ParseMAC(q.MAC)
		if err != nil {
			return nil, "", err //nolint:wrapcheck // It says what is wrong.
		}
		if p, ok := st.ByMAC(mac); ok {
			return p, mac, nil
		}
		if p, ok := byHolder(h.o.View(), mac); ok {
			return p, mac, nil
		}
		return nil, "", h.unknown(st, mac)
	case q.IP != "":
		p, err := byAddress(st, q.IP)
		return p, "", err
	case q.Entry != "":
		p, err := byEntry(st, q.Entry)
		return p, "", err
	}
	return nil, "", errors.New("name a machine: by its MAC, its address or its BootEntry")
}

// unknown says that nobody has a MAC, and whose is most like it.
func (h *handler) unknown(st *boot.State, mac boot.MAC) error {
	says := fmt.Sprintf("no machine has MAC %s: no BootEntry that is served here names it (the log has what is wrong with others), and it gets %s", mac, h.lent(st, mac))
	if x, ok := h.heard(mac); ok {
		says += fmt.Sprintf("; it was heard %s ago (%s)", h.o.Now().Sub(*x.Asked).Round(time.Second), x.As)
	}
	best, by := near+1, ""
	for p := range st.All() {
		for _, m := range p.MACs {
			d, like := differ(m, mac), fmt.Sprintf("%s of BootEntry %s", m, p.Entry)
			if d < best || d == best && d <= near && like < by {
				best, by = d, like
			}
		}
	}
	if by != "" {
		says += "; the nearest is " + by
	}
	return errors.New(says)
}

// differ counts in how many digits two MACs differ.
func differ(a, b boot.MAC) (n int) {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			n++
		}
	}
	return n
}

func byAddress(st *boot.State, ip string) (*boot.Plan, error) {
	a, err := netip.ParseAddr(ip)
	if err != nil {
		return nil, fmt.Errorf("%q isn't an IP address", ip)
	}
	var found []*boot.Plan
	for p := range st.All() {
		if p.Network.Has(a) {
			found = append(found, p)
		}
	}
	switch len(found) {
	case 0:
		return nil, fmt.Errorf("no machine that is served here has address %s", a)
	case 1:
		return found[0], nil
	}
	return nil, fmt.Errorf("address %s is that of several machines, on networks that don't know each other: name one by its BootEntry: %s", a, names(found))
}

// byEntry finds an entry by namespace/name, or by its name alone where no other has it.
func byEntry(st *boot.State, entry string) (*boot.Plan, error) {
	var found, like []*boot.Plan
	_, name, full := strings.Cut(entry, "/")
	if !full {
		name = entry
	}
	for p := range st.All() {
		switch {
		case p.Entry.String() == entry || !full && p.Entry.Name == entry:
			found = append(found, p)
		case name != "" && (strings.Contains(p.Entry.Name, name) || strings.Contains(name, p.Entry.Name)):
			like = append(like, p)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return nil, fmt.Errorf("several BootEntries are called %q: %s", entry, names(found))
	case len(like) > 0:
		return nil, fmt.Errorf("no BootEntry %q is served here; there is %s", entry, names(like))
	}
	return nil, fmt.Errorf("no BootEntry %q is served here: it isn't there, has no plan (its conditions say why, without a cluster the log), or another entry has its MAC or address", entry)
}

// names of a few entries.
func names(ps []*boot.Plan) string {
	const some = 5
	var all []string
	for _, p := range ps {
		all = append(all, p.Entry.String())
	}
	slices.Sort(all)
	if more := len(all) - some; more > 0 {
		all = append(all[:some], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(all, ", ")
}

// lent says what a machine that nobody knows gets.
func (h *handler) lent(st *boot.State, mac boot.MAC) string {
	v, some := h.o.View(), false
	for i := range st.Segments {
		g := &st.Segments[i]
		some = some || len(g.Pools) > 0
		if v.Lending.Book == nil || len(g.Pools) == 0 {
			continue
		}
		a, _ := v.Lending.Book.Last(g.Name, mac)
		if l, counts := v.Lending.Book.Holder(g.Name, a, v.Now); counts && l.MAC == mac && l.Taken() {
			return fmt.Sprintf("nothing to boot; BootNetwork %s lends it %s until %s", g.Name, a, when(l.Until))
		}
	}
	if some {
		return "nothing to boot; where its BootNetwork has discoveryRanges it's lent an address, else it gets silence"
	}
	return silence
}
