package uptest

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// A Machine that an example describes by its BMC.
type Machine struct {
	// Name is the host's.
	Name, Serial string
	// MAC of its only network card.
	MAC net.HardwareAddr
	// BMC is where its BMC listens.
	BMC netip.AddrPort
	// Boots says that a claim's machine is installed: it must be one that has firmware.
	Boots bool
}

// httpsPort is where BMCs listen.
const httpsPort = 443

// Machines are those of all objects, each once, in the order of their BMCs' addresses. The error has a sentence for each that can't be made.
func (o Objects) Machines() ([]Machine, error) {
	installed := o.hostsToInstall()
	found := map[netip.AddrPort]Machine{}
	var errs []error
	for _, u := range o {
		for _, h := range described(u.Object, u.GetKind(), u.GetName()) {
			m, err := machineOf(h, byte(len(found)+1)) //nolint:gosec // Nobody has so many.
			if err != nil {
				errs = append(errs, fmt.Errorf("%s %s: %w", u.GetKind(), u.GetName(), err))
				continue
			}
			m.Boots = installed[m.Name]
			old, ok := found[m.BMC]
			if ok && (old.Name != m.Name || old.Serial != m.Serial) {
				errs = append(errs, fmt.Errorf("%s %s: the BMC of %s has the address of %s, %s: give it another", u.GetKind(), u.GetName(), m.Name, old.Name, m.BMC))
			}
			if !ok {
				found[m.BMC] = m
			}
		}
	}
	out := make([]Machine, 0, len(found))
	for _, m := range found {
		out = append(out, m)
	}
	slices.SortFunc(out, func(a, b Machine) int { return a.BMC.Compare(b.BMC) })
	return out, errors.Join(errs...)
}

// described are the hosts that an object describes, each as a RackPool has them: with a name.
func described(o map[string]any, kind, name string) []map[string]any {
	var h map[string]any
	switch kind {
	case "RackPool":
		return each(o, "spec", "hosts")
	case "RedfishHost":
		h = nested(o, "spec", "forProvider")
	case "BareMetalNode":
		h = nested(o, "spec", "host", "bmc")
	}
	if h == nil {
		return nil
	}
	h["name"] = name
	return []map[string]any{h}
}

// machineOf a host. What it doesn't say is made of its name and its number.
func machineOf(h map[string]any, number byte) (Machine, error) {
	m := Machine{Name: text(h, "name"), Serial: text(h, "system", "serial"), MAC: net.HardwareAddr{0x52, 0x54, 0, 0x99, 1, number}}
	m.Serial = cmp.Or(m.Serial, strings.ToUpper(strings.ReplaceAll(m.Name, "-", "")))
	if macs, ok := h["macs"].([]any); ok && len(macs) > 0 {
		mac, err := net.ParseMAC(fmt.Sprint(macs[0]))
		if err != nil {
			return m, fmt.Errorf("cannot make %s: %w", m.Name, err)
		}
		m.MAC = mac
	}
	host := text(h, "address")
	if u, err := url.Parse(host); err == nil && u.Host != "" {
		host = u.Host
	}
	addr, err := netip.ParseAddr(host)
	if err != nil {
		return m, fmt.Errorf("cannot make a BMC for %s: address %q isn't an IP address: give it one in test/uptest/oncluster/world_test.go", m.Name, text(h, "address"))
	}
	m.BMC = netip.AddrPortFrom(addr, httpsPort)
	return m, nil
}

// installs says whether a claim among the objects asks for an install.
func (o Objects) installs() bool { return len(o.hostsToInstall()) > 0 }

// powers says whether a claim among the objects has a machine switched on. To give it back takes the grace of a shutdown, which begins anew
// with each provider: where others have theirs started anew all the time, it's never over.
func (o Objects) powers() bool {
	for _, u := range o {
		if u.GetKind() == "HostClaim" && text(u.Object, "spec", "power") == "PoweredOn" {
			return true
		}
	}
	return false
}

// Installed are the names of the machines that claims among the objects have installed, in order.
func (o Objects) Installed() []string { return slices.Sorted(maps.Keys(o.hostsToInstall())) }

// hostsToInstall are the names of hosts that a claim has installed.
func (o Objects) hostsToInstall() map[string]bool {
	out := map[string]bool{}
	for _, u := range o {
		if _, ok := nested(u.Object, "spec")["installGeneration"]; !ok || u.GetKind() != "BareMetalNode" {
			continue
		}
		name := text(u.Object, "spec", "host", "ref", "name")
		if name == "" {
			name = u.GetName() // A machine of the tenant's own.
		}
		out[name] = true
	}
	return out
}
