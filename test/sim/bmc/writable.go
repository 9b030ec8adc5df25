package bmc

import (
	"encoding/json"
	"slices"
	"strings"
)

// writeTarget is a resource that takes PATCHes: a System, its settings resource,
// its BIOS's, or a slot for virtual media.
type writeTarget struct {
	// system that the resource is of; nil is none.
	system    *system
	behaviour Behaviour
	uri       string
	body      object
	// rules say what each property takes, by its pointer. A property without a
	// rule can't be written.
	rules map[string]valueRule
	// bios says that it is the BIOS's settings resource.
	bios bool
	// after is done to a body that was written; nil is nothing.
	after func(body object)
	// promised is what after has put off; nil is nothing, or nothing that is told.
	promised *task
}

// valueRule says what is wrong with a value; the zero problem is nothing.
type valueRule func(v any) problem

// writable is what may be changed at a path; nil is nothing. Called with the
// lock held.
func (b *BMC) writable(path string) *writeTarget {
	for _, s := range b.systems {
		if t := b.biosTarget(s, path); t != nil {
			return t
		}
		if t := b.secureBootTarget(s, path); t != nil {
			return t
		}
		if t := b.oemTarget(s, path); t != nil {
			return t
		}
		settings := b.settings(s)
		onSystem := treeKey(path) == treeKey(s.uri)
		if !onSystem && (settings == "" || treeKey(path) != treeKey(settings)) {
			continue
		}
		t := &writeTarget{system: s, behaviour: s.behaviour, uri: path, body: b.store.body(path), rules: map[string]valueRule{}}
		if treeKey(b.overrideAt(s)) == treeKey(path) {
			b.overrideRules(t)
		}
		if treeKey(b.orderAt(s)) == treeKey(path) && t.has([]string{"Boot", propOrder}) {
			t.rules["Boot/"+propOrder] = eachOf(append(textsAt(t.body, "Boot", propOrder), textsAt(b.store.body(s.uri), "Boot", propOrder)...))
		}
		if onSystem {
			t.smallRules()
		}
		if len(t.rules) == 0 {
			return nil
		}

		return t
	}

	if t := b.accountTarget(path); t != nil {
		return t
	}

	return b.slotTarget(path)
}

// overrideRules are those of the boot override: what the resource lists, else
// what the System does, else what the schema has.
func (b *BMC) overrideRules(t *writeTarget) {
	system := b.store.body(t.system.uri)
	listed := func(name string, standard ...string) []string {
		own, theirs := textsAt(t.body, "Boot", name+allowable), textsAt(system, "Boot", name+allowable)
		switch {
		case len(own) > 0 && name == propTarget && t.behaviour.TargetsOfBoth:
			return append(slices.Clone(own), theirs...)
		case len(own) > 0:
			return own
		case len(theirs) > 0:
			return theirs
		default:
			return standard
		}
	}
	rules := map[string]valueRule{
		propTarget:  oneOf(listed(propTarget, "None", "Pxe", "Floppy", "Cd", "Usb", "Hdd", "BiosSetup")),
		propEnabled: oneOf(listed(propEnabled, "Disabled", "Once", "Continuous")),
		propMode:    oneOf(listed(propMode, "UEFI", "Legacy")),
		propUEFI:    anyText, propURI: anyText, propNext: oneOf(b.references(t.system)),
	}
	if offered := listed(propUEFI); len(offered) > 0 {
		rules[propUEFI] = oneOf(append(offered, "None"))
	}
	for name, rule := range rules {
		if t.has([]string{"Boot", name}) {
			t.rules["Boot/"+name] = rule
		}
	}
}

// smallRules are those of what a System has besides: only what it shows.
func (t *writeTarget) smallRules() {
	rules := map[string]valueRule{
		"AssetTag": anyText, "IndicatorLED": oneOf([]string{"Lit", "Blinking", "Off"}),
		"LocationIndicatorActive": anyFlag,
	}
	for name, rule := range rules {
		if t.body[name] != nil {
			t.rules[name] = rule
		}
	}
}

// together looks at what belongs together in one PATCH.
func (t *writeTarget) together(changes []change) []problem {
	set := map[string]string{}
	for _, c := range changes {
		set[c.path[len(c.path)-1]], _ = c.value.(string)
	}
	_, mode := set[propMode]
	target, overrides := set[propTarget]
	rule := t.behaviour.Mode
	switch {
	case rule == ModeRequired && overrides && target != "None" && !mode:
		return []problem{{message: msgIncomplete, property: "Boot/" + propMode}}
	case rule == ModeAlone && overrides && mode:
		return []problem{{message: "PropertyValueConflict", property: "Boot/" + propMode}}
	}
	if next, now := set[propNext]; target == targetNext && t.has([]string{"Boot", propNext}) && (!now || next == "") {
		return []problem{{message: msgIncomplete, property: "Boot/" + propNext}}
	}
	path := textAt(t.body, "Boot", propUEFI)
	if _, now := set[propUEFI]; now {
		path = set[propUEFI]
	}
	if target == "UefiTarget" && t.has([]string{"Boot", propUEFI}) && (path == "" || path == "None") {
		return []problem{{message: "PropertyValueConflict", property: "Boot/" + propTarget}}
	}

	return nil
}

// oneOf takes the strings of a list.
func oneOf(list []string) valueRule {
	return func(v any) problem {
		s, ok := v.(string)
		switch {
		case !ok:
			return problem{message: msgType, value: shown(v)}
		case !slices.Contains(list, s):
			return problem{message: "PropertyValueNotInList", value: shown(v)}
		default:
			return problem{}
		}
	}
}

// eachOf takes lists of a list's strings, each once.
func eachOf(list []string) valueRule {
	return func(v any) problem {
		items, ok := v.([]any)
		if !ok {
			return problem{message: msgType, value: shown(v)}
		}
		seen := map[string]bool{}
		for _, item := range items {
			if p := oneOf(list)(item); p.message != "" {
				return p
			}
			s, _ := item.(string)
			if seen[s] {
				return problem{message: "PropertyDuplicate", value: shown(v)}
			}
			seen[s] = true
		}

		return problem{}
	}
}

func anyText(v any) problem {
	if _, ok := v.(string); !ok {
		return problem{message: msgType, value: shown(v)}
	}

	return problem{}
}

// shown is a value as a message shows it.
func shown(v any) string {
	out, _ := json.Marshal(v) //nolint:errchkjson // It was JSON a moment ago.

	return strings.Trim(string(out), `"`)
}
