package specdir

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// maxElsewhere is how many servers are remembered of one machine: one is enough to install nothing, and anybody on the segment can forge more.
const maxElsewhere = 4

// An elsewhereLine is the memory of another server whose offer a machine took, or of a person's word that ends it.
type elsewhereLine struct {
	Entry    string     `json:"entry"`
	EntryUID string     `json:"entryUID"`
	HostUID  string     `json:"hostUID"`
	MACs     []boot.MAC `json:"macs"`
	// Server is its address; ::, where its DUID alone is known.
	Server string `json:"server,omitempty"`
	DUID   string `json:"duid,omitempty"`
	// Ended says that what was known before this line is settled.
	Ended bool      `json:"ended,omitempty"`
	At    time.Time `json:"at"`
}

func (e *elsewhereLine) take(j *journal) {
	for k := range keys(e.EntryUID, e.MACs) {
		switch {
		case e.Ended:
			delete(j.elsewhere, k)
		case !slices.Contains(j.elsewhere[k], e.name()):
			j.elsewhere[k] = append(j.elsewhere[k], e.name())
		}
	}
}

// anyServer is the address in the line of a server that has none.
const anyServer = "::"

// duidPrefix begins the name of one.
const duidPrefix = "duid:"

// name of the server, as OtherServer was told it.
func (e *elsewhereLine) name() string {
	if e.DUID != "" {
		return e.DUID
	}
	return e.Server
}

// elsewhereOf are the servers that are remembered of a machine, by its entry and by each of its MACs.
func (j *journal) elsewhereOf(uid string, macs []boot.MAC) (all []string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.elsewhere) == 0 {
		return nil
	}
	for k := range keys(uid, macs) {
		all = append(all, j.elsewhere[k]...)
	}
	return all
}

// anyElsewhere says whether any server is remembered, of whatever machine; of no journal there's none.
func (j *journal) anyElsewhere() bool {
	if j == nil {
		return false
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(j.elsewhere) > 0
}

func (j *journal) writable() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.file != nil
}

// OtherServer takes note of a server that isn't ours, and that answers one of our machines. It may be another bootd with a copy of the
// folder: what that one has installed no record here knows, so that nothing is installed on the machine until a person has looked at it.
// It's named as in Options.Peers, by its address or by duid: and that. It's called for packets, and waits for no disk: turn writes it down.
func (s *Source) OtherServer(p *boot.Plan, server string) {
	if p.PlacedAlone() {
		return // Nothing is ever installed on it, so that there's nothing to hold.
	}
	s.mu.Lock()
	known := s.elsewhere[p.EntryUID]
	if len(known) >= maxElsewhere || slices.Contains(known, server) || s.peer(server) {
		s.mu.Unlock()
		return
	}
	s.elsewhere[p.EntryUID] = append(known, server)
	l := s.elsewhereOf(p)
	if l.Server = server; strings.HasPrefix(server, duidPrefix) {
		l.Server, l.DUID = anyServer, server
	}
	s.unnoted = append(s.unnoted, l)
	s.mu.Unlock()
	s.warnElsewhere(p, server)
	s.wake()
}

func (s *Source) elsewhereOf(p *boot.Plan) elsewhereLine {
	return elsewhereLine{Entry: p.Entry.String(), EntryUID: p.EntryUID, HostUID: p.HostUID, MACs: p.MACs, At: s.o.Now().UTC()}
}

func (s *Source) warnElsewhere(p *boot.Plan, server string) {
	s.o.Logger.Warn("NeedsConfirmation: nothing is installed on this machine until a person has looked at it", "entry", p.Entry.String(),
		"reason", "AnsweredElsewhere", "why", elsewhereWhy, "server", server, "do", elsewhereDo(p, server))
}

// peer says whether a server is meant to answer.
func (s *Source) peer(server string) bool { return slices.Contains(s.o.Peers, server) }

func (s *Source) answeredElsewhere(uid string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.elsewhere[uid]) > 0
}

// note writes down, into each place that lacks it, which servers were heard of. What can't be written is tried again.
func (s *Source) note() {
	s.mu.Lock()
	todo := s.unnoted
	s.unnoted = nil
	s.mu.Unlock()
	for i, l := range todo {
		err := s.site.noteElsewhere(l)
		if err == nil {
			continue
		}
		s.say(otherServers, fmt.Sprintf("that %s took the address of server %s can't be remembered, and a restart would forget it: %v", l.Entry, l.name(), err))
		s.mu.Lock()
		s.unnoted = append(todo[i:], s.unnoted...)
		s.mu.Unlock()
		return
	}
	if len(todo) > 0 {
		s.say(otherServers, "")
	}
}

// noteElsewhere writes a line into each place that can be written and lacks it.
func (s *site) noteElsewhere(l elsewhereLine) error {
	for _, j := range []*journal{s.state, s.spec} {
		if j == nil || !j.writable() {
			continue // Nothing is installed where a place that should be there isn't.
		}
		known := j.elsewhereOf(l.EntryUID, l.MACs)
		if l.Ended && len(known) == 0 || !l.Ended && slices.Contains(known, l.name()) {
			continue
		}
		if err := j.append(line{Elsewhere: &l}); err != nil {
			return err
		}
	}
	return nil
}

// recall takes in what the records know of other servers, before anything is published.
func (s *Source) recall() {
	if !s.site.state.anyElsewhere() && !s.site.spec.anyElsewhere() {
		return
	}
	for _, p := range s.world.all() {
		for _, j := range []*journal{s.site.state, s.site.spec} {
			if j == nil {
				continue
			}
			for _, server := range j.elsewhereOf(p.EntryUID, p.MACs) {
				s.recalled(p, server)
			}
		}
	}
}

func (s *Source) recalled(p *boot.Plan, server string) {
	s.mu.Lock()
	known := slices.Contains(s.elsewhere[p.EntryUID], server) || s.peer(server)
	if !known {
		s.elsewhere[p.EntryUID] = append(s.elsewhere[p.EntryUID], server)
	}
	s.mu.Unlock()
	if !known {
		s.warnElsewhere(p, server)
	}
}

// endElsewhere forgets the other servers of a machine that a person has looked at. One that is heard of from now on counts again.
func (s *Source) endElsewhere(p *boot.Plan) error {
	s.mu.Lock()
	delete(s.elsewhere, p.EntryUID)
	s.unnoted = slices.DeleteFunc(s.unnoted, func(l elsewhereLine) bool { return l.EntryUID == p.EntryUID })
	s.mu.Unlock()
	l := s.elsewhereOf(p)
	l.Ended = true
	return s.site.noteElsewhere(l)
}
