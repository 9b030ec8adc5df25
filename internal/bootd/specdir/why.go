package specdir

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// Why says what keeps installs from a machine as long as nobody does anything about it, and what that would be; "": nothing does.
func (s *Source) Why(p *boot.Plan) string {
	if why, ok := s.site.installs(); !ok {
		return "nothing is installed on any machine: " + why
	}
	if servers := s.otherServers(p.EntryUID); len(servers) > 0 {
		return "NeedsConfirmation: " + elsewhereWhy + " (" + strings.Join(servers, ", ") + "); " + elsewhereDo(p, servers[0])
	}
	k := s.known.Load()
	if k == nil {
		return ""
	}
	switch reason := k.asked[p.EntryUID]; {
	case questions[reason] != "":
		return "NeedsConfirmation: " + questions[reason] + "; " + confirmDo(p)
	case waits[reason] != "":
		return reason + ": " + waits[reason]
	case k.idle[p.EntryUID] != "":
		return k.idle[p.EntryUID]
	case k.held[p.EntryUID]:
		return "its specs are wrong, gone or there twice, and it's served as before; bootd's log says which"
	}
	return ""
}

// elsewhereWhy is what is wrong with a machine that took another server's offer.
const elsewhereWhy = "it took the address of another DHCP server, which may install it, too"

func elsewhereDo(p *boot.Plan, server string) string {
	peer := "--peer " + server + " if that server"
	if a, err := netip.ParseAddr(server); err != nil || a.IsUnspecified() { // Of DHCPv6; before, :: stood for any of those.
		peer = "the IPv6 address of that server as a --peer, if it's a bootd that"
	}
	return fmt.Sprintf("start bootd with %s is meant to answer and installs nothing; else stop it, and bootd confirm %s --mac %s keeps the machine as it runs", peer, p.Entry, p.MACs[0])
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
