package admin

import "time"

// An Explanation is what bootd would answer a machine now, and why.
type Explanation struct {
	// At is when it was made, by which bootd.
	At     time.Time `json:"at"`
	Server string    `json:"server"`
	// NotServed are the protocols that this bootd was started without.
	NotServed []string `json:"notServed,omitempty"`
	// Stopping says that it begins no boot any more, and OffersAfter how long its OFFERs wait for those of another bootd; "" where they
	// don't.
	Stopping    bool   `json:"stopping,omitempty"`
	OffersAfter string `json:"offersAfter,omitempty"`
	// WaitsFor is what has to happen before the machine goes on; "" where nothing has to.
	WaitsFor string `json:"waitsFor,omitempty"`
	// Held is what keeps installs from the machine until a person does something about it, and what that is; "" where nothing does.
	Held    string   `json:"held,omitempty"`
	Machine Machine  `json:"machine"`
	Session *Session `json:"session,omitempty"`
	// LastAsked is the last request that was heard, and what it would get now.
	LastAsked *Exchange `json:"lastAsked,omitempty"`
	// DHCP are the requests that the machine may make, and what each would get.
	DHCP    []Exchange `json:"dhcp"`
	Scripts []Script   `json:"scripts,omitempty"`
}

// A Machine is the plan of one, as this bootd knows it. BehindPort is the MAC that was seen behind its switch port. Address6 and Gateway6 are those of IPv6, of one that has an address of each family.
type Machine struct {
	Entry               string   `json:"entry"`
	EntryUID            string   `json:"entryUID"`
	HostUID             string   `json:"hostUID"`
	MACs                []string `json:"macs"`
	Port                string   `json:"port,omitempty"`
	BehindPort          string   `json:"behindPort,omitempty"`
	UUID                string   `json:"uuid,omitempty"`
	Serial              string   `json:"serial,omitempty"`
	Hostname            string   `json:"hostname,omitempty"`
	Network             string   `json:"network"`
	Address             string   `json:"address,omitempty"`
	Gateway             string   `json:"gateway,omitempty"`
	Address6            string   `json:"address6,omitempty"`
	Gateway6            string   `json:"gateway6,omitempty"`
	Mode                string   `json:"mode"`
	Method              string   `json:"method"`
	Architectures       []string `json:"architectures,omitempty"`
	UserData            string   `json:"userData,omitempty"`
	PlanDigest          string   `json:"planDigest"`
	InstallGeneration   int64    `json:"installGeneration"`
	InstalledGeneration int64    `json:"installedGeneration"`
	Otherwise           string   `json:"otherwise,omitempty"`
	LocalBoot           string   `json:"localBoot,omitempty"`
	FirstStage          string   `json:"firstStage,omitempty"`
}

// A Session is what was granted and what became of it, as this bootd last saw it.
type Session struct {
	Grant      *Grant  `json:"grant,omitempty"`
	Revocation string  `json:"revocation,omitempty"`
	Scripts    int     `json:"scripts"`
	MaxScripts int     `json:"maxScripts"`
	Consumed   *Use    `json:"consumed,omitempty"`
	Installed  *Result `json:"installed,omitempty"`
	Failed     *Result `json:"failed,omitempty"`
	// Logged are the generations that this bootd's own log knows as consumed.
	Logged []int64 `json:"logged,omitempty"`
}

// A Grant of one install.
type Grant struct {
	ID         string    `json:"id"`
	Generation int64     `json:"generation"`
	Expires    time.Time `json:"expires"`
	// Fits says that it's for the plan as it is now.
	Fits bool `json:"fits"`
}

// A Use of a grant.
type Use struct {
	GrantID    string    `json:"grantID"`
	Generation int64     `json:"generation"`
	At         time.Time `json:"at"`
	By         string    `json:"by,omitempty"`
}

// A Result of an install.
type Result struct {
	Generation int64     `json:"generation"`
	At         time.Time `json:"at"`
	Message    string    `json:"message,omitempty"`
}

// An Exchange is a DHCP request, and what it would get.
type Exchange struct {
	// As is which program asks, on which firmware; Via how the request comes in.
	As  string `json:"as"`
	Via string `json:"via"`
	// Asked is when a request was really heard; absent of one that is only thought of.
	Asked *time.Time `json:"asked,omitempty"`
	// Answer is OFFER, ACK, NAK or silence.
	Answer  string `json:"answer"`
	Reason  string `json:"reason"`
	Because string `json:"because,omitempty"`
	Address string `json:"address,omitempty"`
	To      string `json:"to,omitempty"`
	// File is what the machine is told to load next: a name, by TFTP, or a URL, with a word in the place of its token.
	File string `json:"file,omitempty"`
	// TFTP says what it then gets; "" where the file isn't one of TFTP.
	TFTP string `json:"tftp,omitempty"`
}

// A Script is what iPXE would be answered.
type Script struct {
	As      string `json:"as"`
	Answer  string `json:"answer"`
	Reason  string `json:"reason"`
	Because string `json:"because,omitempty"`
	Message string `json:"message,omitempty"`
	// Text has words in the place of tokens.
	Text string `json:"text"`
}
