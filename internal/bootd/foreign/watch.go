// Package foreign notices the DHCP servers that aren't ours on the segments that a bootd serves, and says whether ours may begin there.
//
// A server is noticed by what it broadcasts (Listener), by the requests of machines that take its offer, and by an offer to a question
// of our own (probe). None of this changes what a machine of ours has: a segment that was answered once is never given up.
package foreign

import (
	"cmp"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

const (
	// fresh is how long a server counts as there since it was last heard, for whether ours may begin; shown how long it's reported.
	fresh = 2 * time.Minute
	shown = 30 * time.Minute
	// listening is how long a segment is listened to before it begins: servers that check an address before they offer it take a second (ISC's), two
	// (udhcpd) or three (dnsmasq), and then their offer has yet to come.
	listening = 5 * time.Second
	// most servers are remembered of one segment: who forges them gains nothing by more.
	most = 16
	// steady is how much newer a sight must be than the one that is known to be worth a note.
	steady = time.Second
)

// A Sight is a DHCP server that isn't ours.
type Sight struct {
	// Network that it answers on, and Interface that it was heard on.
	Network   boot.Name
	Interface string
	// Server is its address, by option 54.
	Server netip.Addr
	// MAC that it was heard from; "" where only a machine was heard that takes its offer.
	MAC string
	// Since and Last are when it was heard first and last.
	Since, Last time.Time
}

// A Place is where something was heard.
type Place struct {
	Interface string
	// Addresses of the interface.
	Addresses []netip.Addr
}

// Options of a Watch. All are required.
type Options struct {
	// State gives what is served; nil: nothing yet.
	State func() *boot.State
	// Ours says whether a server is one of ours, or meant to be there.
	Ours func(netip.Addr) bool
	// Path of the file that says which segments have begun.
	Path string
	// Served are the segments that an earlier life answered; they count where there's no such file yet.
	Served []boot.Segment
	Now    func() time.Time
	Logger *slog.Logger
}

// A Watch knows the foreign servers of all segments.
type Watch struct {
	o Options

	mu     sync.RWMutex
	sights map[key]*Sight
	begun  map[boot.Name]bool
	// until is when a segment has been listened to.
	until map[boot.Name]time.Time
	dirty bool
	// unwritten says that it couldn't be written down the last time.
	unwritten bool
}

type key struct {
	network boot.Name
	server  netip.Addr
}

// Open reads which segments have begun.
func Open(o Options) *Watch {
	w := &Watch{o: o, sights: map[key]*Sight{}, until: map[boot.Name]time.Time{}}
	var known bool
	w.begun, known = readMarks(o.Path, o.Logger)
	if known {
		return w
	}
	w.dirty = true // Also that nothing has begun: a restart would take what is served by then for begun.
	for _, g := range o.Served {
		if g.Mode == boot.SegmentAuthoritative {
			w.begun[g.Name] = true
		}
	}
	return w
}

// Heard takes note of a server that answers somewhere; mac is "" where it wasn't heard itself.
func (w *Watch) Heard(server netip.Addr, mac string, at Place) {
	st := w.o.State()
	if st == nil || !server.Is4() {
		return
	}
	now := w.o.Now()
	for _, g := range st.Segments {
		if !watched(g) || !at.in(g) || w.known(key{g.Name, server}, mac, now) {
			continue
		}
		if w.o.Ours(server) {
			return
		}
		w.note(g, Sight{Network: g.Name, Interface: at.Interface, Server: server, MAC: mac, Since: now, Last: now})
	}
}

// in says whether a segment is served at a place, as DHCP decides that.
func (p Place) in(g boot.Segment) bool {
	if len(g.Interfaces) > 0 {
		return slices.Contains(g.Interfaces, p.Interface)
	}
	return slices.ContainsFunc(p.Addresses, g.Contains)
}

// known says that a sight is no news: a flood of them costs little.
func (w *Watch) known(k key, mac string, now time.Time) bool {
	w.mu.RLock()
	defer w.mu.RUnlock()
	s, ok := w.sights[k]
	return ok && now.Sub(s.Last).Abs() < steady && (mac == "" || s.MAC == mac)
}

func (w *Watch) note(g boot.Segment, s Sight) {
	w.mu.Lock()
	k := key{s.Network, s.Server}
	old, ok := w.sights[k]
	news := !ok && w.room(s) // What there's no room for isn't told of either: anybody may make up servers.
	switch {
	case ok:
		old.Last, old.Interface, old.MAC = s.Last, s.Interface, cmp.Or(s.MAC, old.MAC)
	case news:
		w.sights[k] = &s
	}
	begun := w.begun[s.Network]
	w.mu.Unlock()
	if news {
		w.say(g, s, begun)
	}
}

// room makes room for a sight among those of its segment: the one that was heard longest ago goes, if it's old. It's called with the lock.
func (w *Watch) room(s Sight) bool {
	n := 0
	var oldest *Sight
	for k, x := range w.sights {
		if k.network != s.Network {
			continue
		}
		n++
		if oldest == nil || x.Last.Before(oldest.Last) {
			oldest = x
		}
	}
	if n < most {
		return true
	}
	if s.Last.Sub(oldest.Last) < fresh {
		return false
	}
	delete(w.sights, key{oldest.Network, oldest.Server})
	return true
}

func (w *Watch) say(g boot.Segment, s Sight, begun bool) {
	args := []any{"network", s.Network.String(), "server", s.Server.String(), "mac", s.MAC, "interface", s.Interface}
	switch {
	case g.Mode == boot.SegmentProxy:
		w.o.Logger.Info("a DHCP server answers on a network of mode Proxy", args...)
	case g.RefuseForeign && !begun:
		w.o.Logger.Error("ForeignServer: a network doesn't begin, since another DHCP server answers on it; stop that, or set dhcp.foreignServer to Warn", args...)
	default:
		w.o.Logger.Warn("ForeignServer: another DHCP server answers on a network of ours; stop it, or set dhcp.mode to Proxy if it's to give the addresses", args...)
	}
}

// Of gives the servers that were heard on a segment in the last half hour, by address. One of ours that wasn't known then isn't among them.
func (w *Watch) Of(network boot.Name) []Sight {
	now := w.o.Now()
	w.mu.RLock()
	defer w.mu.RUnlock()
	var all []Sight
	for k, s := range w.sights {
		if k.network == network && now.Sub(s.Last) < shown && !w.o.Ours(s.Server) {
			all = append(all, *s)
		}
	}
	slices.SortFunc(all, func(a, b Sight) int { return a.Server.Compare(b.Server) })
	return all
}

// placeOf reads an interface.
func placeOf(i *net.Interface) Place {
	p := Place{Interface: i.Name}
	as, err := i.Addrs()
	if err != nil {
		return p
	}
	for _, a := range as {
		if x, err := netip.ParsePrefix(a.String()); err == nil && x.Addr().Is4() {
			p.Addresses = append(p.Addresses, x.Addr())
		}
	}
	return p
}
