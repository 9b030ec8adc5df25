package netbox

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"time"
)

func (c *exchange) customFields() *response {
	if len(c.parts) > 3 {
		return htmlPage(http.StatusNotFound)
	}
	if res := c.rightTo("customfield", len(c.parts) == 2); res != nil {
		return res
	}
	switch {
	case len(c.parts) == 3:
		return c.customField()
	case c.reads():
		return c.listFields()
	case c.r.Method == http.MethodPost:
		return c.createField()
	}
	return c.notAllowed()
}

func (c *exchange) customField() *response {
	id, res := c.number()
	if res != nil {
		return res
	}
	i := slices.IndexFunc(c.s.state.fields, func(f CustomField) bool { return f.ID == id })
	if i < 0 {
		return noMatch("CustomField")
	}
	f := c.s.state.fields[i]
	if c.r.Method == http.MethodDelete {
		c.s.state.removeField(f.Name)
		return answer(http.StatusNoContent, nil)
	}
	if !c.reads() {
		m, res := c.object()
		if res != nil {
			return res
		}
		if t, ok := m["type"].(string); ok && t != f.Type {
			return fieldError("type", "Changing the type of custom fields is not supported.")
		}
		before := f.Name
		f.read(m)
		if f.Name != before {
			c.s.state.moveValues(before, f.Name)
		}
		f.updated = c.s.after(f.updated)
		c.s.state.fields[i] = f
	}
	return c.one(http.StatusOK, c.renderField(f), etag(f.updated), []string{"name", "description"})
}

func (c *exchange) listFields() *response {
	fs := filters[CustomField]{}
	fs.text("name", false, func(f CustomField) string { return f.Name })
	for _, key := range []string{"object_type", "object_types"} {
		fs[key] = anyOf(func(v string) func(CustomField) bool { return func(f CustomField) bool { return f.on(v) } })
	}
	return list(c, listing[CustomField]{
		all: c.s.state.fields, known: fs, id: func(f CustomField) int64 { return f.ID }, render: c.renderField, brief: []string{"name", "description"},
		order: func(a, b CustomField) int { return cmp.Compare(a.Name, b.Name) },
	})
}

// read takes over what a body says of a field.
func (f *CustomField) read(m map[string]any) {
	for key, to := range map[string]*string{
		"name": &f.Name, "type": &f.Type, "filter_logic": &f.FilterLogic, "label": &f.Label, "description": &f.Description,
		"ui_editable": &f.UIEditable, "validation_regex": &f.Pattern, "related_object_type": &f.Related,
	} {
		if v, ok := m[key].(string); ok {
			*to = v
		}
	}
	for key, to := range map[string]*bool{"unique": &f.Unique, "required": &f.Required} {
		if v, ok := m[key].(bool); ok {
			*to = v
		}
	}
	if v, ok := m["default"]; ok {
		f.Default = v
	}
	f.ChoiceSet = wholeOr(m["choice_set"], f.ChoiceSet)
	if types, ok := m["object_types"].([]any); ok {
		f.ObjectTypes = nil
		for _, t := range types {
			f.ObjectTypes = append(f.ObjectTypes, plain(t))
		}
	}
}

func (c *exchange) createField() *response {
	m, res := c.object()
	if res != nil {
		return res
	}
	f := CustomField{Type: "text", FilterLogic: "loose", UIEditable: "yes"}
	f.read(m)
	if why := c.fieldName(f.Name); len(why) > 0 {
		return answer(http.StatusBadRequest, map[string]any{"name": why})
	}
	if f.Unique && f.Type == "boolean" {
		return fieldError("unique", "Uniqueness cannot be enforced for boolean fields")
	}
	f.ID, f.created = c.s.state.number("field", 0), c.s.after(time.Time{})
	f.updated = f.created
	c.s.state.fields = append(c.s.state.fields, f)
	return c.made(c.renderField(f), etag(f.updated))
}

// fieldName says what is wrong with a new field's name (108, 110).
func (c *exchange) fieldName(name string) []string {
	if _, taken := c.s.state.field(name); taken {
		return []string{"custom field with this name already exists."}
	}
	var why []string
	if name == "" || strings.Trim(strings.ToLower(name), "abcdefghijklmnopqrstuvwxyz0123456789_") != "" || strings.Contains(name, "-") {
		why = append(why, "Only alphanumeric characters and underscores are allowed.")
	}
	if strings.Contains(name, "__") {
		why = append(why, "Double underscores are not permitted in custom field names.")
	}
	return why
}
