package wire

// Codes of the options that bootd reads or writes, by IANA's registry "BOOTP Vendor Extensions and DHCP Options".
const (
	OptionPad              = 0
	OptionMask             = 1
	OptionRouter           = 3
	OptionDNS              = 6
	OptionHostname         = 12
	OptionDomain           = 15
	OptionMTU              = 26
	OptionBroadcast        = 28
	OptionNTP              = 42
	OptionVendor           = 43
	OptionRequestedAddress = 50
	OptionLease            = 51
	OptionOverload         = 52
	OptionType             = 53
	OptionServer           = 54
	OptionParameters       = 55
	OptionMaxSize          = 57
	OptionRenewal          = 58
	OptionRebinding        = 59
	OptionClass            = 60
	OptionClientID         = 61
	OptionTFTPServer       = 66
	OptionBootFile         = 67
	OptionUserClass        = 77
	OptionRelayAgent       = 82
	OptionArchitecture     = 93
	OptionInterfaceID      = 94
	OptionMachineID        = 97
	OptionRoutes           = 121
	OptionEtherboot        = 175
	OptionRoutesMicrosoft  = 249
	OptionEnd              = 255
)

// ProbeClass is the user class (RFC 3004) by which a bootd asks whether other servers are there, so that none of its own kind answers.
const ProbeClass = "bootd"

// A Type is what option 53 says a message is.
type Type uint8

// Values of Type (RFC 2132 §9.6). None is that of a message without the option, or with a broken one.
const (
	None     Type = 0
	Discover Type = 1
	Offer    Type = 2
	Request  Type = 3
	Decline  Type = 4
	ACK      Type = 5
	NAK      Type = 6
	Release  Type = 7
	Inform   Type = 8
)

// String is the RFC's word.
func (t Type) String() string {
	names := [...]string{"NONE", "DISCOVER", "OFFER", "REQUEST", "DECLINE", "ACK", "NAK", "RELEASE", "INFORM"}
	if int(t) < len(names) {
		return names[t]
	}
	return "UNKNOWN"
}

// Values of the header's first octet.
const (
	BootRequest = 1
	BootReply   = 2
)

// Places of the header's fields, and of what follows it.
const (
	atHops    = 3
	atXID     = 4
	atFlags   = 10
	atCiaddr  = 12
	atYiaddr  = 16
	atSiaddr  = 20
	atGiaddr  = 24
	atChaddr  = 28
	atSname   = 44
	atFile    = 108
	atCookie  = 236
	atOptions = 240

	chaddrSize = 16
	snameSize  = atFile - atSname
	fileSize   = atCookie - atFile
	// leastSize is that of a BOOTP message: some relays drop shorter ones (RFC 1542 §2.1).
	leastSize = 300
	maxValue  = 255
)

// cookie stands before the options (RFC 2131 §3).
const cookie = "\x63\x82\x53\x63"
