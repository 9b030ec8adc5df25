package bmc

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
)

const (
	propAttributes = "Attributes"
	propSettings   = "@Redfish.Settings"
	propApplyTime  = "@Redfish.SettingsApplyTime"
)

// bios are the two resources of a System's BIOS: what is in force, and what
// comes with a boot; "" where there is none.
func (b *BMC) bios(s *system) (active, settings string) {
	active = linkAt(b.store.body(s.uri), "Bios")
	settings = linkAt(b.store.body(active), propSettings, "SettingsObject")
	if b.store.body(settings) == nil {
		settings = ""
	}

	return active, settings
}

// biosTarget is what the BIOS's settings resource takes: the attributes that
// are in force, as the registry describes them.
func (b *BMC) biosTarget(s *system, path string) *writeTarget {
	active, settings := b.bios(s)
	if settings == "" || treeKey(path) != treeKey(settings) {
		return nil
	}
	t := &writeTarget{system: s, behaviour: s.behaviour, uri: path, body: b.store.body(settings), rules: map[string]valueRule{}, bios: true}
	if t.body[propAttributes] == nil {
		t.body = copied(t.body)
		t.body[propAttributes] = object{}
	}
	entries := b.registry(active)
	current, _ := b.store.body(active)[propAttributes].(object)
	for name, value := range current {
		t.rules[propAttributes+"/"+name] = attributeRule(entries[name], value)
	}
	if times := textsAt(b.store.body(active), propSettings, "SupportedApplyTimes"); len(times) > 0 && !s.behaviour.NoApplyTime {
		t.rules[propApplyTime] = func(v any) problem { return oneOf(times)(at(v, "ApplyTime")) }
	}

	return t
}

// registry is the attribute registry of a BIOS, by attribute. A capture may
// have it anywhere, and real BMCs name it otherwise than they call it.
func (b *BMC) registry(active string) map[string]object {
	out := map[string]object{}
	name := strings.ToLower(textAt(b.store.body(active), "AttributeRegistry"))
	name, _, _ = strings.Cut(name, ".")
	for _, uri := range slices.Sorted(maps.Keys(b.store.base.resources)) {
		body := b.store.body(uri)
		list, ok := at(body, "RegistryEntries", propAttributes).([]any)
		if !ok || !strings.Contains(strings.ToLower(uri+textAt(body, "Id")), "bios") || !strings.Contains(strings.ToLower(uri+textAt(body, "Id")), name) {
			continue
		}
		for _, e := range list {
			if entry, ok := e.(object); ok {
				out[textAt(entry, "AttributeName")] = entry
			}
		}

		break
	}

	return out
}

// attributeRule takes what an entry of the registry describes, or, where there
// is none, values of the type that is in force.
func attributeRule(entry object, current any) valueRule {
	return func(v any) problem {
		if yes, _ := entry["ReadOnly"].(bool); yes {
			return problem{message: "PropertyNotWritable"}
		}
		switch textAt(entry, "Type") {
		case "Enumeration":
			var values []string
			list, _ := entry["Value"].([]any)
			for _, e := range list {
				values = append(values, textAt(e, "ValueName"))
			}

			return oneOf(values)(v)
		case "Integer":
			return inRange(entry, v)
		case "String", "Password":
			return anyText(v)
		case "Boolean":
			return anyFlag(v)
		}
		if current != nil && kindOf(v) != kindOf(current) {
			return problem{message: msgType, value: shown(v)}
		}

		return problem{}
	}
}

func inRange(entry object, v any) problem {
	if kindOf(v) != kindOf(json.Number("")) {
		return problem{message: msgType, value: shown(v)}
	}
	n := numberAt(object{"n": v}, "n")
	if low, ok := entry["LowerBound"]; ok && low != nil && n < numberAt(entry, "LowerBound") {
		return problem{message: "PropertyValueOutOfRange", value: shown(v)}
	}
	if high, ok := entry["UpperBound"]; ok && high != nil && n > numberAt(entry, "UpperBound") {
		return problem{message: "PropertyValueOutOfRange", value: shown(v)}
	}

	return problem{}
}

// kindOf is the type of a decoded JSON value in a word.
func kindOf(v any) string {
	switch v.(type) {
	case json.Number:
		return "number"
	case string:
		return "string"
	case bool:
		return "boolean"
	case nil:
		return "null"
	default:
		return "other"
	}
}

// staged notes that a BIOS change waits. An iDRAC makes its job where the PATCH
// says when, else somebody has to ask for one.
func (s *system) staged(changes []change) {
	s.biosWaits = true
	for _, c := range changes {
		if c.path[0] == propApplyTime {
			s.biosJob = true
		}
	}
}

// blocked says that a change is under way and bars the next (iDRAC's SYS011).
func (t *writeTarget) blocked() bool {
	return t.bios && t.behaviour.BIOSJob && t.system.biosWaits && t.system.biosJob
}

// applyBIOS is what firmware does with a boot: what was staged is in force, but
// for what the machine doesn't take.
func (b *BMC) applyBIOS(s *system) {
	if !s.biosWaits || s.behaviour.BIOSJob && !s.biosJob {
		return
	}
	s.biosWaits, s.biosJob = false, false
	active, settings := b.bios(s)
	pending, _ := b.store.body(settings)[propAttributes].(object)
	b.store.change(active, func(body object) {
		if current, ok := body[propAttributes].(object); ok {
			for name, v := range pending {
				if !slices.Contains(b.stubborn, name) {
					current[name] = v
				}
			}
		}
	})
	now := b.store.body(active)[propAttributes]
	b.store.change(settings, func(body object) {
		delete(body, propApplyTime)
		body[propAttributes] = object{}
		if b.fullCopy(settings) {
			body[propAttributes] = copiedValue(now)
		}
	})
}

// fullCopy says whether a settings resource shows what is in force beside what
// waits: then it did in the tree.
func (b *BMC) fullCopy(settings string) bool {
	r := b.store.base.resources[treeKey(settings)]
	attributes, _ := at(r.body, propAttributes).(object)

	return len(attributes) > 0
}

// KeepAttributes makes the machines' firmware keep BIOS attributes as they are
// whatever is staged, without a word.
func (b *BMC) KeepAttributes(names ...string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.stubborn = names
}

// StageAttributes has somebody else stage BIOS attributes of a System, past the
// BMC's clients.
func (b *BMC) StageAttributes(systemID string, values map[string]any) error {
	s := b.system(systemID)
	if s == nil {
		return fmt.Errorf("no System %q", systemID)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	_, settings := b.bios(s)
	b.store.change(settings, func(body object) {
		staged, ok := body[propAttributes].(object)
		if !ok {
			staged = object{}
			body[propAttributes] = staged
		}
		maps.Copy(staged, values)
	})
	s.biosWaits = true

	return nil
}

// configJob makes an iDRAC's job for what is staged; false is no such request.
func (b *BMC) configJob(w http.ResponseWriter, r *http.Request, path string) bool {
	if !strings.HasSuffix(treeKey(path), "/jobs") {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range b.systems {
		if !s.behaviour.BIOSJob || b.store.body(path) == nil {
			continue
		}
		body, _ := bodyOf(r)
		_, settings := b.bios(s)
		if treeKey(textAt(body, "TargetSettingsURI")) != treeKey(settings) || !s.biosWaits || s.biosJob {
			b.fail(w, http.StatusBadRequest, problem{message: "ActionParameterNotSupported", property: "TargetSettingsURI"})

			return true
		}
		s.biosJob = true
		w.Header().Set("Location", strings.TrimRight(path, "/")+"/JID_1")
		headers(w)
		w.WriteHeader(http.StatusOK)

		return true
	}

	return false
}
