package admin

import (
	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/artifacts"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/gate"
)

// becauseDHCP says for a reason of silence what it means and what to look at. A reason that isn't here speaks for itself.
func becauseDHCP(r dhcp.Reason) string {
	return map[dhcp.Reason]string{
		dhcp.SilentUnsynced:       "bootd hasn't read its machines yet; see /readyz and its log",
		dhcp.SilentUnknown:        "no BootEntry that is served here has this MAC",
		dhcp.SilentPortTaken:      "another machine was seen behind this switch port before, and a port names a place: if this one is meant, name its MAC in machine.macs",
		dhcp.SilentNoAddress:      "no IPv4 address is allocated to it yet; see the BootEntry's condition",
		dhcp.SilentNoSegment:      "its BootNetwork isn't served by this bootd: look at the network's serveOn and this node's labels, or it isn't read yet",
		dhcp.SilentRelayUntrusted: "the relay's address is neither in the BootNetwork's dhcp.relays nor, without that list, in one of its subnets",
		dhcp.SilentElsewhere:      "it asks on another segment than its BootNetwork's subnets: look where it's plugged in, and which link its relay selects",
		dhcp.SilentRelayOnly:      "its BootNetwork's dhcp.mode is RelayOnly, and this wasn't passed on by a relay",
		dhcp.SilentNotServedHere:  "the BootNetwork's serveOn.interfaces doesn't name the interface that it came in on",
		dhcp.SilentUnicast:        "a request without a relay must be broadcast, or come from the machine's own address",
		dhcp.SilentNoServer:       "bootd has no IPv4 address on that interface; give it one, or --advertise-address",
		dhcp.SilentOtherServer:    "the machine took another server's offer: another bootd's, which knows more of it, or that of another DHCP server on its segment",
		dhcp.SilentWrongAddress:   "it asks for another address than the planned one; firmware begins again by itself, and a system is refused when it renews",
		dhcp.SilentNoKeys:         "bootd has no keys for tokens yet; see /readyz and the Secret bootd-tokens",
		dhcp.SilentNoneFree:       "its network lends addresses to machines that nobody knows, and this bootd may lend none now: all are lent, planned or declined, or the API server isn't reached, or a bootd of its network began or ended within the last ten minutes",
		dhcp.SilentNotMine:        "another bootd may lend this address",
		dhcp.SilentDeclined:       "it declined its address within the last ten minutes, since another machine uses it; free the address, or allocate another",
		dhcp.SilentOwn:            "its address is this bootd's own, and the machine isn't this one: give the machine another",
		dhcp.SilentUnasked:        "nobody was given that address within the last minute, so that declining it isn't believed",
		dhcp.SilentNotRequest:     "it's no request of a client",
		dhcp.SilentMalformed:      "it names no address that it wants",
		dhcp.SilentType:           "it's a message that needs no answer",
		dhcp.SilentForeign:        "another DHCP server answers on the network, its dhcp.foreignServer is Refuse, and bootd has answered nobody there yet: stop that server, or set Warn",
		dhcp.SilentListening:      "its dhcp.foreignServer is Refuse, and bootd listens for five seconds whether another server is there before it begins",
		dhcp.SilentOff:            "its BootNetwork's dhcp.mode is Off: bootd answers no DHCP there",
		dhcp.SilentNoProxy:        "its BootNetwork's dhcp.mode is Proxy, and port 4011 is another program's: bootd's log says whose",
		dhcp.SilentNotProxied:     "it asked at port 4011, which another server's offer sent it to, and its BootNetwork's dhcp.mode isn't Proxy",
		dhcp.SilentProxied:        "its BootNetwork's dhcp.mode is Proxy: another server gives the addresses",
		dhcp.SilentNoNetboot:      "its BootNetwork's dhcp.mode is Proxy, and what isn't a network boot is the other server's to answer",
		dhcp.SilentNoFile:         "its BootNetwork's dhcp.mode is Proxy, and there is no first stage for its firmware, or bootd serves no HTTP, by which every one goes on",
		dhcp.SilentProbe:          "it's a bootd that looks whether other DHCP servers are there, and no machine",
		dhcp.LimitedMachine:       "it asks more often than any firmware does",
	}[r]
}

// becauseScript says for the reason of a script's answer what it means, and what it waits for.
func becauseScript(reason string) string {
	return map[string]string{
		boot.DecidedLive:         "its profile's mode is Live: it netboots each time",
		boot.DecidedGranted:      "an install is granted and not used: its next boot installs it",
		boot.DecidedDisk:         "no install is asked for (generation 0)",
		boot.DecidedInstalled:    "the install of this generation is finished; raise the generation to install it again",
		boot.DecidedConsumed:     "the grant was used, so that nothing more is installed by it; raise the generation to install it again",
		boot.DecidedNoGrant:      "an install is asked for and not granted; the BootEntry's conditions say what is missing",
		boot.DecidedNoSession:    "there's no BootSession of this machine yet: who makes grants hasn't got to it",
		boot.DecidedRevoked:      "its session was closed, as at a release or a deletion",
		boot.DecidedStale:        "what is granted isn't what the plan is now; a new grant is waited for",
		boot.DecidedExpired:      "the grant was too old when it was to be used; raise the generation to have another",
		boot.DecidedBootLoop:     "the grant served its last script and wasn't used: the machine boots again and again; see its console, then raise the generation",
		boot.DecidedClockSkew:    "the clock of bootd's host isn't the API server's, so that it doesn't know whether the grant has expired; set it, by NTP",
		boot.DecidedNotSynced:    "the API server isn't reached, or another bootd hasn't compared the grant with its log",
		boot.DecidedSuperseded:   "its token is of an earlier DHCP exchange than what the grant counts for: it begins again with DHCP, or somebody else holds that token",
		boot.DecidedNoArtifacts:  "its profile has no files for this architecture",
		gate.ReasonHeld:          "nothing is installed on it now: its specs are gone, wrong or there twice, its grant is in doubt, or this bootd installs nothing; see its log",
		gate.ReasonConfirm:       "a person has to say that it's the machine which is meant: its records don't match, or another DHCP server answered it; see bootd's log, and bootd confirm",
		gate.ReasonPort:          "an install is granted, and it wasn't seen behind the switch port that its entry names in machine.port: look where it's plugged in, or mend the entry; its next boot is looked at anew",
		boot.DecidedPlaceOnly:    "its entry names its switch port alone, by which nothing is installed; name its MAC in machine.macs",
		gate.ReasonScript:        "its script can't be made",
		gate.ReasonToken:         "bootd has no keys for tokens yet",
		gate.ReasonAPI:           "the API server isn't reached",
		gate.ReasonDisk:          "bootd's state folder can't be written: is its disk full, or read-only? See its log",
		gate.ReasonBusy:          "so many machines ask at once, or what must be written down about them is written so slowly, that its turn hasn't come; it asks again",
		gate.ReasonGone:          "it closed its connection before it was answered",
		artifacts.ReasonFetching: "its files are being fetched",
		artifacts.ReasonFetch:    "a file of its profile can't be had",
		artifacts.ReasonDigest:   "a file of its profile isn't what its digest says",
		artifacts.ReasonTarget:   "a file of its profile lies where none may be fetched from; see --artifact-range",
	}[reason]
}
