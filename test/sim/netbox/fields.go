package netbox

import (
	"maps"
	"math"
	"net/http"
	"regexp"
	"slices"
	"time"
)

// A CustomField of this NetBox.
type CustomField struct {
	ID          int64
	Name        string
	ObjectTypes []string
	// Type is "text", "integer", "boolean", "select" or "object"; values of others aren't looked at.
	Type        string
	Unique      bool
	Required    bool
	FilterLogic string
	Label       string
	Description string
	UIEditable  string
	// Default that a new record gets; nil is none.
	Default any
	// Pattern that a text must match; "" is any.
	Pattern string
	// ChoiceSet of a field of the type select.
	ChoiceSet int64
	// Related is the type of objects of a field of the type object; only "dcim.site" is known.
	Related          string
	created, updated time.Time
}

// on says whether objects of a type have the field.
func (f *CustomField) on(objects string) bool { return slices.Contains(f.ObjectTypes, objects) }

func (s *state) field(name string) (CustomField, bool) {
	i := slices.IndexFunc(s.fields, func(f CustomField) bool { return f.Name == name })
	if i < 0 {
		return CustomField{}, false
	}
	return s.fields[i], true
}

// removeField erases its values, too (797, 798).
func (s *state) removeField(name string) {
	s.fields = slices.DeleteFunc(s.fields, func(f CustomField) bool { return f.Name == name })
	s.moveValues(name, "")
}

// moveValues gives a field's values another name, or none: renaming a field moves them (791, 792).
func (s *state) moveValues(from, to string) {
	for id, a := range s.addresses {
		v, ok := a.CustomFields[from]
		if !ok {
			continue
		}
		a.CustomFields = maps.Clone(a.CustomFields)
		delete(a.CustomFields, from)
		if to != "" {
			a.CustomFields[to] = v
		}
		s.addresses[id] = a
	}
}

// setFields merges custom fields by key (550). An unknown one is refused in two ways, or dropped, depending on the version (346).
func (c *exchange) setFields(a *Address, m map[string]any) *response {
	fields, _ := m[keyCustomFields].(map[string]any)
	if c.fault.Kind == FaultDropFields {
		return nil
	}
	if a.ID == 0 {
		for _, f := range c.s.state.fields {
			if f.Default != nil && f.on(typeAddress) {
				a.CustomFields[f.Name] = f.Default
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		f, ok := c.s.state.field(name)
		ok = ok && f.on(typeAddress)
		switch {
		case ok:
			a.CustomFields[name] = c.stored(f, fields[name])
		case c.s.traits.dropsUnknownFields():
		default:
			return c.unknownField(name)
		}
	}
	return nil
}

func (c *exchange) unknownField(name string) *response {
	if !c.s.traits.atLeast(4, 4) {
		return fieldError("__all__", "Unknown field name '"+name+"' in custom field data.")
	}
	return answer(http.StatusBadRequest, map[string]any{keyCustomFields: map[string]any{
		name: "Custom field '" + name + "' does not exist for this object type.",
	}})
}

// stored is a value as the database keeps it: an object by its number (556, 557).
func (c *exchange) stored(f CustomField, v any) any {
	if f.Type != "object" || v == nil {
		return v
	}
	if id, why := c.find("site", references(c.s.state.named["site"]), v); why == "" {
		return id
	}
	return v
}

// fieldRules hold for all custom fields of a record.
func (c *exchange) fieldRules(before, a Address) *response {
	for _, f := range c.s.state.fields {
		if !f.on(typeAddress) {
			continue
		}
		v, there := a.CustomFields[f.Name]
		if f.Required && (v == nil || v == "") {
			if !there && before.ID != 0 && c.s.traits.atLeast(4, 6) {
				return fieldError("__all__", "Missing required custom field '"+f.Name+"'.")
			}
			return badValue(f, "Required field cannot be empty.")
		}
		if why := c.value(f, v); why != "" {
			return badValue(f, why)
		}
		if f.Unique && v != nil && v != "" && c.s.state.holder(f.Name, v, a.ID) {
			return notUnique(f.Name)
		}
	}
	return nil
}

func badValue(f CustomField, why string) *response {
	return fieldError("__all__", "Invalid value for custom field '"+f.Name+"': "+why)
}

// value says what is wrong with a value (347 to 349, 762).
func (c *exchange) value(f CustomField, v any) string {
	if v == nil {
		return ""
	}
	s, isText := v.(string)
	switch f.Type {
	case "text":
		switch match, err := regexp.MatchString(f.Pattern, s); {
		case !isText:
			return "Value must be a string."
		case err == nil && !match && s != "":
			return "Value must match regex '" + f.Pattern + "'"
		}
	case "integer":
		if f, decimal := v.(float64); decimal && f != math.Trunc(f) || wholeOr(v, -1<<62) == -1<<62 {
			return "Value must be an integer."
		}
	case "boolean":
		if _, ok := v.(bool); !ok {
			return "Value must be true or false."
		}
	case "select":
		set, _ := byID(c.s.state.choices, f.ChoiceSet, func(s ChoiceSet) int64 { return s.ID })
		if s != "" && !slices.ContainsFunc(set.Choices, func(x Choice) bool { return x.Value == s }) {
			return "Invalid choice (" + plain(v) + ") for choice set " + set.Name + "."
		}
	}
	return ""
}

// renderFields has a key for each custom field of objects of a type, null where unset.
func (c *exchange) renderFields(objects string, values map[string]any) map[string]any {
	out := map[string]any{}
	for _, f := range c.s.state.fields {
		if f.on(objects) {
			out[f.Name] = c.renderValue(f, values[f.Name])
		}
	}
	return out
}

// renderValue shows an object instead of its number, and from 4.7 on a choice with its label (556).
func (c *exchange) renderValue(f CustomField, v any) any {
	switch {
	case v == nil:
		return nil
	case f.Type == "object":
		return c.nestedThing("site", wholeOr(v, 0))
	case f.Type == "select" && c.s.traits.atLeast(4, 7):
		set, _ := byID(c.s.state.choices, f.ChoiceSet, func(s ChoiceSet) int64 { return s.ID })
		for _, x := range set.Choices {
			if x.Value == v {
				return choice(x.Value, x.Label)
			}
		}
	}
	return v
}
