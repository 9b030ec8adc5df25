package bootd

import (
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp/pool"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/kubesource"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/tiebreak"
)

const (
	// noted is how often it's tried to write down who has temporary addresses, where that couldn't be done.
	noted = 5 * time.Second
	// soon is the least time between two times that it's written down, rests how many times as long as that took passes until the next.
	soon  = 10 * time.Millisecond
	rests = 10
)

// lending lends addresses to machines that nobody knows. Of several bootds one alone may lend an address, by a hash of it and of who is
// live: no two have to agree.
type lending struct {
	book *pool.Book
	path string
	// peers are the other bootds of a network that may lend its addresses; false: who does isn't known now. noInstall says that another
	// bootd does what this one leaves, stopping that this one is about to.
	peers     func(network boot.Name) ([]string, bool)
	self      string
	noInstall bool
	stopping  func() bool
	now       func() time.Time
	unwritten bool // What was to be written down last couldn't be; run's alone.

	mu    sync.Mutex
	known map[boot.Name]*known
	told  map[boot.Name]string
}

func (d *daemon) lend() *lending {
	l := &lending{
		book: pool.NewBook(pool.Most), path: filepath.Join(d.c.StateDir, "lent.json"), self: boot.Name{Namespace: d.c.Namespace, Name: d.c.Name}.String(),
		noInstall: d.c.NoInstall, stopping: d.activity.stopping.Load, now: d.c.Now, peers: d.peers(),
		known: map[boot.Name]*known{},
	}
	before, err := pool.Read(l.path)
	if err != nil {
		d.c.Logger.Warn("a machine that nobody knows may be lent the address of another one for some minutes", "error", err.Error())
	}
	l.book.Restore(before, l.now())
	return l
}

// peers says which other bootds may lend. A folder knows of none.
func (d *daemon) peers() func(boot.Name) ([]string, bool) {
	s, ok := d.source.(interface {
		Company(network boot.Name) ([]string, bool)
	})
	if !ok {
		return func(boot.Name) ([]string, bool) { return nil, true }
	}
	return s.Company
}

const (
	// live is how long a bootd counts as live after it was last heard, and ended how long after it was last known to be live all that it has
	// lent has ended: each of two bootds notices a little late what became of the other.
	live  = kubesource.LiveFor
	ended = pool.Term + live
	// looking is how often it's looked who else is live.
	looking = time.Second
)

// share says which addresses of a network this bootd may lend, or extend for who has them: of all sets of bootds that were live within the
// last term each must say so. So an address changes its bootd only once whatever was lent by the other one has ended, be it heard of or not.
// While it isn't known who is live nothing is lent, and nothing extended: another bootd that doesn't see this one any more lends what is this
// one's, once a term has passed.
func (l *lending) share(network boot.Name) func(netip.Addr) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	k := l.look(network)
	if l.noInstall || !k.sure || l.now().Before(k.quiet) {
		return nil
	}
	if n := len(k.seen); n == 0 || l.stopping() && len(k.seen[n-1].others) > 0 {
		return nil
	}
	seen := slices.Clone(k.seen)
	return func(a netip.Addr) bool {
		mac := boot.MAC(a.String())
		return !slices.ContainsFunc(seen, func(c company) bool { return tiebreak.Rank(mac, l.self, c.others) != 0 })
	}
}

// look looks who else is live, once a second. It's called with the lock.
func (l *lending) look(network boot.Name) *known {
	k := l.known[network]
	if k == nil {
		k = &known{}
		l.known[network] = k
	}
	now := l.now()
	if !k.asked.IsZero() && now.Sub(k.asked) < looking {
		return k
	}
	others, sure := l.peers(network)
	if k.asked, k.sure = now, sure; sure {
		slices.Sort(others)
		k.saw(others, now)
	}
	return k
}

// known is what's known of the bootds of a network.
type known struct {
	seen []company // those of the last term, the newest last
	// asked is when it was last looked, sure whether it was known then, at when it last was, and back when it was again after a time without.
	asked, at, back time.Time
	sure            bool
	// quiet is until when nothing is lent.
	quiet time.Time
}

// A company is a set of bootds, and when it was last known to be live.
type company struct {
	others []string
	at     time.Time
}

// saw notes who is live now, and forgets who was before the last term. Who begins beside others doesn't know what they have lent of its
// addresses, nor does who was cut off for so long that it didn't count as live: it lends nothing for a term.
func (k *known) saw(others []string, now time.Time) {
	began, gap := k.at.IsZero(), !k.at.IsZero() && now.Sub(k.at) >= live
	beside := len(others) > 0
	if gap { // Who was there meanwhile may be heard of a moment later.
		k.back, k.quiet = now, now.Add(live)
		beside = beside || slices.ContainsFunc(k.seen, func(c company) bool { return len(c.others) > 0 })
	}
	if beside && (began || !k.back.IsZero() && now.Sub(k.back) < live) {
		k.quiet = now.Add(ended)
	}
	k.at = now
	n := len(k.seen)
	if n > 0 {
		k.seen[n-1].at = now // It was live until now, also where that wasn't known for a while.
	}
	if n == 0 || !slices.Equal(k.seen[n-1].others, others) {
		k.seen = append(k.seen, company{slices.Clone(others), now})
	}
	k.seen = slices.DeleteFunc(k.seen, func(c company) bool { return now.Sub(c.at) >= ended })
}

// watch looks who else is live until ctx ends, also while no stranger asks: who has been beside another for long lends to the first one.
func (l *lending) watch(ctx context.Context, state func() *boot.State) error {
	for {
		if st := state(); st != nil {
			l.mu.Lock()
			for i := range st.Segments {
				if st.Segments[i].GivesAddresses() {
					l.look(st.Segments[i].Name)
				}
			}
			l.mu.Unlock()
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(looking):
		}
	}
}

// problem says what is odd about the ranges of a segment; "": nothing. None of it keeps the segment from being served: the ranges give way.
func problem(st *boot.State, g boot.Segment) string {
	for _, p := range g.Pools {
		for i := range st.Segments {
			other := &st.Segments[i]
			if other.Name != g.Name && slices.ContainsFunc(other.Pools, p.Overlaps) {
				return fmt.Sprintf("discovery range %s to %s overlaps one of BootNetwork %s: where both are one link, the first one by name lends; give each a range of its own", p.Start, p.End, other.Name)
			}
		}
		if n, first := st.ReservedIn(p); n > 0 {
			held := fmt.Sprintf("%d addresses that are planned for machines, such as %s: they're", n, first)
			if n == 1 {
				held = fmt.Sprintf("an address that is planned for a machine, %s: it's", first)
			}
			return fmt.Sprintf("discovery range %s to %s holds %s never lent; keep the range out of what machines are given", p.Start, p.End, held)
		}
	}
	return ""
}

// tell logs what is odd about networks, once.
func (l *lending) tell(st *boot.State, log *slog.Logger) {
	l.mu.Lock()
	defer l.mu.Unlock()
	was := l.told
	l.told = map[boot.Name]string{}
	here := interfacesHere()
	for _, g := range st.Segments {
		says := oddity(st, g, here)
		if says == "" {
			continue
		}
		l.told[g.Name] = says
		if was[g.Name] != says {
			log.Warn("a network isn't as it should be; what is right of it is served", "network", g.String(), "problem", says)
		}
	}
}

// run writes down who has what, until ctx ends, and once more when DHCP has: a lease of the last moment counts as any other. It's written as soon as
// somebody has one: a bootd that is killed would lend that address to another machine, while the first one uses it and asks nobody.
func (l *lending) run(ctx context.Context, d *daemon, served func()) error {
	for ended := false; !ended; {
		began := time.Now()
		l.write(d.c.Logger)
		ended = l.rests(ctx, max(soon, rests*time.Since(began)))
	}
	served()
	l.write(d.c.Logger)
	return nil
}

// rests waits for news, a while at least; ended: there will be none.
func (l *lending) rests(ctx context.Context, least time.Duration) (ended bool) {
	select {
	case <-ctx.Done():
		return true
	case <-time.After(least):
	}
	var again <-chan time.Time
	if l.unwritten {
		again = time.After(noted)
	}
	select {
	case <-ctx.Done():
		return true
	case <-l.book.News():
	case <-again:
	}
	return false
}

func (l *lending) write(log *slog.Logger) {
	all, news := l.book.Taken(l.now())
	if !news {
		return
	}
	err := pool.Write(l.path, all)
	if err != nil {
		l.book.Unwritten()
		if !l.unwritten { // Each machine that takes an address has it tried again.
			log.Warn("a restart would forget which temporary addresses are lent", "error", err.Error())
		}
	}
	l.unwritten = err != nil
}

func (l *lending) of(server func(netip.Addr) bool) dhcp.Lending {
	return dhcp.Lending{Book: l.book, Share: l.share, Server: lately(server, l.now)}
}

// lately remembers for a second what is a server's: who looks for an address asks of many.
func lately(server func(netip.Addr) bool, now func() time.Time) func(netip.Addr) bool {
	const most = 4096
	var mu sync.Mutex
	var from time.Time
	known := map[netip.Addr]bool{}
	return func(a netip.Addr) bool {
		mu.Lock()
		defer mu.Unlock()
		if t := now(); t.Sub(from) >= time.Second || len(known) >= most {
			clear(known)
			from = t
		}
		is, ok := known[a]
		if !ok {
			is = server(a)
			known[a] = is
		}
		return is
	}
}
