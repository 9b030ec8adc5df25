package netbox

import "strings"

// fieldType is the label of a custom field's type, and the type of its data.
func fieldType(t string, tr traits) (label, data string) {
	switch t {
	case "integer":
		return "Integer", "integer"
	case "boolean":
		if tr.atLeast(4, 7) {
			return "Boolean", "boolean"
		}
		return "Boolean (true/false)", "boolean"
	case "select":
		return "Selection", "string"
	case "object":
		return "Object", "object"
	}
	return title(t), "string"
}

func (c *exchange) renderField(f CustomField) map[string]any {
	display := f.Label
	if display == "" {
		display = title(strings.ReplaceAll(f.Name, "_", " "))
	}
	label, data := fieldType(f.Type, c.s.traits)
	m := c.urls(map[string]any{
		"display": display, "object_types": f.ObjectTypes, "type": choice(f.Type, label),
		"related_object_type": orNil(f.Related), "data_type": data, "name": f.Name, "label": f.Label, "group_name": "",
		"description": f.Description, "required": f.Required, "unique": f.Unique, "search_weight": 1000,
		"filter_logic": choice(f.FilterLogic, title(f.FilterLogic)), "ui_visible": choice("always", "Always"),
		"ui_editable": choice(f.UIEditable, title(f.UIEditable)), "is_cloneable": false, "default": f.Default,
		"related_object_filter": nil, "weight": 100, "validation_minimum": nil, "validation_maximum": nil,
		"validation_regex": f.Pattern, "choice_set": c.nestedChoices(f.ChoiceSet), "comments": "",
		"created": stamp(f.created), keyLastUpdated: stamp(f.updated),
	}, "extras/custom-fields", f.ID)
	if c.s.traits.atLeast(4, 6) {
		m["validation_schema"] = nil
	}
	if c.s.traits.atLeast(4, 7) {
		m["nulls_first"] = true
	}
	return m
}

func (c *exchange) nestedChoices(id int64) any {
	set, ok := byID(c.s.state.choices, id, func(s ChoiceSet) int64 { return s.ID })
	if !ok {
		return nil
	}
	return c.nested(map[string]any{
		"display": set.Name, "name": set.Name, "description": "", "choices_count": len(set.Choices),
	}, "extras/custom-field-choice-sets", id)
}
