package bmc

import (
	"slices"
	"strings"
)

// orderAt is the resource that takes a System's persistent boot order: its
// settings resource where that shows one.
func (b *BMC) orderAt(s *system) string {
	if settings := b.settings(s); at(b.store.body(settings), "Boot", propOrder) != nil {
		return settings
	}

	return s.uri
}

// orderIn is the boot order that a machine has from its next boot on.
func (b *BMC) orderIn(st *store, s *system) []string {
	if staged := textsAt(st.body(b.orderAt(s)), "Boot", propOrder); len(staged) > 0 {
		return staged
	}

	return textsAt(st.body(s.uri), "Boot", propOrder)
}

// BootOrder tells the persistent boot order that a System has from its next boot on.
func (b *BMC) BootOrder(systemID string) []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.system(systemID)
	if s == nil {
		return nil
	}

	return slices.Clone(b.orderIn(b.store, s))
}

// adoptOrder gives a System the boot order that was staged for a boot.
func (b *BMC) adoptOrder(s *system) {
	order := b.orderIn(b.store, s)
	if now := textsAt(b.store.body(s.uri), "Boot", propOrder); len(now) == 0 || slices.Equal(now, order) {
		return
	}
	b.store.change(s.uri, func(body object) {
		if boot, ok := body["Boot"].(object); ok {
			boot[propOrder] = order
		}
	})
}

// bootOfOrder is what a machine boots without an override: what its order begins
// with, once somebody has changed that. Before, it's the machine's own business.
func (b *BMC) bootOfOrder(s *system) BootTarget {
	now, was := b.orderIn(b.store, s), b.orderIn(newStore(b.store.base), s)
	if len(now) == 0 || len(was) == 0 || now[0] == was[0] {
		return BootNormal
	}

	return b.bootOf(s, now[0])
}

// options are the boot options of a System, by what orders call them.
func (b *BMC) options(s *system) map[string]object {
	out := map[string]object{}
	for _, uri := range linksAt(b.store.body(linkAt(b.store.body(s.uri), "Boot", "BootOptions")), "Members") {
		if o := b.store.body(uri); o != nil {
			out[textAt(o, "BootOptionReference")] = o
		}
	}

	return out
}

// references are what boot orders and BootNext may name.
func (b *BMC) references(s *system) []string {
	out := textsAt(b.store.body(s.uri), "Boot", propOrder)
	for ref := range b.options(s) {
		if !slices.Contains(out, ref) {
			out = append(slices.Clone(out), ref)
		}
	}

	return out
}

// bootOf is what a boot option boots, as its device path or its name tells.
func (b *BMC) bootOf(s *system, ref string) BootTarget {
	o := b.options(s)[ref]
	path, name := strings.ToUpper(textAt(o, "UefiDevicePath")), strings.ToUpper(textAt(o, "DisplayName")+" "+ref)
	nic := strings.Contains(path, "MAC(")
	switch {
	case nic && strings.Contains(path, "URI("), !nic && strings.Contains(name, "HTTP"):
		return BootUefiHTTP
	case nic, strings.Contains(name, "PXE"), strings.Contains(name, "NETWORK"):
		return BootPxe
	case strings.Contains(path, "CDROM("), strings.Contains(name, "DVD"):
		return BootCd
	default:
		return BootHdd
	}
}

// A BootOption of a System, as its BMC lists it.
type BootOption struct{ Reference, DevicePath string }

// BootOptions lists those of a System, by their references.
func (b *BMC) BootOptions(systemID string) []BootOption {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []BootOption
	if s := b.system(systemID); s != nil {
		for ref, o := range b.options(s) {
			out = append(out, BootOption{ref, textAt(o, "UefiDevicePath")})
		}
	}
	slices.SortFunc(out, func(a, b BootOption) int { return strings.Compare(a.Reference, b.Reference) })

	return out
}

// BootOf tells what one of a System's boot options boots.
func (b *BMC) BootOf(systemID, reference string) BootTarget {
	b.mu.Lock()
	defer b.mu.Unlock()
	if s := b.system(systemID); s != nil {
		return b.bootOf(s, reference)
	}

	return BootNormal
}
