package bootspec

import (
	"encoding/hex"
	"net/netip"
	"slices"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// routes gives those of a subnet. What no schema would let in is left out.
func routes(s v1alpha1.Subnet) (out []boot.Route) {
	for _, r := range s.Routes {
		to, err := netip.ParsePrefix(r.To)
		via, also := netip.ParseAddr(r.Via)
		if err == nil && also == nil && to.Addr().Is4() && via.Is4() {
			out = append(out, boot.Route{To: to.Masked(), Via: via})
		}
	}
	return out
}

// options gives those of a network as DHCP says them. What no schema would let in is left out.
func options(list []v1alpha1.DHCPOption) (out []boot.DHCPOption) {
	for _, o := range list {
		value, ok := valueOf(o)
		if !ok || len(value) == 0 || len(value) > maxOption || o.Code < 1 || o.Code > 254 || slices.Contains(ownOptions(), o.Code) {
			continue
		}
		out = append(out, boot.DHCPOption{Code: byte(o.Code), Value: value, VendorClass: o.VendorClass, Always: o.Always})
	}
	return out
}

// maxOption is how long the value of an option may be, in octets (RFC 2132 §2).
const maxOption = 255

// ownOptions are bootd's own.
func ownOptions() []int32 {
	return []int32{1, 3, 6, 12, 15, 26, 28, 42, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 66, 67, 77, 82, 93, 94, 97, 118, 121, 175, 249}
}

// valueOf gives an option's value; false: it can't be read.
func valueOf(o v1alpha1.DHCPOption) ([]byte, bool) {
	switch {
	case o.Text != "":
		return []byte(o.Text), true
	case o.Hex != "":
		b, err := hex.DecodeString(o.Hex)
		return b, err == nil
	}
	var out []byte
	for _, s := range o.Addresses {
		a, err := netip.ParseAddr(s)
		if err != nil || !a.Is4() {
			return nil, false
		}
		out = append(out, a.AsSlice()...)
	}
	return out, true
}

func validRoutes(f faults, cidr netip.Prefix, rs []v1alpha1.Route) {
	f.whenf(len(rs) > 16, "routes has more than 16 routes")
	seen := map[string]bool{}
	for i, r := range rs {
		at := f.field("[%d]", i)
		to, err := netip.ParsePrefix(r.To)
		at.field(".to").whenf(err != nil || !to.Addr().Is4() || to != to.Masked() || to.Bits() == 0,
			"to must be an IPv4 network such as 10.20.0.0/16, without host bits; the way to everywhere is gateway")
		at.field(".to").whenf(seen[r.To], "route to %s is there twice", r.To)
		seen[r.To] = true
		via, err := netip.ParseAddr(r.Via)
		at.field(".via").whenf(err != nil || !via.Is4(), "via must be an IPv4 address, such as 10.77.0.254")
		f.whenf(err == nil && via.Is4() && !cidr.Contains(via), "via of a route must be inside cidr")
	}
}

func validOptions(f faults, list []v1alpha1.DHCPOption) {
	f.whenf(len(list) > 32, "options has more than 32 options")
	for i, o := range list {
		at := f.field("[%d]", i)
		said := 0
		for _, is := range []bool{o.Text != "", o.Hex != "", len(o.Addresses) > 0} {
			if is {
				said++
			}
		}
		at.whenf(said != 1, "an option has exactly one of text, hex and addresses")
		at.field(".code").whenf(o.Code < 1 || o.Code > 254, "code should be from 1 to 254")
		at.field(".code").whenf(slices.Contains(ownOptions(), o.Code),
			"this option is bootd's own: DNS, NTP, domain, mtu, routes and leaseDuration have fields, and what is booted is a BootProfile's")
		at.field(".code").whenf(o.Code == 43 && o.VendorClass == "", "option 43 goes with vendorClass: whoever understands another vendor's is reconfigured by it")
		value, ok := valueOf(o)
		at.field(".hex").whenf(!ok && o.Hex != "", "hex must be octets, such as 0a4d0005")
		at.field(".addresses").whenf(!ok && o.Hex == "", "addresses must be IPv4 addresses, such as 10.77.0.5")
		at.whenf(ok && len(value) > maxOption, "an option has at most 255 octets")
		at.field(".text").whenf(!printable(o.Text), "text must be printable ASCII")
		at.field(".vendorClass").whenf(!printable(o.VendorClass) || len(o.VendorClass) > 64, "vendorClass must be at most 64 printable characters")
	}
}

func printable(s string) bool {
	for _, c := range []byte(s) {
		if c < ' ' || c > '~' {
			return false
		}
	}
	return true
}
