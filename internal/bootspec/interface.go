package bootspec

import (
	"slices"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// defaultBond is the name of a bond that has none.
const defaultBond = "bond0"

// leastMTU and mostMTU are those of a BootNetwork, too.
const leastMTU, mostMTU = 576, 9216

// Interface gives what a machine's system has its network on. MACs that are none were refused before, and are left as they are.
func Interface(i *v1alpha1.EntryInterface) *boot.Interface {
	if i == nil {
		return nil
	}
	out := &boot.Interface{DHCP: i.Addressing == v1alpha1.AddressingDHCP, VLAN: int(i.VLANID), MTU: int(i.MTU)}
	for _, s := range i.MACs {
		m, err := boot.ParseMAC(s)
		if err != nil {
			m = boot.MAC(s)
		}
		out.MACs = append(out.MACs, m)
	}
	if i.Bond != nil {
		out.Bond = &boot.Bond{Name: or(i.Bond.Name, defaultBond), Mode: boot.BondMode(i.Bond.Mode)}
	}
	return out
}

// interfaceStatus writes it as a plan in an entry's status has it.
func interfaceStatus(i *boot.Interface) *v1alpha1.EntryInterface {
	if i == nil {
		return nil
	}
	out := &v1alpha1.EntryInterface{Addressing: v1alpha1.AddressingStatic, VLANID: int32(i.VLAN), MTU: int32(i.MTU)} //nolint:gosec // Bounded by the schema.
	if i.DHCP {
		out.Addressing = v1alpha1.AddressingDHCP
	}
	for _, m := range i.MACs {
		out.MACs = append(out.MACs, string(m))
	}
	if i.Bond != nil {
		out.Bond = &v1alpha1.EntryBond{Name: i.Bond.Name, Mode: v1alpha1.BondMode(i.Bond.Mode)}
	}
	return out
}

var bondForm = formOf(`^[a-z][a-z0-9_-]{0,9}$`) //nolint:gochecknoglobals // A pattern, as regexp.MustCompile gives it.

// takenForm are names that a bond can't have, since something else has them.
var takenForm = formOf(`^(port[0-9]+|lo|all|default)$`) //nolint:gochecknoglobals // A pattern, as regexp.MustCompile gives it.

func validInterface(f faults, i *v1alpha1.EntryInterface) {
	if i == nil {
		return
	}
	f.field(".addressing").whenf(!slices.Contains([]v1alpha1.Addressing{"", v1alpha1.AddressingStatic, v1alpha1.AddressingDHCP}, i.Addressing),
		"addressing is Static or DHCP, not %q", i.Addressing)
	f.field(".from").whenf(i.From != "" && i.From != v1alpha1.InterfaceFromNetBox, "from is NetBox, or absent, and not %q", i.From)
	f.field(".mtu").whenf(i.MTU != 0 && (i.MTU < leastMTU || i.MTU > mostMTU), "mtu should be from %d to %d", leastMTU, mostMTU)
	f.field(".macs").whenf(i.Bond == nil && i.From == "" && len(i.MACs) > 1, "macs without a bond names one port")
	f.field(".macs").whenf(len(i.MACs) > 16, "macs has more than 16 addresses")
	for n, mac := range i.MACs {
		f.field(".macs[%d]", n).whenf(!macForm.MatchString(mac), "macs must look like 52:54:00:00:00:01, and one is %q", mac)
		f.field(".macs[%d]", n).whenf(slices.ContainsFunc(i.MACs[:n], func(other string) bool { return plainMAC(other) == plainMAC(mac) }), "MAC %s is there twice", mac)
	}
	f.field(".ports").whenf(len(i.Ports) > 0 && len(i.MACs) > 0, "ports and macs are two ways to name ports: remove one")
	f.field(".ports").whenf(i.Bond == nil && i.From == "" && len(i.Ports) > 1, "ports without a bond names one port")
	f.field(".vlanID").whenf(i.VLANID < 0 || i.VLANID > 4094, "vlanID should be from 1 to 4094")
	if i.Bond == nil {
		return
	}
	f.field(".bond.name").whenf(i.Bond.Name != "" && !bondForm.MatchString(i.Bond.Name),
		"name must be a lower-case letter, then at most nine letters, digits, dashes and underscores")
	f.field(".bond.name").whenf(takenForm.MatchString(i.Bond.Name), "name %s is taken: ports are port0, port1, …, and lo, all and default are the kernel's; use another, as bond0", i.Bond.Name)
	f.field(".bond.mode").whenf(!slices.Contains([]v1alpha1.BondMode{v1alpha1.BondLACP, v1alpha1.BondActiveBackup, v1alpha1.BondBalanceXOR}, i.Bond.Mode),
		"mode is LACP, ActiveBackup or BalanceXOR, not %q", i.Bond.Mode)
}
