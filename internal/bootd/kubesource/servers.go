package kubesource

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/session"
)

// liveFor is how long a bootd counts as live after its last heartbeat, which comes at least every 5 s.
const liveFor = v1alpha1.BootServerLife

// LiveFor is how long a bootd counts as live after it was last heard.
const LiveFor = liveFor

// draining is how the message of a BootServer begins whose bootd is stopping.
const draining = "Draining"

// server is another bootd.
type server struct {
	name     boot.Name
	networks []boot.Name
	synced   uint64
	// addresses that it answers from.
	addresses []string
	// draining says that it's stopping.
	draining bool
}

// heard says when a heartbeat was last seen to change, by our own clock. Clocks of several nodes are
// never compared. One that was only just found counts as live too: after a restore of etcd its
// heartbeat looks old though it's running, and its log may hold what the API lost.
type heard struct {
	beat time.Time
	at   time.Time
}

func serverOf(o Object) (server, bool) {
	b, ok := o.(*v1alpha1.BootServer)
	if !ok {
		return server{}, false
	}
	x := server{name: nameOf(b), synced: session.Revision(b.Status.SyncedRevision), addresses: b.Status.Addresses}
	x.draining = strings.HasPrefix(b.Status.Message, draining) || strings.HasPrefix(b.Status.Message, clockOf)
	for _, n := range b.Status.Networks {
		x.networks = append(x.networks, boot.Name{Namespace: n.Namespace, Name: n.Name})
	}
	return x, true
}

func (s *Source) seenServer(o Object) error {
	b, ok := o.(*v1alpha1.BootServer)
	if !ok {
		return nil
	}
	var beat time.Time
	if b.Status.LastSeen != nil {
		beat = b.Status.LastSeen.Time
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if h, known := s.servers[nameOf(b)]; !known || !h.beat.Equal(beat) {
		s.servers[nameOf(b)] = heard{beat: beat, at: s.o.Now()}
	}
	return nil
}

// Synced says whether every live bootd of the plan's network, this one included, has seen its session
// with the grant that it holds, and compared it with its log.
func (s *Source) Synced(p *boot.Plan) bool {
	behind, ok := s.behind(p)
	return ok && behind == ""
}

// Why says what keeps a machine's grant waiting, and what to do about that: another bootd, or its entry; "" where nothing is known to.
func (s *Source) Why(p *boot.Plan) string {
	if s.Held(p) {
		return "its entry can't be planned as it is, and it's served as before; the BootEntry's conditions say why"
	}
	s.mu.Lock()
	g := s.grants[p.Entry]
	s.mu.Unlock()
	behind, ok := s.behind(p)
	if !ok || behind == "" || g.grant == "" || g.used || p.Mode != boot.ModeInstall || p.InstallGeneration <= p.InstalledGeneration {
		return ""
	}
	return fmt.Sprintf("bootd %s hasn't compared its grant with its log: it's behind its watch of the API server, or can't write its state folder; nothing is installed on the networks "+
		"that it serves until it has, or is stopped (REVISION of kubectl get bootservers says how far each one is)", behind)
}

// behind names a live bootd of the plan's network that hasn't come to the grant of its session yet; "" where all have. Not ok: this one itself hasn't, or
// there is no session.
func (s *Source) behind(p *boot.Plan) (name string, ok bool) {
	t := s.t.Load()
	if t == nil || !t.listed() {
		return "", false
	}
	own, _ := t.sessions.at()
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.o.Now()
	if !s.connected(now) {
		return "", false
	}
	g, known := s.grants[p.Entry]
	if !known || s.sessions.Synced(own) < g.revision {
		return "", false
	}
	return lagging(t.servers.all(), s.self(), p.Network.Name, g.revision, func(n boot.Name) bool {
		// While the API was away nobody was heard. That's no sign of their end, and what comes back may be an older etcd.
		at := s.servers[n].at
		return now.Sub(at) < liveFor || !s.back.IsZero() && now.Sub(s.back) < liveFor
	}), true
}

// Peers names the other bootds of a network that are known to be live: their heartbeat came while the API took ours, and they aren't stopping.
func (s *Source) Peers(network boot.Name) (names []string) {
	t := s.t.Load()
	if t == nil || !t.listed() {
		return nil
	}
	all := t.servers.all()
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.o.Now()
	if !s.connected(now) {
		return nil
	}
	for _, x := range all {
		if x.name != s.self() && !x.draining && now.Sub(s.servers[x.name].at) < liveFor && slices.Contains(x.networks, network) {
			names = append(names, x.name.String())
		}
	}
	return names
}

// Company names the other bootds that may have lent addresses of a network; false: who is live isn't known now. Beside those that serve it
// these are who is stopping, and was only just found: what they lent may still be had. For a moment after a network came they're all that are
// live: their next heartbeat says whether they serve it.
func (s *Source) Company(network boot.Name) (names []string, sure bool) {
	t := s.t.Load()
	if t == nil || !t.listed() || s.State() == nil {
		return nil, false
	}
	all := t.servers.all()
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.o.Now()
	if !s.connected(now) {
		return nil, false
	}
	came, is := s.came[network]
	for _, x := range all {
		if x.name == s.self() || now.Sub(s.servers[x.name].at) >= liveFor {
			continue
		}
		if slices.Contains(x.networks, network) || is && now.Sub(came) < liveFor {
			names = append(names, x.name.String())
		}
	}
	return names, true
}

// networksCame notes when networks came that weren't there at first, and says so to others at once.
func (s *Source) networksCame(st *boot.State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.came
	s.came = map[boot.Name]time.Time{}
	for i := range st.Segments {
		n := st.Segments[i].Name
		at, known := before[n]
		if !known && before != nil {
			at = s.o.Now()
			poke(s.beat)
		}
		s.came[n] = at
	}
}

// Drain says in the next heartbeat, which comes at once, that this bootd is stopping.
func (s *Source) Drain() {
	s.draining.Store(true)
	poke(s.beat)
}

// Held says whether a machine has a grant that no boot has used, and its plan asks for no install now: while its entry can't be planned anew, as without
// its profile, it's served as before with a generation of 0. The grant stands, and a boot that has its script already waits with it. What else ends a grant
// the provider takes back, and the API server says so when it's used.
func (s *Source) Held(p *boot.Plan) bool {
	if p.Mode != boot.ModeInstall || p.InstallGeneration > 0 {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.grants[p.Entry]
	return g.grant != "" && !g.used && g.entry == p.EntryUID
}

// Stands says whether a plan that was served a moment ago still is, and isn't Held. As long as nothing is known the API says so.
func (s *Source) Stands(p *boot.Plan) bool {
	st := s.State()
	if st == nil {
		return true
	}
	return st.Serves(p) && !s.Held(p)
}

// connected says whether the API has just taken a heartbeat of this bootd, and of no other under its name.
func (s *Source) connected(now time.Time) bool {
	return !s.beaten.IsZero() && now.Sub(s.beaten) < liveFor && (s.twin.IsZero() || now.Sub(s.twin) >= liveFor)
}

// lagging names a live bootd of a network that hasn't come to a revision yet; "" where there is none.
func lagging(servers []server, self, network boot.Name, revision uint64, live func(boot.Name) bool) string {
	for _, x := range servers {
		if x.name == self || x.synced >= revision || !live(x.name) {
			continue
		}
		if slices.Contains(x.networks, network) {
			return x.name.Name
		}
	}
	return ""
}

func (s *Source) self() boot.Name { return boot.Name{Namespace: s.o.Namespace, Name: s.o.Name} }
