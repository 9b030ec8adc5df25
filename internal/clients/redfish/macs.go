package redfish

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
	SourceBootOption        = "BootOptions"
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
}

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
	const length = 6
	digits := strings.NewReplacer(":", "", "-", "", ".", "").Replace(strings.TrimSpace(s))
	mac, err := hex.DecodeString(digits)
	if err != nil || len(mac) != length || mac[0]&1 == 1 || bytes.Equal(mac, make([]byte, length)) {
		return "", false
	}

	address := net.HardwareAddr(mac).String()

	return address, !slices.Contains(shared, address)
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
)

// macOfDevicePath takes the MAC out of a UEFI device path (UEFI 2.10, 10.3.5.11).
// A locally administered MAC behind USB is the BMC's NIC towards the host.
func macOfDevicePath(path string) (string, bool) {
	found := pathMAC.FindStringSubmatch(path)
	if found == nil {
		return "", false
	}
	mac, ok := ParseMAC(found[1])
	if ok && local(mac) && pathUSB.MatchString(path) {
		return "", false
	}

	return mac, ok
}

// merge makes one list of what was found, each address once with its first
// source. It leaves out the BMC's own addresses, except those that firmware
// boots from: where a BMC shares its resources with the machine (BlueField)
// they are the machine's too. Locally administered addresses beside burnt-in
// ones are junk of disabled functions; alone they are a virtual machine's.
func merge(found []MAC, own []string) []MAC {
	boots, burnt := map[string]bool{}, false
	for _, m := range found {
		boots[m.Address] = boots[m.Address] || m.Source == SourceBootOption
	}
	mine := map[string]bool{}
	for _, a := range own {
		mine[a] = !boots[a]
	}
	for _, m := range found {
		burnt = burnt || (!local(m.Address) && !mine[m.Address])
	}
	index := map[string]int{}
	var out []MAC
	for _, m := range found {
		if mine[m.Address] || (burnt && local(m.Address)) {
			continue
		}
		if i, seen := index[m.Address]; seen {
			out[i].Permanent = out[i].Permanent || m.Permanent
			continue
		}
		index[m.Address] = len(out)
		out = append(out, m)
	}

	return out
}
