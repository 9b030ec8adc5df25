package bmc

const propSecureBoot = "SecureBootEnable"

// secureBootTarget is what a System's SecureBoot resource takes: whether it's to
// be on from the next boot on.
func (b *BMC) secureBootTarget(s *system, path string) *writeTarget {
	uri := linkAt(b.store.body(s.uri), "SecureBoot")
	if uri == "" || treeKey(path) != treeKey(uri) || b.store.body(uri) == nil {
		return nil
	}

	return &writeTarget{
		system: s, behaviour: s.behaviour, uri: path, body: b.store.body(uri), rules: map[string]valueRule{propSecureBoot: anyFlag},
	}
}

// applySecureBoot is what firmware does with a boot.
func (b *BMC) applySecureBoot(s *system) {
	uri := linkAt(b.store.body(s.uri), "SecureBoot")
	body := b.store.body(uri)
	if uri == "" || body == nil {
		return
	}
	if s.secureBoot != nil {
		b.store.change(uri, func(o object) { o[propSecureBoot] = s.secureBoot })
		body, s.secureBoot = b.store.body(uri), nil
	}
	current := "Disabled"
	if on, _ := body[propSecureBoot].(bool); on {
		current = "Enabled"
	}
	if body["SecureBootCurrentBoot"] == nil || body["SecureBootCurrentBoot"] == current {
		return
	}
	b.store.change(uri, func(o object) { o["SecureBootCurrentBoot"] = current })
}
