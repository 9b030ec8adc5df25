package inventory

import (
	"bytes"
	"encoding/hex"
	"net"
	"regexp"
	"slices"
	"strings"
)

// Where a MAC was found.
const (
	SourceEthernetInterface = "EthernetInterfaces"
	SourceDeviceFunction    = "NetworkDeviceFunctions"
	SourcePort              = "Ports"
	SourceBaseAdapter       = "BaseNetworkAdapters"
	SourceBootOption        = "BootOptions"
	SourceOEMBootOrder      = "OemBootOrder"
	SourceBIOSName          = "BIOSNames"
	SourceBaseMAC           = "BaseMAC"
)

// Why an address isn't taken for one of the machine's.
const (
	// ReasonPlaceholder: a word, zeros, or all FF.
	ReasonPlaceholder = "Placeholder"
	// ReasonMulticast: no NIC's.
	ReasonMulticast = "Multicast"
	// ReasonNotEthernet: as long as an InfiniBand GUID and the like.
	ReasonNotEthernet = "NotEthernet"
	// ReasonShared: every machine of a kind has it.
	ReasonShared = "Shared"
	// ReasonHostInterface: the BMC's NIC towards the host.
	ReasonHostInterface = "HostInterface"
	// ReasonBMC: the BMC's own.
	ReasonBMC = "BMC"
	// ReasonLocal: locally administered, beside burnt-in ones.
	ReasonLocal = "LocalBesideBurntIn"
	// ReasonDuplicate: one place lists it for several ports.
	ReasonDuplicate = "Duplicate"
)

// MAC is one address of a machine.
type MAC struct {
	// Address in lower case with colons.
	Address string
	// Port is the id of the resource that had it, such as NIC.Embedded.1-1.
	Port string
	// Source is the first place that had it.
	Source string
	// Permanent says that the BMC lists it as PermanentMACAddress.
	Permanent bool
	// Enabled is Yes or No where the BMC tells whether the port is, else "".
	Enabled string
}

// Discarded is an address that isn't taken for one of the machine's.
type Discarded struct{ Address, Source, Reason string }

// shared are addresses that every machine of a kind has, and so identify none.
var shared = []string{ //nolint:gochecknoglobals // A table.
	"00:1a:ca:ff:ff:01", // BlueField's tmfifo towards its host
	"00:1a:ca:ff:ff:02",
}

// ParseMAC normalises a MAC as BMCs write it: any case, with colons, dashes,
// dots or nothing between. It reports false for anything that can't be the
// address of one NIC: words, multicast, all zero, all FF, addresses that every
// machine of a kind shares.
func ParseMAC(s string) (string, bool) {
	mac, reason := read(s)

	return mac, reason == ""
}

// read is ParseMAC with a reason: "" is none. Nothing at all has one, too.
func read(s string) (mac, reason string) {
	const length = 6
	digits := strings.NewReplacer(":", "", "-", "", ".", "").Replace(strings.TrimSpace(s))
	b, err := hex.DecodeString(digits)
	switch {
	case err != nil, len(b) < length, bytes.Equal(b, make([]byte, len(b))), bytes.Equal(b, bytes.Repeat([]byte{0xff}, len(b))):
		return "", ReasonPlaceholder
	case len(b) > length:
		return "", ReasonNotEthernet
	case b[0]&1 == 1:
		return "", ReasonMulticast
	}
	mac = net.HardwareAddr(b).String()
	if slices.Contains(shared, mac) {
		return "", ReasonShared
	}

	return mac, ""
}

// local says whether a normalised MAC is locally administered (IEEE 802, bit 1
// of the first octet): made up by software and not burnt in.
func local(mac string) bool {
	hw, err := net.ParseMAC(mac)

	return err == nil && hw[0]&2 != 0
}

var (
	pathMAC = regexp.MustCompile(`(?i)(?:^|[/)])MAC\(([0-9A-F]{12})`)
	pathUSB = regexp.MustCompile(`(?i)(?:^|[/)])USB\(`)
	textMAC = regexp.MustCompile(`(?i)(?:^|[^0-9A-F:])((?:[0-9A-F]{2}:){5}[0-9A-F]{2})(?:$|[^0-9A-F:])`)
	nameMAC = regexp.MustCompile(`_([0-9A-F]{12})_`)
)

// MACOfDevicePath takes the MAC out of a UEFI device path (UEFI 2.10, 10.3.5.11).
// A locally administered MAC behind USB is the BMC's NIC towards the host.
func MACOfDevicePath(path string) (string, bool) {
	mac, reason := ofPath(path)
	if reason != "" {
		return "", false
	}

	return mac, mac != ""
}

// ofPath is MACOfDevicePath with a reason; a path without a MAC has neither.
func ofPath(path string) (mac, reason string) {
	found := pathMAC.FindStringSubmatch(path)
	if found == nil {
		return "", ""
	}
	mac, reason = read(found[1])
	if reason == "" && local(mac) && pathUSB.MatchString(path) {
		reason = ReasonHostInterface
	}

	return mac, reason
}

// A finding is an address as one place tells it.
type finding struct {
	MAC

	// raw is how it's spelt there, and reason why it isn't one; "" where it is.
	raw, reason string
}

// ofNIC are the addresses that one resource names. The BMC's interface towards
// the host (HostInterface) isn't a NIC of the machine.
func ofNIC(b NICBody, uri, source string) []finding {
	var out []finding
	port := bounded(string(b.ID), maxPort)
	if port == "" {
		port = bounded(lastOf(uri), maxPort)
	}
	add := func(raw text, permanent bool) {
		if raw == "" {
			return
		}
		mac, reason := read(string(raw))
		if b.Links.HostInterface != "" {
			reason = ReasonHostInterface
		}
		out = append(out, finding{MAC{Address: mac, Port: port, Source: source, Permanent: permanent, Enabled: b.enabled()}, string(raw), reason})
	}
	if mac, reason := ofPath(string(b.DevicePath)); mac != "" || reason != "" {
		raw := pathMAC.FindStringSubmatch(string(b.DevicePath))[1]
		out = append(out, finding{MAC{Address: mac, Port: port, Source: source}, raw, reason})
	}
	add(b.Permanent, true)
	add(b.Ethernet.Permanent, true)
	add(b.MAC, false)
	add(b.Ethernet.MAC, false)
	for _, raw := range append(slices.Clone(b.Ethernet.Ports), b.NetworkPort...) {
		add(text(raw), false)
	}

	return out
}

// enabled says whether a port is, as far as its resource tells.
func (b NICBody) enabled() string {
	switch {
	case b.Enabled.Known && !b.Enabled.True, oneOf(b.Function, "Disabled") != "":
		return "No"
	case b.Enabled.Known, b.Function != "":
		return "Yes"
	default:
		return ""
	}
}

func lastOf(uri string) string {
	uri = strings.TrimRight(uri, "/")

	return uri[strings.LastIndexByte(uri, '/')+1:]
}

// mergeMACs makes one list of what was found, each address once with its first
// source. It leaves out the BMC's own addresses, except those that firmware
// boots from: where a BMC shares its resources with the machine (BlueField)
// they are the machine's too. Locally administered addresses beside burnt-in
// ones are junk of disabled functions; alone they are a virtual machine's.
func mergeMACs(found []finding, own []string) (macs []MAC, junk []Discarded) {
	boots, burnt := map[string]bool{}, false
	for _, f := range found {
		boots[f.Address] = boots[f.Address] || f.Source == SourceBootOption
	}
	mine := map[string]bool{}
	for _, a := range own {
		mine[a] = !boots[a]
	}
	for _, f := range found {
		burnt = burnt || (f.reason == "" && !local(f.Address) && !mine[f.Address])
	}
	index := map[string]int{}
	for _, f := range found {
		switch {
		case f.reason != "":
		case mine[f.Address]:
			f.reason = ReasonBMC
		case burnt && local(f.Address):
			f.reason = ReasonLocal
		}
		i, seen := index[f.Address]
		switch {
		case f.reason != "":
			junk = discard(junk, f)
		case !seen:
			index[f.Address] = len(macs)
			macs = append(macs, f.MAC)
		default:
			macs[i].Permanent = macs[i].Permanent || f.Permanent
			if macs[i].Enabled == "" {
				macs[i].Enabled = f.Enabled
			}
			if macs[i].Source == f.Source && macs[i].Port != f.Port && f.Source == SourceEthernetInterface {
				f.reason = ReasonDuplicate
				junk = discard(junk, f)
			}
		}
	}

	return macs, junk
}

// maxDiscarded bounds what is shown of addresses that aren't taken.
const maxDiscarded = 32

// discard adds an address that isn't taken, once.
func discard(junk []Discarded, f finding) []Discarded {
	const limit = 32
	d := Discarded{Address: f.Address, Source: f.Source, Reason: f.reason}
	if d.Address == "" {
		d.Address = line(f.raw, limit)
	}
	if d.Address == "" || len(junk) >= maxDiscarded || slices.Contains(junk, d) {
		return junk
	}

	return append(junk, d)
}
