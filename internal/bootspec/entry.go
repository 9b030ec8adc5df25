package bootspec

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"net/netip"
	"slices"
	"sort"
	"strings"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// Entry gives a BootEntry with its addresses (Addresses) as plans need it. data is what its machine is given beside its image (Data), installed
// the generation that is known to be on its disk.
func Entry(e *v1alpha1.BootEntry, addresses []netip.Prefix, data map[string][]byte, installed int64) boot.Entry {
	p := e.Spec.ForProvider
	out := boot.Entry{
		Name: boot.Name{Namespace: e.Namespace, Name: e.Name}, UID: string(e.UID), Since: e.CreationTimestamp.Time,
		Parameters: p.Parameters, Hostname: p.Hostname, Addresses: addresses,
		InstallGeneration: p.Install.Generation, InstalledGeneration: installed,
		Otherwise: boot.Otherwise(p.Otherwise),
	}
	if len(p.Networks) > 0 {
		out.Interface = Interface(p.Networks[0].Interface)
		out.Allocated = slices.ContainsFunc(p.Networks[0].Addresses, func(a v1alpha1.EntryAddress) bool { return a.Ref != nil })
	}
	if len(data) > 0 {
		out.UserDataSecret, out.UserDataDigest = DataName(e), boot.DataDigest(data)
	}
	return out
}

// Address reads the address of a machine with its mask.
func Address(s string) (netip.Prefix, *boot.Problem) {
	p, err := netip.ParsePrefix(s)
	if err != nil || p.Addr().Is4In6() {
		return netip.Prefix{}, no(v1alpha1.ReasonInvalid, "address %q isn't an IP address with its mask, such as 10.77.0.11/24 or fd00:77::11/64", s)
	}
	return p, nil
}

// Addresses reads those of a machine: one, or one of each family. They come in the order of a plan, that of IPv4 first, however they're
// written.
func Addresses(texts []string) ([]netip.Prefix, *boot.Problem) {
	var out []netip.Prefix
	for _, s := range texts {
		p, prob := Address(s)
		if prob != nil {
			return nil, prob
		}
		for _, other := range out {
			if other.Addr().Is4() == p.Addr().Is4() {
				return nil, no(v1alpha1.ReasonInvalid, "addresses %s and %s are of one family; name one of IPv4 and one of IPv6, or one alone", other, p)
			}
		}
		out = append(out, p)
	}
	slices.SortFunc(out, func(a, b netip.Prefix) int { return cmp.Compare(a.Addr().BitLen(), b.Addr().BitLen()) })
	return out, nil
}

// RawAddresses reads those that an entry names itself.
func RawAddresses(e *v1alpha1.BootEntry) ([]netip.Prefix, *boot.Problem) {
	var texts []string
	for _, a := range e.Spec.ForProvider.Networks[0].Addresses {
		texts = append(texts, a.Address)
	}
	return Addresses(texts)
}

// RawMachine gives a machine that is named by its MACs, or by the port that it's behind.
func RawMachine(m v1alpha1.MachineSelector) boot.Machine {
	port, _ := PortOf(m.Port) // What is wrong with it is told where it's looked at.
	return boot.Machine{
		HostUID: RawUID(m), Port: port, MACs: m.MACs, UUID: m.UUID, Serial: m.Serial, FirstStage: boot.FirstStage(m.FirstStage), LocalBoot: boot.LocalBoot(m.LocalBoot),
	}
}

// RawUID stands for the UID of a host where a machine has none: RawHostUID, or without any MAC that of its port.
func RawUID(m v1alpha1.MachineSelector) string {
	if len(m.MACs) == 0 {
		return portUID(m.Port)
	}
	return RawHostUID(m.MACs)
}

// RawHostUID is a hash of the MACs of a machine without a host. "" without any.
func RawHostUID(macs []string) string {
	macs = append([]string(nil), macs...)
	if len(macs) == 0 {
		return ""
	}
	for i := range macs {
		macs[i] = plainMAC(macs[i])
	}
	sort.Strings(macs)
	s := sha256.Sum256([]byte(strings.Join(macs, ",")))
	return boot.HostByMACs + hex.EncodeToString(s[:16])
}

// HostMachine gives the machine of a bound host.
func HostMachine(h *v1alpha1.RedfishHost) boot.Machine {
	out := boot.Machine{
		HostUID: string(h.UID), Bound: true, UUID: h.Status.AtProvider.Identity.UUID, Serial: h.Status.AtProvider.Identity.Serial,
		MACs: append([]string(nil), h.Spec.ForProvider.MACs...), CommandLine: h.Spec.ForProvider.CommandLine,
		LocalBoot:  boot.LocalBoot(h.Spec.ForProvider.LocalBoot),
		FirstStage: boot.FirstStage(h.Spec.ForProvider.FirstStage),
	}
	for _, mac := range h.Status.AtProvider.MACs {
		out.MACs = append(out.MACs, mac.Address)
	}
	return out
}
