package boot

import (
	"fmt"
	"net/netip"
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Reasons of a Problem, as conditions have them.
const (
	ProblemInvalid  = "Invalid"
	ProblemNotFound = "NotFound"
	ProblemWaiting  = "WaitingForHost"
)

// A Problem says why there's no plan: one word for a script, one sentence for a person.
type Problem struct {
	Reason  string
	Message string
}

// A Parameter is a value that an entry may give to its profile's command line.
type Parameter struct {
	Name    string
	Default *string
	// Pattern in RE2; it's anchored here.
	Pattern string
}

// A Profile is a BootProfile as a plan needs it.
type Profile struct {
	Name

	Mode           Mode
	Method         Method
	UserDataFormat string
	Artifacts      []Artifacts
	CommandLine    []string
	Parameters     []Parameter
	// ScriptTemplate of MethodScript is for iPXE, GrubTemplate for grub.
	ScriptTemplate string
	GrubTemplate   string
	Digest         string
	InstallTimeout time.Duration
	// SilentInstaller is Plan's.
	SilentInstaller bool
}

// A Subnet of a segment, as DHCP gives it to machines.
type Subnet struct {
	CIDR    netip.Prefix
	Gateway netip.Addr
	DNS     []netip.Addr
}

// A SegmentConfig is a BootNetwork as a plan needs it.
type SegmentConfig struct {
	Name

	Subnets []Subnet
	NTP     []netip.Addr
	Domain  string
	MTU     int
	Lease   time.Duration
}

// A Machine is who boots.
type Machine struct {
	HostUID     string
	Bound       bool
	MACs        []string
	UUID        string
	Serial      string
	CommandLine []string
	LocalBoot   LocalBoot
	FirstStage  FirstStage
	// Port that it's behind, beside MACs or in their place; nil: none is named.
	Port *Port
}

// An Entry is a BootEntry as a plan needs it.
type Entry struct {
	Name

	UID        string
	Since      time.Time
	Parameters map[string]string
	Hostname   string
	// Addresses of the machine: one, or one of each family, that of IPv4 first.
	Addresses []netip.Prefix
	// Allocated says that NetBox gave them, and not whoever wrote the entry.
	Allocated           bool
	UserDataSecret      string
	UserDataDigest      string
	InstallGeneration   int64
	InstalledGeneration int64
	Otherwise           Otherwise
	// Interface is what the machine's system has its network on; nil: nobody says it.
	Interface *Interface
}

const defaultLease = 12 * time.Hour

// Resolve makes a plan, or says what is wrong with its parts.
func Resolve(e Entry, p Profile, n SegmentConfig, m Machine) (*Plan, *Problem) {
	if prob := checkPort(e, m); prob != nil {
		return nil, prob
	}
	macs, prob := parseMACs(m)
	if prob != nil {
		return nil, prob
	}
	if prob := checkAddresses(e, n); prob != nil {
		return nil, prob
	}
	words, prob := commandLine(p, e.Parameters)
	if prob != nil {
		return nil, prob
	}
	words = append(words, m.CommandLine...)
	if p.Method == MethodISO {
		words = nil // Its own loader has its kernel's, and hears nothing of a host's.
	}
	if prob := checkWords(p, words); prob != nil {
		return nil, prob
	}
	if prob := checkCarried(p, m.FirstStage, words); prob != nil {
		return nil, prob
	}
	if p.SilentInstaller && e.Otherwise == OtherwiseHold {
		return nil, &Problem{ProblemInvalid, fmt.Sprintf(
			"BootProfile %s has installer.report: None, by which a machine that was sent to its disk counts as installed, and with otherwise: Hold none is sent there; use otherwise: LocalDisk", p.Name)}
	}
	plan := &Plan{
		Entry: e.Name, EntryUID: e.UID, Since: e.Since,
		HostUID: m.HostUID, Bound: m.Bound, MACs: macs, UUID: m.UUID, Serial: m.Serial,
		Network:  n.Told(e.Addresses),
		Hostname: e.Hostname, Mode: p.Mode, Method: p.Method, Artifacts: p.Artifacts,
		CommandLine:    words,
		UserDataFormat: p.UserDataFormat, UserDataSecret: e.UserDataSecret, UserDataDigest: e.UserDataDigest,
		ProfileDigest: p.Digest, InstallTimeout: p.InstallTimeout, SilentInstaller: p.SilentInstaller,
		InstallGeneration: e.InstallGeneration, InstalledGeneration: e.InstalledGeneration,
		Otherwise: e.Otherwise, LocalBoot: m.LocalBoot, FirstStage: m.FirstStage, Port: m.Port,
	}
	if plan.Network.Lease == 0 {
		plan.Network.Lease = defaultLease
	}
	plan.Network.Interface = e.Interface
	if prob := checkInterface(plan); prob != nil {
		return nil, prob
	}
	if prob := fillScripts(plan, p, e.Parameters); prob != nil {
		return nil, prob
	}
	return plan, nil
}

// ofFamily gives the addresses that a machine with another one can reach.
func ofFamily(as []netip.Addr, machine netip.Addr) []netip.Addr {
	var out []netip.Addr
	for _, a := range as {
		if a.Is4() == machine.Is4() {
			out = append(out, a)
		}
	}
	return out
}

func parseMACs(of Machine) ([]MAC, *Problem) {
	in := of.MACs
	if len(in) == 0 && of.Port != nil {
		return nil, nil
	}
	if len(in) == 0 {
		return nil, &Problem{ProblemWaiting, "no MAC address of the machine is known; its BMC lists none yet, so give spec.forProvider.macs on the host"}
	}
	seen := map[MAC]bool{}
	var macs []MAC
	for _, s := range in {
		m, err := ParseMAC(s)
		if err != nil {
			return nil, &Problem{ProblemInvalid, err.Error()}
		}
		if !seen[m] {
			seen[m] = true
			macs = append(macs, m)
		}
	}
	return macs, nil
}

// Told is the segment as a machine of these addresses is told it: one, or one of each family, that of IPv4 first. What is in no subnet stays as
// it is.
func (n SegmentConfig) Told(addresses []netip.Prefix) Network {
	out := Network{Name: n.Name, Domain: n.Domain, MTU: n.MTU, Lease: n.Lease}
	for i, a := range addresses {
		switch x := n.place(a); i {
		case 0:
			out.Address, out.Gateway, out.DNS, out.NTP = x.Address, x.Gateway, x.DNS, x.NTP
		case 1:
			out.Six = &x
		}
	}
	return out
}

// place is what a machine with an address is told of that.
func (n SegmentConfig) place(a netip.Prefix) Place {
	p := Place{Address: a, NTP: ofFamily(n.NTP, a.Addr())}
	if subnet, ok := n.subnetOf(a); ok {
		// The mask is the segment's: what NetBox gives is that of the prefix an address was taken from, and from a part of
		// the segment it would leave the gateway outside.
		p.Address, p.Gateway, p.DNS = netip.PrefixFrom(a.Addr(), subnet.CIDR.Bits()), subnet.Gateway, subnet.DNS
	}
	return p
}

func (n SegmentConfig) subnetOf(a netip.Prefix) (Subnet, bool) {
	for _, s := range n.Subnets {
		if s.CIDR.Contains(a.Addr()) {
			return s, true
		}
	}
	return Subnet{}, false
}

var placeholder = regexp.MustCompile(`\{\{\s*\.([A-Za-z0-9]+)\s*\}\}`)

// commandLine fills parameters in. It's no template engine: a word can use a declared parameter and
// nothing else, so its size and time are bounded.
func commandLine(p Profile, given map[string]string) ([]string, *Problem) {
	values, prob := parameterValues(p, given)
	if prob != nil {
		return nil, prob
	}
	words := make([]string, 0, len(p.CommandLine))
	for _, w := range p.CommandLine {
		var missing string
		out := placeholder.ReplaceAllStringFunc(w, func(m string) string {
			name := placeholder.FindStringSubmatch(m)[1]
			v, ok := values[name]
			if !ok {
				missing = name
			}
			return v
		})
		if missing != "" {
			return nil, &Problem{ProblemInvalid, fmt.Sprintf(
				"BootProfile %s uses parameter %q in its command line, but doesn't declare it; add it to spec.parameters", p.Name, missing)}
		}
		if strings.Contains(out, "{{") {
			return nil, &Problem{ProblemInvalid, fmt.Sprintf(
				"command line word %q of BootProfile %s is no plain {{ .name }}; only declared parameters can be used", w, p.Name)}
		}
		words = append(words, out)
	}
	return words, nil
}

func parameterValues(p Profile, given map[string]string) (map[string]string, *Problem) {
	values := map[string]string{}
	for _, d := range p.Parameters {
		v, ok := given[d.Name]
		if !ok && d.Default == nil {
			return nil, &Problem{ProblemInvalid, fmt.Sprintf(
				"parameter %q of BootProfile %s has no default and isn't given; set spec.parameters.%s", d.Name, p.Name, d.Name)}
		}
		if !ok {
			v = *d.Default
		}
		re, err := regexp.Compile(`^(?:` + d.Pattern + `)$`)
		if err != nil {
			return nil, &Problem{ProblemInvalid, fmt.Sprintf("pattern of parameter %q of BootProfile %s isn't RE2: %v", d.Name, p.Name, err)}
		}
		if !re.MatchString(v) {
			return nil, &Problem{ProblemInvalid, fmt.Sprintf(
				"parameter %q is %q, which doesn't match %q of BootProfile %s", d.Name, v, d.Pattern, p.Name)}
		}
		// Whatever the pattern says, a value never becomes a second word.
		if i := strings.IndexFunc(v, partsWord); i >= 0 {
			r, _ := utf8.DecodeRuneInString(v[i:])
			return nil, &Problem{ProblemInvalid, fmt.Sprintf(
				"parameter %q is %q, which has %q in it: whatever the pattern of BootProfile %s says, no value may have blanks, quotes or what isn't printable", d.Name, v, r, p.Name)}
		}
		values[d.Name] = v
	}
	for name := range given {
		if _, ok := values[name]; !ok {
			return nil, &Problem{ProblemInvalid, fmt.Sprintf("parameter %q isn't declared by BootProfile %s; remove it, or declare it there", name, p.Name)}
		}
	}
	return values, nil
}

// partsWord says whether a rune of a value could make it more than one word of a command line.
func partsWord(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) || r == '"' }
