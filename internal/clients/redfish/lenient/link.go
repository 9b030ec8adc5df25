package lenient

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Ref is a link: {"@odata.id": "/…"}, or the string itself, or null.
type Ref string

// UnmarshalJSON implements json.Unmarshaler; it never fails.
func (r *Ref) UnmarshalJSON(b []byte) error {
	var object struct {
		ID Text `json:"@odata.id"`
	}
	if json.Unmarshal(b, &object) == nil && object.ID != "" {
		*r = Ref(object.ID)

		return nil
	}
	var s string
	if json.Unmarshal(b, &s) == nil {
		*r = Ref(s)
	}

	return nil
}

// Refs is a list of links that may be sent as one link or null.
type Refs []string

// UnmarshalJSON implements json.Unmarshaler; it never fails.
func (r *Refs) UnmarshalJSON(b []byte) error {
	*r = nil
	if len(b) > 0 && b[0] != '[' {
		b = bytes.Join([][]byte{{'['}, b, {']'}}, nil)
	}
	var list []Ref
	if json.Unmarshal(b, &list) != nil {
		return nil //nolint:nilerr // What isn't a list is an empty one.
	}
	for _, s := range list {
		if s != "" {
			*r = append(*r, string(s))
		}
	}

	return nil
}

// SamePath compares two resource paths as BMCs mix them: case and a trailing
// slash don't matter.
func SamePath(a, b string) bool {
	return strings.EqualFold(strings.TrimRight(a, "/"), strings.TrimRight(b, "/"))
}
