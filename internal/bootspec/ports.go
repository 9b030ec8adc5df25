package bootspec

import (
	"fmt"
	"slices"
	"strings"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// Named gives an entry whose ports are known by their MACs: those that it names as its bound host's BMC does are looked up there, and nowhere
// else. An entry that names none is given back as it is.
func Named(e *v1alpha1.BootEntry, h *v1alpha1.RedfishHost) (*v1alpha1.BootEntry, *boot.Problem) {
	ns := e.Spec.ForProvider.Networks
	if len(ns) == 0 || ns[0].Interface == nil || len(ns[0].Interface.Ports) == 0 {
		return e, nil
	}
	var has []v1alpha1.HostMAC
	if h != nil {
		has = hostMACs(h)
	}
	var macs []string
	for _, port := range ns[0].Interface.Ports {
		mac, prob := portMAC(port, has)
		if prob != nil {
			return nil, prob
		}
		if slices.Contains(macs, mac) {
			return nil, no(v1alpha1.ReasonInvalid, "interface.ports names %s twice, the second time as %q; name each port once", mac, port)
		}
		macs = append(macs, mac)
	}
	out := e.DeepCopy()
	i := out.Spec.ForProvider.Networks[0].Interface
	i.Ports, i.MACs = nil, macs
	return out, nil
}

// hostMACs are those that a host's BMC lists, and those that its spec adds, which have no port.
func hostMACs(h *v1alpha1.RedfishHost) []v1alpha1.HostMAC {
	out := slices.Clone(h.Status.AtProvider.MACs)
	for _, mac := range h.Spec.ForProvider.MACs {
		out = append(out, v1alpha1.HostMAC{Address: mac})
	}
	return out
}

// portMAC is the MAC of a host's port, by its name or by that MAC itself. A port with several, which is shared by what BMCs call partitions or
// functions, or which adapters each have one of, isn't guessed.
func portMAC(port string, has []v1alpha1.HostMAC) (string, *boot.Problem) {
	var found []string
	itself, _ := boot.ParseMAC(port) // "" where it's a name, which no MAC is.
	for _, m := range has {
		mac, err := boot.ParseMAC(m.Address)
		named := port != "" && m.Port == port
		if err == nil && (named || mac == itself) && !slices.Contains(found, string(mac)) {
			found = append(found, string(mac))
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		if !slices.ContainsFunc(has, func(m v1alpha1.HostMAC) bool { return m.Port != "" }) {
			return "", no(v1alpha1.ReasonWaitingForHost, "interface names port %q, and the machine's BMC has named no port yet: the machine has %s; where it never does, name the port by its MAC", port, portsOf(has))
		}
		return "", no(v1alpha1.ReasonInvalid, "interface names port %q, which the machine doesn't have: it has %s; name one of these, or its MAC", port, portsOf(has))
	}
	return "", no(v1alpha1.ReasonInvalid, "interface names port %q, and the machine has that with %s; name one by its MAC", port, strings.Join(found, " and with "))
}

// portsOf lists the ports of a machine for a person, each once.
func portsOf(has []v1alpha1.HostMAC) string {
	var out, known []string
	for _, m := range has {
		mac, err := boot.ParseMAC(m.Address)
		if err != nil || slices.Contains(known, string(mac)) {
			continue
		}
		known = append(known, string(mac))
		if m.Port == "" {
			out = append(out, string(mac)+" without a name")
			continue
		}
		out = append(out, fmt.Sprintf("%q (%s)", m.Port, mac))
	}
	if len(out) == 0 {
		return "none that is known"
	}
	return strings.Join(out, ", ")
}
