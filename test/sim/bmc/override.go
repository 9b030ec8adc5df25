package bmc

// NextBoot tells what a System boots now and uses up a Once override. The
// emulator calls it for every reset; a Machine that reboots by itself (its OS
// asked) calls it to do what firmware would.
func (b *BMC) NextBoot(systemID string) BootTarget {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.system(systemID)
	if s == nil {
		return BootNormal
	}
	b.adoptMode(s)
	b.adoptOrder(s)
	b.applyBIOS(s)
	b.applySecureBoot(s)
	if target := b.oemBoots(s); target != BootNormal {
		return target
	}
	uri := b.overrideAt(s)
	boot := at(b.store.body(uri), "Boot")
	target, enabled := textAt(boot, propTarget), textAt(boot, propEnabled)
	if enabled == "Disabled" || target == "None" || target == "" {
		return b.bootOfOrder(s)
	}
	next := textAt(boot, propNext)
	if as := s.behaviour.StoredAs[s.meant]; as == target {
		target = s.meant
	}
	switch {
	case enabled == "Once" && !s.behaviour.Sticky:
		b.setOverride(uri, "None", "Disabled")
		if uri != s.uri {
			b.setOverride(s.uri, "None", "Disabled")
		}
	case uri != s.uri:
		b.setOverride(s.uri, textAt(boot, propTarget), enabled)
	}

	if target == targetNext && next != "" {
		return b.bootOf(s, next)
	}

	return BootTarget(target)
}

// adoptMode gives a System the mode that was waiting for a boot.
func (b *BMC) adoptMode(s *system) {
	if s.mode == "" {
		return
	}
	mode := s.mode
	s.mode = ""
	b.store.change(b.overrideAt(s), func(body object) {
		if boot, ok := body["Boot"].(object); ok {
			boot[propMode] = mode
		}
	})
}

// setOverride changes the override that a resource shows; one that shows none
// stays as it is.
func (b *BMC) setOverride(uri, target, enabled string) {
	now := at(b.store.body(uri), "Boot")
	if at(now, propTarget) == nil || textAt(now, propTarget) == target && textAt(now, propEnabled) == enabled {
		return
	}
	b.store.change(uri, func(body object) {
		if boot, ok := body["Boot"].(object); ok {
			boot[propTarget], boot[propEnabled] = target, enabled
		}
	})
}

// Override tells a System's boot override as (target, enabled), the target as
// it was asked for.
func (b *BMC) Override(systemID string) (target, enabled string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.system(systemID)
	if s == nil {
		return "", ""
	}
	boot := at(b.store.body(b.overrideAt(s)), "Boot")
	target = textAt(boot, propTarget)
	if as := s.behaviour.StoredAs[s.meant]; as != "" && as == target {
		target = s.meant
	}

	return target, textAt(boot, propEnabled)
}
