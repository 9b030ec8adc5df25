package specdir

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"sync"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootspec"
)

// sort puts plans into the order in which they may choose their MACs and addresses. What is served now goes first: a newcomer takes
// nobody's address. At a start the records go first, whatever the clock says that they were written by. Of what was read at once the
// one goes first that asks for no install, and in the end the same one at each start, in whatever files they stand. An entry that is served, and now
// names another address or port than it was served by, comes behind those that go on with theirs: to them it's a newcomer.
func (b served) sort(plans []*boot.Plan) []*boot.Plan {
	type ranked struct {
		*boot.Plan

		rank int
	}
	all := make([]ranked, len(plans))
	const came, moved, unrecorded = 4, 2, 1
	for i, p := range plans {
		all[i].Plan = p
		switch old := b.plans[p.EntryUID].Plan(); {
		case old == nil || old.HostUID != p.HostUID:
			all[i].rank += came
		case !claimsAs(p, old):
			all[i].rank += moved
		}
		if !b.recorded(p) {
			all[i].rank += unrecorded
		}
	}
	slices.SortFunc(all, func(x, y ranked) int {
		return cmp.Or(
			cmp.Compare(x.rank, y.rank), x.Since.Compare(y.Since), cmp.Compare(asks(x.Plan), asks(y.Plan)), cmp.Compare(x.EntryUID, y.EntryUID),
		)
	})
	for i := range all {
		plans[i] = all[i].Plan
	}
	return plans
}

// claimsAs says whether a plan wants nothing but what another one of its entry has: network, addresses and port.
func claimsAs(p, old *boot.Plan) bool {
	if p.Network.Name != old.Network.Name || (p.Port == nil) != (old.Port == nil) || p.Port != nil && *p.Port != *old.Port {
		return false
	}
	for a := range p.Network.Addresses() {
		if !old.Network.Has(a.Addr()) {
			return false
		}
	}
	return true
}

// asks is 1 for a plan that asks for an install.
func asks(p *boot.Plan) int {
	if p.Mode == boot.ModeInstall && p.InstallGeneration > 0 {
		return 1
	}
	return 0
}

// wantsInstall says whether a plan asks for an install.
func wantsInstall(p *boot.Plan) bool { return asks(p) == 1 }

// place is an address on a network.
type place struct {
	network boot.Name
	addr    netip.Addr
}

// admit takes plans in by their order. Of two that want one MAC, one port or one address the later one isn't served, and the other is, but nothing
// is installed by it: which of the two is meant isn't known. That holds for what an entry wants that isn't served for another reason, too.
func (w *world) admit(plans []*boot.Plan, entries []placed) (admitted []*boot.Plan) {
	t, of := newTaken(len(plans)), sayingWhere(entries)
	admitted = make([]*boot.Plan, 0, len(plans))
	var b breath
	for _, p := range plans {
		b.take()
		conflict, others := t.conflict(p)
		for _, other := range others {
			w.doubt(other.EntryUID)
		}
		if conflict != "" {
			w.problems["BootEntry "+p.Entry.String()] = fmt.Sprintf("%s: %s: %s", of(p.Entry), v1alpha1.ReasonConflict, conflict)
			delete(w.kept, p.EntryUID)
			delete(w.idle, p.EntryUID)
			w.rivals = append(w.rivals, p)
			continue
		}
		t.add(p)
		admitted = append(admitted, p)
	}
	for _, e := range w.claims {
		w.contest(e, t, of)
	}
	for _, p := range admitted {
		if w.blind != "" || w.earlier[p.EntryUID] {
			w.doubt(p.EntryUID)
		}
	}
	return admitted
}

// sayingWhere names an entry with the file and the line that it stands at, unless only an earlier life has read it. They're only sorted where somebody
// asks.
func sayingWhere(entries []placed) func(boot.Name) string {
	places := sync.OnceValue(func() map[boot.Name]string {
		at := make(map[boot.Name]string, len(entries))
		for _, x := range entries {
			at[x.name] = fmt.Sprintf("%s:%d: ", x.file, x.line)
		}
		return at
	})
	return func(n boot.Name) string { return places()[n] + "BootEntry " + n.String() }
}

// contest holds the machines whose MAC, port or address is wanted by an entry that isn't served.
func (w *world) contest(e *v1alpha1.BootEntry, t taken, of func(boot.Name) string) {
	spec, name := e.Spec.ForProvider, boot.Name{Namespace: e.Namespace, Name: e.Name}
	wants := func(p *boot.Plan, what string) {
		if p == nil || p.Entry == name {
			return
		}
		w.doubt(p.EntryUID)
		wants, until := "which isn't served, wants", "it's removed from one of them"
		if at := w.former[name]; at != "" {
			wants, until = "as it stood at "+at+" before that file was wrong or empty, wanted", "that file is right again, or removed"
		}
		w.problems["BootEntry "+p.Entry.String()+" "+what] = fmt.Sprintf("%s: %s: BootEntry %s, %s %s, too; nothing is installed on that machine until %s",
			of(p.Entry), v1alpha1.ReasonConflict, name, wants, what, until)
	}
	for _, text := range spec.Machine.MACs {
		if m, err := boot.ParseMAC(text); err == nil {
			wants(t.macs[m], "MAC "+string(m))
		}
	}
	port, _ := bootspec.PortOf(spec.Machine.Port)
	for _, n := range spec.Networks {
		if port != nil {
			wants(t.ports[plugged{networkOf(e, n), *port}], "port "+port.String())
		}
		for _, a := range n.Addresses {
			if addr, prob := bootspec.Address(a.Address); prob == nil {
				wants(t.addresses[place{networkOf(e, n), addr.Addr()}], "address "+a.Address)
			}
		}
	}
}
