package netbox

import (
	"bytes"
	"encoding/json"
	"errors"
)

// Undecoded is a list or an object in a custom field, as its JSON: it, or what the record's other fields have, is larger than what is decoded.
type Undecoded string

// MarshalJSON returns it as it is.
func (u Undecoded) MarshalJSON() ([]byte, error) { return []byte(u), nil }

// Decoded is its value.
func (u Undecoded) Decoded() any {
	var v any
	_ = json.Unmarshal([]byte(u), &v) // It is JSON, as a part of what was.
	return v
}

// values takes an object of custom field values and makes anything else empty.
type values map[string]any

const (
	// mostFields is more custom fields than any record has, and mostNested how much text of lists and objects is decoded of one record's, in
	// bytes: packed densely, these take twenty times as much memory as text.
	mostFields = 4096
	mostNested = 64 << 10
)

// UnmarshalJSON fails for a record with more custom fields than any has: without one of them it might look like nobody's. A list or an
// object that is too large, or of which there are too many, stays Undecoded.
func (v *values) UnmarshalJSON(b []byte) error {
	d := json.NewDecoder(bytes.NewReader(b))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil //nolint:nilerr // What isn't an object has no fields.
	}
	m, left := values{}, mostNested
	for d.More() {
		var raw json.RawMessage
		name, err := d.Token()
		if err == nil {
			err = d.Decode(&raw)
		}
		key, ok := name.(string)
		if err != nil || !ok {
			return errors.New("it has custom fields that can't be read")
		}
		if len(m) == mostFields {
			return errDense
		}
		if raw[0] == '[' || raw[0] == '{' {
			if left -= len(raw); left < 0 {
				m[key] = Undecoded(raw)
				continue
			}
		}
		var value any
		_ = json.Unmarshal(raw, &value) // It is JSON, as a part of what is.
		m[key] = value
	}
	*v = m
	return nil
}
