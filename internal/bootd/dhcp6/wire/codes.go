package wire

import "fmt"

// A Type of a message (RFC 8415 §7.3).
type Type byte

// Values of Type.
const (
	Solicit            Type = 1
	Advertise          Type = 2
	Request            Type = 3
	Confirm            Type = 4
	Renew              Type = 5
	Rebind             Type = 6
	Reply              Type = 7
	Release            Type = 8
	Decline            Type = 9
	InformationRequest Type = 11
	relayForward       Type = 12
	relayReply         Type = 13
)

// String is the type's name as RFC 8415 writes it.
func (t Type) String() string {
	switch t {
	case Solicit:
		return "SOLICIT"
	case Advertise:
		return "ADVERTISE"
	case Request:
		return "REQUEST"
	case Confirm:
		return "CONFIRM"
	case Renew:
		return "RENEW"
	case Rebind:
		return "REBIND"
	case Reply:
		return "REPLY"
	case Release:
		return "RELEASE"
	case Decline:
		return "DECLINE"
	case InformationRequest:
		return "INFORMATION-REQUEST"
	case relayForward:
		return "RELAY-FORW"
	case relayReply:
		return "RELAY-REPL"
	}
	return fmt.Sprintf("TYPE%d", byte(t))
}

// Codes of options that we read or write.
const (
	OptionClientID     = 1  // RFC 8415 §21.2
	OptionServerID     = 2  // §21.3
	OptionIANA         = 3  // §21.4
	OptionIATA         = 4  // §21.5
	OptionAddress      = 5  // §21.6, inside an IA
	OptionRequest      = 6  // §21.7
	OptionPreference   = 7  // §21.8
	OptionRelayMessage = 9  // §21.10
	OptionStatus       = 13 // §21.13
	OptionRapidCommit  = 14 // §21.14
	OptionUserClass    = 15 // §21.15
	OptionVendorClass  = 16 // §21.16
	OptionInterfaceID  = 18 // §21.18, of relays
	OptionDNS          = 23 // RFC 3646 §3
	OptionDomain       = 24 // RFC 3646 §4
	OptionIAPD         = 25 // RFC 8415 §21.21
	OptionSNTP         = 31 // RFC 4075
	OptionRefresh      = 32 // RFC 8415 §21.23
	OptionNTP          = 56 // RFC 5908
	OptionBootFile     = 59 // RFC 5970 §3.1
	OptionArchitecture = 61 // RFC 5970 §3.3
	OptionNII          = 62 // RFC 5970 §3.4
	OptionLinkLayer    = 79 // RFC 6939, of relays
	OptionRelayPort    = 135
)

// A Status of an answer or of an IA in it (RFC 8415 §21.13).
type Status uint16

// Values of Status.
const (
	Success       Status = 0
	NoAddresses   Status = 2
	NoBinding     Status = 3
	NotOnLink     Status = 4
	NoPrefixes    Status = 6
	unknownStatus Status = 1<<16 - 1
)
