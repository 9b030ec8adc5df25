package netbox

import (
	"net/http"
	"slices"
	"strings"
)

func (c *exchange) prefixes() *response {
	switch {
	case len(c.parts) == 2 && c.reads():
		if !c.may("view prefix") {
			return noRight()
		}
		return c.listPrefixes()
	case len(c.parts) == 2:
		return c.notAllowed()
	}
	id, res := c.number()
	if res != nil {
		return res
	}
	switch {
	case len(c.parts) == 4 && c.parts[3] == "available-ips":
		return c.availableIPs(id)
	case len(c.parts) != 3:
		return htmlPage(http.StatusNotFound)
	case !c.reads():
		return c.notAllowed()
	case !c.may("view prefix"):
		return noRight()
	}
	p, ok := c.s.state.prefix(id)
	if !ok {
		return noMatch("Prefix")
	}
	return c.one(http.StatusOK, c.renderPrefix(p), etag(p.created))
}

func (c *exchange) vrfs() *response {
	switch {
	case len(c.parts) != 2:
		return htmlPage(http.StatusNotFound)
	case !c.reads():
		return c.notAllowed()
	case !c.may("view vrf"):
		return noRight()
	}
	q := c.r.URL.Query()
	var all []map[string]any
	for _, v := range c.s.state.vrfs {
		if (!q.Has("name") || slices.Contains(q["name"], v.Name)) && (!q.Has("rd") || slices.Contains(q["rd"], v.RD)) {
			all = append(all, c.renderVRF(v))
		}
	}
	return page(c, all, asIs)
}

func (c *exchange) customFields() *response {
	switch {
	case len(c.parts) != 2:
		return htmlPage(http.StatusNotFound)
	case c.reads():
		return c.listFields()
	case c.r.Method == http.MethodPost:
		return c.createField()
	}
	return c.notAllowed()
}

func (c *exchange) listFields() *response {
	if !c.may("view customfield") {
		return noRight()
	}
	names, filtered := c.r.URL.Query()["name"]
	var all []map[string]any
	for _, f := range c.s.state.fields {
		if !filtered || slices.Contains(names, f.Name) {
			all = append(all, c.renderField(f))
		}
	}
	return page(c, all, asIs)
}

func (c *exchange) createField() *response {
	if !c.may("add customfield") {
		return noRight()
	}
	m, res := c.object()
	if res != nil {
		return res
	}
	f := CustomField{Type: "text", FilterLogic: "loose", UIEditable: "yes"}
	f.Name, _ = m["name"].(string)
	for key, to := range map[string]*string{
		"type": &f.Type, "filter_logic": &f.FilterLogic, "label": &f.Label, "description": &f.Description, "ui_editable": &f.UIEditable,
	} {
		if v, ok := m[key].(string); ok {
			*to = v
		}
	}
	f.Unique, _ = m["unique"].(bool)
	f.Required, _ = m["required"].(bool)
	types, _ := m["object_types"].([]any)
	for _, t := range types {
		if s, ok := t.(string); ok {
			f.ObjectTypes = append(f.ObjectTypes, s)
		}
	}
	if why := c.fieldName(f.Name); len(why) > 0 {
		return answer(http.StatusBadRequest, map[string]any{"name": why})
	}
	f.ID, f.created = c.s.state.number("field", 0), c.s.now()
	c.s.state.fields = append(c.s.state.fields, f)
	return c.made(c.renderField(f), etag(f.created))
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
