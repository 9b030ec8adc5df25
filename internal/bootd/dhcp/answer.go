package dhcp

import (
	"net/netip"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// An Ingress is where a request came in.
type Ingress struct {
	// From is the sender.
	From netip.AddrPort
	// To is our address that it was sent to; invalid for a broadcast.
	To netip.Addr
	// Interface that it came in on, by name and index, and the addresses on it.
	Interface string
	Index     int
	Addresses []netip.Addr
	// Proxy says that it came to the port of proxyDHCP, 4011.
	Proxy bool
}

// A View is all that an answer rests on, besides the request.
type View struct {
	State *boot.State
	// Keys that tokens are made with, the current one first.
	Keys [][]byte
	Now  time.Time
	// Advertise is the address that machines are told; invalid: the one that they asked.
	Advertise netip.Addr
	// HTTPPort of scripts and files.
	HTTPPort uint16
	Files    Files
	// Proxy says that segments of mode Proxy may be answered: the port of proxyDHCP is heard too. ProxyAlone says that it's all that is
	// heard, and port 67 is another program's.
	Proxy, ProxyAlone bool
	// Foreign says why a segment that refuses foreign servers doesn't begin; "": it does, or has. nil: nobody looks for them.
	Foreign func(network boot.Name) Reason
	// Declined says whether an address of a network was declined just now, since another machine uses it; nil: none was.
	Declined func(network boot.Name, address netip.Addr, now time.Time) bool
}

// Files are the names of the first stages, as TFTP and HTTP serve them; "" where there is none.
type Files struct {
	BIOS      string
	UEFIAMD64 string
	UEFIARM64 string
}

// For gives the first stage of a firmware.
func (f Files) For(fw boot.Firmware) string {
	switch {
	case fw.Kind == boot.FirmwareBIOS:
		return f.BIOS
	case fw.Kind == boot.FirmwareUnknown:
		return ""
	case fw.Arch == boot.AMD64:
		return f.UEFIAMD64
	case fw.Arch == boot.ARM64:
		return f.UEFIARM64
	}
	return ""
}

// A Reason says in one word why a request was answered as it was: for logs and metrics.
type Reason string

// Values of Reason. Those of silence are an owner's most frequent question.
const (
	Offered      Reason = "Offered"
	Acknowledged Reason = "Acknowledged"
	Informed     Reason = "Informed"
	Refused      Reason = "Refused"
	Declined     Reason = "Declined"
	Released     Reason = "Released"
	// Proxied is an answer without an address: another server gives that.
	Proxied Reason = "Proxied"

	SilentNotRequest     Reason = "NotARequest"
	SilentUnsynced       Reason = "NoStateYet"
	SilentUnknown        Reason = "UnknownMachine"
	SilentNoAddress      Reason = "NoAddressPlanned"
	SilentNoSegment      Reason = "NoSegment"
	SilentRelayUntrusted Reason = "RelayNotTrusted"
	SilentElsewhere      Reason = "NotInItsSegment"
	SilentRelayOnly      Reason = "RelayOnlySegment"
	SilentNotServedHere  Reason = "InterfaceNotServed"
	SilentUnicast        Reason = "UnicastFromElsewhere"
	SilentNoServer       Reason = "NoAddressOfOurs"
	SilentOtherServer    Reason = "RequestForOtherServer"
	SilentWrongAddress   Reason = "WrongAddress"
	SilentNoKeys         Reason = "NoTokenKeys"
	SilentMalformed      Reason = "Malformed"
	SilentType           Reason = "MessageType"
	SilentDeclined       Reason = "AddressDeclined"
	SilentUnasked        Reason = "DeclinedUnasked"
	SilentForeign        Reason = "ForeignServer"
	SilentListening      Reason = "ListeningFirst"
	SilentOff            Reason = "SegmentOff"
	SilentNoProxy        Reason = "ProxyPortClosed"
	SilentNotProxied     Reason = "NotAProxySegment"
	SilentProxied        Reason = "AddressByOtherServer"
	SilentNoNetboot      Reason = "NotANetworkBoot"
	SilentNoFile         Reason = "NoFirstStage"

	// Dropped is a request that was never read: too many came at once.
	Dropped Reason = "Dropped"
)

// An Answer is what a request gets.
type Answer struct {
	// Packet is nil for silence.
	Packet []byte
	// To is where it's sent, From our address that it's sent from (invalid: whichever), Broadcast whether on the interface
	// that the request came in on.
	To        netip.AddrPort
	From      netip.Addr
	Broadcast bool
	Reason    Reason
	Facts     Facts
	// Plan of the machine, where it's ours.
	Plan *boot.Plan
	// Stage that the exchange is a sight of; "" where of none.
	Stage boot.Stage
}
