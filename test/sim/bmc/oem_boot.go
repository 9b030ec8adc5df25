package bmc

import (
	"slices"
	"strings"
)

// An OEMBoot is a vendor's own way to say what the next boot is from.
type OEMBoot struct {
	// Resources that have it, by the ends of their paths. All show the same.
	Resources []string
	// Target is where the property is, and Words what it takes, with what they
	// boot; Rest is the one for none.
	Target []string
	Words  map[string]BootTarget
	Rest   string
	// Once is the property that makes it for one boot, where it has the value
	// OnceIs; otherwise it's for every boot.
	Once   []string
	OnceIs any
}

// idracBoot is an iDRAC's, by its attributes (NVIDIA/libredfish, dell.rs and
// model/oem/dell.rs).
func idracBoot() *OEMBoot {
	return &OEMBoot{
		Resources: []string{"/Attributes", "/Oem/Dell/DellAttributes/iDRAC.Embedded.1"},
		Target:    []string{"Attributes", "ServerBoot.1.FirstBootDevice"}, Rest: "Normal",
		Words: map[string]BootTarget{"PXE": BootPxe, "HDD": BootHdd, "BIOS": BootBiosSetup, "UefiHttp": BootUefiHTTP, "FDD": "Floppy", "SD": "SDCard"},
		Once:  []string{"Attributes", "ServerBoot.1.BootOnce"}, OnceIs: "Enabled",
	}
}

// irmcBoot is an iRMC's (fujitsu/terraform-provider-irmc-redfish,
// resource_boot_source_override.go).
func irmcBoot() *OEMBoot {
	return &OEMBoot{
		Resources: []string{"/Oem/ts_fujitsu/BootConfig", "/Oem/Fsas/BootConfig"}, Target: []string{"BootDevice"}, Rest: "None",
		Words: map[string]BootTarget{"Pxe": BootPxe, "Cd": BootCd, "Hdd": BootHdd, "BiosSetup": BootBiosSetup},
		Once:  []string{"NextBootOnlyEnabled"}, OnceIs: true,
	}
}

// oemURIs are a System's resources for it: below it, or below one of its managers.
func (b *BMC) oemURIs(s *system) []string {
	if s.behaviour.OEMBoot == nil {
		return nil
	}
	var out []string
	managers := b.store.members(linkAt(b.store.body(pathRoot), "Managers"), pathManagers)
	for _, of := range append([]string{s.uri}, managers...) {
		for _, end := range s.behaviour.OEMBoot.Resources {
			if uri := strings.TrimRight(of, "/") + end; at(b.store.body(uri), s.behaviour.OEMBoot.Target...) != nil {
				out = append(out, uri)
			}
		}
	}

	return out
}

// oemTarget is what such a resource takes; nil where a path is none.
func (b *BMC) oemTarget(s *system, path string) *writeTarget {
	uris := b.oemURIs(s)
	if !slices.ContainsFunc(uris, func(uri string) bool { return treeKey(uri) == treeKey(path) }) {
		return nil
	}
	own := s.behaviour.OEMBoot
	words := []string{own.Rest}
	for w := range own.Words {
		words = append(words, w)
	}
	var once valueRule = anyFlag
	if _, flag := own.OnceIs.(bool); !flag {
		once = oneOf([]string{"Enabled", "Disabled"})
	}

	return &writeTarget{
		system: s, behaviour: s.behaviour, uri: path, body: b.store.body(path),
		rules: map[string]valueRule{pointer(own.Target): oneOf(words), pointer(own.Once): once},
		after: func(body object) {
			for _, uri := range uris {
				if treeKey(uri) != treeKey(path) {
					b.setOEM(uri, own.Target, at(body, own.Target...))
					b.setOEM(uri, own.Once, at(body, own.Once...))
				}
			}
		},
	}
}

// setOEM changes a property of a resource.
func (b *BMC) setOEM(uri string, path []string, value any) {
	b.store.change(uri, func(body object) {
		for _, name := range path[:len(path)-1] {
			body, _ = body[name].(object)
		}
		if body != nil {
			body[path[len(path)-1]] = value
		}
	})
}

// oemBoots is what a System boots by the vendor's own way, and uses up where it's
// for one boot; "" is nothing.
func (b *BMC) oemBoots(s *system) BootTarget {
	uris := b.oemURIs(s)
	if len(uris) == 0 {
		return BootNormal
	}
	own, now := s.behaviour.OEMBoot, b.store.body(uris[0])
	target := own.Words[textAt(now, own.Target...)]
	if target == BootNormal || at(now, own.Once...) != own.OnceIs {
		return target
	}
	for _, uri := range uris {
		b.setOEM(uri, own.Target, own.Rest)
	}

	return target
}

// OEMBoot tells what a System's own property for the next boot says; "" where it has none.
func (b *BMC) OEMBoot(systemID string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.system(systemID)
	if s == nil {
		return ""
	}
	if uris := b.oemURIs(s); len(uris) > 0 {
		return textAt(b.store.body(uris[0]), s.behaviour.OEMBoot.Target...)
	}

	return ""
}
