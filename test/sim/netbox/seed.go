package netbox

import (
	"maps"
	"net/netip"
	"slices"
)

// AddToken lets a token in.
func (s *Server) AddToken(t Token) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state.tokens = append(s.state.tokens, t)
}

// RemoveToken forgets the token with this secret.
func (s *Server) RemoveToken(secret string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state.tokens = slices.DeleteFunc(s.state.tokens, func(t Token) bool { return t.Secret == secret })
}

// AddVRF adds a VRF and returns its number, which is the next free one if v.ID is 0.
func (s *Server) AddVRF(v VRF) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	v.ID, v.created = s.state.number("vrf", v.ID), s.now()
	s.state.vrfs = append(s.state.vrfs, v)
	return v.ID
}

// AddPrefix adds a prefix and returns its number, which is the next free one if p.ID is 0.
func (s *Server) AddPrefix(p Prefix) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	p.ID, p.created = s.state.number("prefix", p.ID), s.now()
	p.updated = p.created
	if p.Status == "" {
		p.Status = "active"
	}
	s.state.prefixes = append(s.state.prefixes, p)
	return p.ID
}

// ChangePrefix edits a prefix as a person would. It says whether there was one.
func (s *Server) ChangePrefix(id int64, change func(*Prefix)) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.state.prefixes {
		if p := &s.state.prefixes[i]; p.ID == id {
			change(p)
			p.updated = s.after(p.updated)
			return true
		}
	}
	return false
}

// AddCIDR adds an active prefix to the global table.
func (s *Server) AddCIDR(cidr string) int64 {
	return s.AddPrefix(Prefix{Prefix: netip.MustParsePrefix(cidr).Masked()})
}

// RemovePrefix deletes a prefix. Its addresses stay, as in NetBox (780).
func (s *Server) RemovePrefix(id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state.prefixes = slices.DeleteFunc(s.state.prefixes, func(p Prefix) bool { return p.ID == id })
}

// AddCustomField adds a custom field and returns its number.
func (s *Server) AddCustomField(f CustomField) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	f.ID, f.created = s.state.number("field", f.ID), s.now()
	f.updated = f.created
	s.state.fields = append(s.state.fields, f)
	return f.ID
}

// AddMarkerField adds a field of the kind that a marker needs.
func (s *Server) AddMarkerField(name string) int64 {
	return s.AddCustomField(CustomField{
		Name: name, ObjectTypes: []string{typeAddress}, Type: "text", Unique: true, FilterLogic: "exact", UIEditable: "no",
	})
}

// RemoveCustomField deletes a custom field and its values, as NetBox does (797, 798).
func (s *Server) RemoveCustomField(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state.removeField(name)
}

// RenameCustomField moves the values along, as NetBox does (791, 792).
func (s *Server) RenameCustomField(from, to string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.state.fields {
		if s.state.fields[i].Name == from {
			s.state.fields[i].Name = to
			s.state.moveValues(from, to)
		}
	}
}

// AddAddress adds an address as a person would, without any check, and returns its number.
func (s *Server) AddAddress(a Address) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.keep()()
	a.ID = s.state.number("address", a.ID)
	a.Created = s.now()
	a.LastUpdated = a.Created
	a.CustomFields = maps.Clone(a.CustomFields)
	if a.CustomFields == nil {
		a.CustomFields = map[string]any{}
	}
	if a.Status == "" {
		a.Status = "active"
	}
	s.state.addresses[a.ID] = a
	s.changed(s.byHand("admin"), nil, &a)
	return a.ID
}

// ChangeAddress edits an address as the user admin would. It says whether there was one.
func (s *Server) ChangeAddress(id int64, change func(*Address)) bool {
	return s.ChangeAddressAs("admin", id, change)
}

// ChangeAddressAs edits an address as a person would, whom the change log names. It says whether there was one.
func (s *Server) ChangeAddressAs(user string, id int64, change func(*Address)) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.keep()()
	a, ok := s.state.addresses[id]
	if !ok {
		return false
	}
	before := a
	a.CustomFields, a.Tags = maps.Clone(a.CustomFields), slices.Clone(a.Tags)
	change(&a)
	a.LastUpdated = s.after(a.LastUpdated)
	s.state.addresses[id] = a
	s.changed(s.byHand(user), &before, &a)
	return true
}

// RemoveAddress deletes an address as a person would.
func (s *Server) RemoveAddress(id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.keep()()
	if a, ok := s.state.addresses[id]; ok {
		s.dropAddress(a, s.byHand("admin"))
	}
}

// Addresses returns all addresses by host.
func (s *Server) Addresses() []Address {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.state.sorted()
	for i := range all {
		all[i].CustomFields = maps.Clone(all[i].CustomFields)
	}
	return all
}

// WithMarker returns the addresses that carry the marker in the field. Never more than one, or
// something is wrong.
func (s *Server) WithMarker(field, marker string) []Address {
	return slices.DeleteFunc(s.Addresses(), func(a Address) bool { return a.CustomFields[field] != marker })
}

// Markers counts the records of each marker in the field; records without one aren't counted.
func (s *Server) Markers(field string) map[string]int {
	out := map[string]int{}
	for _, a := range s.Addresses() {
		if m, ok := a.CustomFields[field].(string); ok && m != "" {
			out[m]++
		}
	}
	return out
}

// CustomFields returns the names of the custom fields.
func (s *Server) CustomFields() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for _, f := range s.state.fields {
		out = append(out, f.Name)
	}
	return out
}

// Requests returns the log so far.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Writes counts the requests so far that could change anything, answered or not.
func (s *Server) Writes() int {
	n := 0
	for _, r := range s.Requests() {
		if r.Writes() {
			n++
		}
	}
	return n
}

// ForgetRequests empties the log.
func (s *Server) ForgetRequests() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = nil
}
