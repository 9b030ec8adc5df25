package redfish

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/inventory"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/lenient"
)

// bootOption is one of a machine's boot options (schema BootOption).
type bootOption struct {
	// reference is its name in boot orders.
	reference string
	id, name  string
	alias     string
	path      string // UEFI device path
	disabled  bool
}

// bootOptions reads a System's boot options: those of its boot order in that
// order, then the others. Those that can't be shown are left out.
func (c *Client) bootOptions(ctx context.Context, s System) ([]bootOption, error) {
	if s.bootOptions == "" {
		return nil, nil
	}
	uris, err := c.members(ctx, s.bootOptions)
	if err != nil && !skippable(err) {
		return nil, err
	}
	var out []bootOption
	for _, uri := range uris {
		var b struct {
			ID        text `json:"Id"`
			Reference text `json:"BootOptionReference"`
			Name      text `json:"DisplayName"`
			Alias     text
			Path      text         `json:"UefiDevicePath"`
			Enabled   lenient.Flag `json:"BootOptionEnabled"`
		}
		if _, err := c.get(ctx, uri, &b); err != nil {
			if skippable(err) {
				continue
			}

			return nil, err
		}
		o := bootOption{
			reference: string(b.Reference), id: clip(b.ID), name: clip(b.Name), alias: string(b.Alias), path: string(b.Path),
			disabled: b.Enabled.Known && !b.Enabled.True,
		}
		if o.reference == "" {
			o.reference = o.id
		}
		out = append(out, o)
	}
	slices.SortStableFunc(out, func(a, b bootOption) int { return rank(s.Boot.Order, a) - rank(s.Boot.Order, b) })

	return out, nil
}

// rank is where an option is in a boot order.
func rank(order []string, o bootOption) int {
	if i := slices.Index(order, o.reference); i >= 0 {
		return i
	}

	return len(order)
}

// kinds are the words of the schema that a boot option may stand for.
var kinds = []string{targetPxe, targetUefiHTTP, targetHdd, targetCd, targetUsb} //nolint:gochecknoglobals // A table.

// What boot options are named by firmware that tells no device path (Dell's
// VenHw, Supermicro X13, Lenovo), and the ends of device paths (UEFI 2.10, 10.3).
var (
	nameHTTP = regexp.MustCompile(`(?i)\bHTTP`)
	namePxe  = regexp.MustCompile(`(?i)PXE|\bnetwork\b`)
	nameCd   = regexp.MustCompile(`(?i)\b(CD|DVD|CD/DVD|CD-?ROM|DVD-?RAM)\b`)
	nameUsb  = regexp.MustCompile(`(?i)\bUSB`)
	nameHdd  = regexp.MustCompile(`(?i)hard ?(disk|drive)|\b(disk|SSD|NVMe|SATA|SAS|RAID)\b`)
	pathCd   = regexp.MustCompile(`(?i)[/)]CDROM\(`)
	pathHdd  = regexp.MustCompile(`(?i)(?:^|[/)])(NVMe|Sata|SAS|SasEx|Scsi|Ata|HD|Fibre|FibreEx|UFS|eMMC|SD|iSCSI)\(`)
	anyUsb   = regexp.MustCompile(`(?i)(?:^|[/)])Usb(Class|Wwid)?\(`)
	anyMAC   = regexp.MustCompile(`(?i)(?:^|[/)])MAC\(`)
	pathURI  = regexp.MustCompile(`(?i)[/)]Uri\(`)
	nameMAC  = regexp.MustCompile(`(?i)(?:^|[^0-9A-F:-])((?:[0-9A-F]{2}[:-]){5}[0-9A-F]{2}|[0-9A-F]{12})(?:$|[^0-9A-F:-])`)
)

// kind is what an option boots, in the schema's words; "" for what is none of
// kinds, such as a shell, and for the BMC's own NIC, which is no way to boot.
func (o bootOption) kind() string {
	for _, k := range kinds {
		if strings.EqualFold(o.alias, k) {
			return k
		}
	}
	switch {
	case anyMAC.MatchString(o.path):
		if _, ok := inventory.MACOfDevicePath(o.path); !ok {
			return ""
		}
		if pathURI.MatchString(o.path) {
			return targetUefiHTTP
		}

		return targetPxe
	case anyUsb.MatchString(o.path):
		return targetUsb
	case pathCd.MatchString(o.path):
		return targetCd
	case pathHdd.MatchString(o.path):
		return targetHdd
	default:
		return kindOfName(o.name + " " + o.reference)
	}
}

func kindOfName(name string) string {
	for _, w := range []struct {
		word *regexp.Regexp
		kind string
	}{{nameHTTP, targetUefiHTTP}, {namePxe, targetPxe}, {nameCd, targetCd}, {nameUsb, targetUsb}, {nameHdd, targetHdd}} {
		if w.word.MatchString(name) {
			return w.kind
		}
	}

	return ""
}

// mac is the address of the NIC that an option boots from, "" where it doesn't tell.
func (o bootOption) mac() string {
	if mac, ok := inventory.MACOfDevicePath(o.path); ok {
		return mac
	}
	if found := nameMAC.FindStringSubmatch(o.name); found != nil && !anyUsb.MatchString(o.path) {
		mac, _ := ParseMAC(found[1])

		return mac
	}

	return ""
}

// of are the options of a kind that are switched on.
func of(all []bootOption, kind string) []bootOption {
	var out []bootOption
	for _, o := range all {
		if !o.disabled && o.kind() == kind {
			out = append(out, o)
		}
	}

	return out
}

// named are the options that a word means: a reference or an id is one option,
// an alias, a MAC address or a display name may be several.
func named(all []bootOption, word string) []bootOption {
	word = strings.TrimSpace(word)
	mac, isMAC := ParseMAC(word)
	for _, is := range []func(bootOption) bool{
		func(o bootOption) bool { return strings.EqualFold(o.reference, word) },
		func(o bootOption) bool { return strings.EqualFold(o.id, word) },
		func(o bootOption) bool { return strings.EqualFold(o.kind(), word) && !o.disabled },
		func(o bootOption) bool { return isMAC && o.mac() == mac },
		func(o bootOption) bool { return strings.EqualFold(o.name, word) },
	} {
		var out []bootOption
		for _, o := range all {
			if is(o) {
				out = append(out, o)
			}
		}
		if len(out) > 0 {
			return out
		}
	}

	return nil
}

// shown are options for people.
func shown(all []bootOption) []string {
	var out []string
	for _, o := range all {
		s := clip(text(o.reference))
		if o.name != "" && o.name != o.reference {
			s += " (" + o.name + ")"
		}
		out = append(out, s)
	}

	return out
}

// all are the machine's boot options, read once.
func (l *ladder) all(ctx context.Context) ([]bootOption, error) {
	if l.read {
		return l.options, nil
	}
	var err error
	if l.options, err = l.c.bootOptions(ctx, l.s); err != nil {
		return nil, err
	}
	l.read = true

	return l.options, nil
}

// option is the one that fits what is wanted; of a kind it's the first one in
// the machine's own order.
func (l *ladder) option(ctx context.Context) (bootOption, error) {
	all, err := l.all(ctx)
	if err != nil {
		return bootOption{}, err
	}
	var fit []bootOption
	switch l.want.Target {
	case TargetBootOption:
		fit = named(all, l.want.Option)
		if len(fit) > 1 {
			return bootOption{}, unoffered(fmt.Sprintf("one boot option by the name %q, but several", l.want.Option), shown(fit))
		}
	case targetUefi:
		for _, o := range all {
			if o.path == l.want.DevicePath {
				fit = append(fit, o)
			}
		}
	default:
		fit = of(all, l.want.Target)
	}
	if len(fit) > 0 {
		return fit[0], nil
	}
	what, offers := "a boot option for "+l.want.Target, shown(all)
	if l.want.Target == TargetBootOption {
		what = fmt.Sprintf("a boot option %q", l.want.Option)
	}
	if len(offers) == 0 {
		offers = l.targets()
	}

	return bootOption{}, unoffered(what, offers)
}
