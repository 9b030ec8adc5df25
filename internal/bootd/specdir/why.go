package specdir

import (
	"fmt"
	"slices"
	"strings"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// Why says what keeps installs from a machine as long as nobody does anything about it, and what that would be; "": nothing does.
func (s *Source) Why(p *boot.Plan) string {
	if why, ok := s.site.installs(); !ok {
		return "nothing is installed on any machine: " + why
	}
	k := s.known.Load()
	first := ""
	if k != nil && k.held[p.EntryUID] && k.idle[p.EntryUID] == "" {
		first = heldWhy + "; once that's mended: "
	}
	if servers := s.otherServers(p.EntryUID); len(servers) > 0 {
		return first + "NeedsConfirmation: " + elsewhereWhy + " (" + strings.Join(servers, ", ") + "); " + elsewhereDo(p, servers[0])
	}
	if k == nil {
		return ""
	}
	switch reason := k.asked[p.EntryUID]; {
	case questions[reason] != "":
		return first + "NeedsConfirmation: " + questions[reason] + "; " + confirmDo(p)
	case waits[reason] != "":
		return reason + ": " + waits[reason]
	case k.idle[p.EntryUID] != "":
		return k.idle[p.EntryUID]
	case k.held[p.EntryUID]:
		return heldWhy
	case k.doubtful[p.EntryUID] == uncompared:
		return uncompared
	case s.restless.Load() && (k.doubtful[p.EntryUID] != "" || wantsInstall(p) && p.InstalledGeneration < p.InstallGeneration && k.grants[p.EntryUID].generation < p.InstallGeneration):
		return "no grant is made while the folder of specs goes on changing: " + s.unrest()
	case k.doubtful[p.EntryUID] == undecided:
		return undecided
	}
	return ""
}

// Asks says whether a person has to say that a machine is the one that is meant, before anything is installed on it.
func (s *Source) Asks(p *boot.Plan) bool {
	if _, ok := s.site.installs(); !ok {
		return false // Whatever a person says.
	}
	k := s.known.Load()
	return s.answeredElsewhere(p.EntryUID) || k != nil && questions[k.asked[p.EntryUID]] != ""
}

// What keeps installs from a machine that nobody is asked about.
const (
	heldWhy    = "its specs are wrong, gone or there twice, and it's served as before, or another entry wants what it has; bootd's log says which"
	uncompared = "its session can't be compared with the log of used grants, and no install starts until it can; bootd's log says what is in the way"
	undecided  = "its records don't vouch for the grant that it has, or may have had; what becomes of it is decided once the folder of specs has been still, and the records can be written"
)

// elsewhereWhy is what is wrong with a machine that took another server's offer.
const elsewhereWhy = "it took the address of another DHCP server, which may install it, too"

func elsewhereDo(p *boot.Plan, server string) string {
	confirm := fmt.Sprintf("bootd confirm %s --mac %s keeps the machine as it runs", p.Entry, p.MACs[0])
	if server == anyServer { // An earlier version wrote that of each server of DHCPv6.
		return confirm + "; which server of DHCPv6 it was isn't known any more"
	}
	return fmt.Sprintf("start bootd with --peer %s if that server is meant to answer and installs nothing; else stop it, and %s", server, confirm)
}

func confirmDo(p *boot.Plan) string {
	return fmt.Sprintf("bootd confirm %s --mac %s keeps it as it runs; raise install.generation afterwards to install it", p.Entry, p.MACs[0])
}

// otherServers are those that answered a machine.
func (s *Source) otherServers(uid string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(slices.Values(s.elsewhere[uid]))
}
