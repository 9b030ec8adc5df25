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
	// HTTPPort of scripts and files; 0: HTTP isn't served, and no machine is sent anywhere.
	HTTPPort uint16
	Secure   Secure
	Files    Files
	// Frames says that who has no address yet can be answered at its hardware address.
	Frames bool
	// Proxy says that segments of mode Proxy may be answered: the port of proxyDHCP is heard too. ProxyAlone says that it's all that is
	// heard, and port 67 is another program's.
	Proxy, ProxyAlone bool
	// Foreign says why a segment that refuses foreign servers doesn't begin; "": it does, or has. nil: nobody looks for them.
	Foreign func(network boot.Name) Reason
	// Lending is what machines are lent that nobody knows.
	Lending Lending
	// Holders are the machines behind the switch ports that entries name in the place of MACs; nil: no such entry is served. An answer rests on
	// them; Server alone writes into them.
	Holders *Holders
	// Declined says whether an address of a network was declined just now, since another machine uses it; nil: none was.
	Declined func(network boot.Name, address netip.Addr, now time.Time) bool
	// Own says whether an address that a plan has is this server's, whose machine the plan's isn't; nil: none is.
	Own func(p *boot.Plan, address netip.Addr) bool
	// Skewed says that Now isn't what time it is for who makes grants; nil: it is.
	Skewed func() bool
}

// Secure says who is told to load by HTTPS.
type Secure struct {
	// Base is a base URL's by HTTPS; nil: nobody is.
	Base func(base string) string
	// Firmware is UEFI HTTP Boot, IPXE an iPXE that trusts our certificate, which none of Debian's does.
	Firmware, IPXE bool
}

// Files are the names of the first stages, as TFTP and HTTP serve them; "" where there is none.
type Files struct {
	BIOS      string
	UEFIAMD64 string
	UEFIARM64 string
	// NativeAMD64 and NativeARM64 are iPXEs with drivers of their own, where the others go by the firmware's.
	NativeAMD64 string
	NativeARM64 string
	// ShimAMD64 and ShimARM64 are the shims beside which a machine's grub.cfg lies.
	ShimAMD64 string
	ShimARM64 string
	// GrubARM64 is a grub that firmware loads without a shim.
	GrubARM64 string
}

// Shim for an architecture.
func (f Files) Shim(a boot.Arch) string { return by(a, f.ShimAMD64, f.ShimARM64) }

// Native is the iPXE with drivers of its own for an architecture.
func (f Files) Native(a boot.Arch) string { return by(a, f.NativeAMD64, f.NativeARM64) }

// by gives the file of an architecture; "" for one that has none.
func by(a boot.Arch, amd64, arm64 string) string {
	switch a {
	case boot.AMD64:
		return amd64
	case boot.ARM64:
		return arm64
	}
	return ""
}

// For gives the first stage of a firmware of whose machine nothing is said.
func (f Files) For(fw boot.Firmware) string {
	switch fw.Kind { //nolint:exhaustive // The others are UEFI.
	case boot.FirmwareBIOS:
		return f.BIOS
	case boot.FirmwareUnknown, boot.FirmwareRaspberryPi:
		return ""
	}
	return by(fw.Arch, f.UEFIAMD64, f.UEFIARM64)
}

// Unsigned gives the first stage of a machine's firmware that runs anything; "" where there's none. A machine that is to run what's signed
// alone isn't given anything else, or it would be by whatever way its firmware asks first.
func (f Files) Unsigned(stage boot.FirstStage, fw boot.Firmware) string {
	uefi := fw.Kind == boot.FirmwareUEFI || fw.Kind == boot.FirmwareUEFIHTTP
	switch {
	case uefi && stage == boot.FirstStageShim:
		return ""
	case uefi && stage == boot.FirstStageNativeIPXE:
		return f.Native(fw.Arch)
	}
	return f.For(fw)
}

// Signed gives the first stage of a machine that boots by shim and grub: one that's said to, or for whose firmware there's nothing else; ""
// for any other. UEFI HTTP Boot can't begin it: Debian's grub has TFTP alone. Nor is it what a machine is given whose own iPXE isn't there:
// grub goes by the driver that it's to do without.
func (f Files) Signed(stage boot.FirstStage, fw boot.Firmware) string {
	if fw.Kind != boot.FirmwareUEFI || stage == boot.FirstStageNativeIPXE || f.Unsigned(stage, fw) != "" {
		return ""
	}
	return f.Shim(fw.Arch)
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
	SilentOwn            Reason = "AddressOfServer"
	SilentUnasked        Reason = "DeclinedUnasked"
	SilentForeign        Reason = "ForeignServer"
	SilentListening      Reason = "ListeningFirst"
	SilentOff            Reason = "SegmentOff"
	SilentNoProxy        Reason = "ProxyPortClosed"
	SilentNotProxied     Reason = "NotAProxySegment"
	SilentProxied        Reason = "AddressByOtherServer"
	SilentNoNetboot      Reason = "NotANetworkBoot"
	SilentNoFile         Reason = "NoFirstStage"
	// SilentProbe is a bootd's own question whether other servers are there.
	SilentProbe Reason = "ProbeOfBootd"

	// Dropped is a request that was never read: too many came at once.
	Dropped Reason = "Dropped"
)

// An Answer is what a request gets.
type Answer struct {
	// Packet is nil for silence.
	Packet []byte
	// To is where it's sent, From our address that it's sent from (invalid: whichever), Broadcast whether on the interface
	// that the request came in on, without asking the routes.
	To        netip.AddrPort
	From      netip.Addr
	Broadcast bool
	// Hardware is the hardware address that it's sent to, since there's no ARP for who has no address yet; zero: not by that.
	Hardware [6]byte
	Reason   Reason
	Facts    Facts
	// Plan of the machine, where it's ours.
	Plan *boot.Plan
	// Lent is the temporary address that it's about, and Network whose that is, where the machine isn't ours; invalid where about none.
	Lent    netip.Addr
	Network boot.Name
	// Stage that the exchange is a sight of; "" where of none.
	Stage boot.Stage
	// Pi is the token of the exchange, where a Raspberry Pi is told to boot.
	Pi string
	// Sight is what it says of a switch port.
	Sight Sight
	// Theirs says that a foreign server that may be there may have given the address: such an answer begins no segment.
	Theirs bool
}

// about is the network and the address that an answer is about: the machine's planned one, or one that is lent.
func (a *Answer) about() (boot.Name, netip.Addr) {
	if a.Plan != nil {
		return a.Plan.Network.Name, a.Plan.Network.Address.Addr()
	}
	return a.Network, a.Lent
}
