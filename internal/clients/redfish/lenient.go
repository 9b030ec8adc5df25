package redfish

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
)

// decode reads JSON and takes what fits: encoding/json goes on after a value
// of the wrong type and reports it at the end, which is dropped here.
func decode(body []byte, into any) error {
	err := json.Unmarshal(body, into)
	var drift *json.UnmarshalTypeError
	if err == nil || errors.As(err, &drift) {
		return nil
	}

	return failf(Protocol, "the BMC's answer isn't JSON")
}

// text is a string that may be sent as a number, null or something else ("").
type text string

// UnmarshalJSON implements json.Unmarshaler; it never fails.
func (t *text) UnmarshalJSON(b []byte) error {
	var s string
	if json.Unmarshal(b, &s) == nil {
		*t = text(s)

		return nil
	}
	var n json.Number
	if json.Unmarshal(b, &n) == nil {
		*t = text(n)
	}

	return nil
}

// texts is a list of strings that may be sent as one string or null.
type texts []string

// UnmarshalJSON implements json.Unmarshaler; it never fails.
func (t *texts) UnmarshalJSON(b []byte) error {
	*t = nil
	if len(b) > 0 && b[0] != '[' {
		b = bytes.Join([][]byte{{'['}, b, {']'}}, nil)
	}
	var list []text
	if json.Unmarshal(b, &list) != nil {
		return nil //nolint:nilerr // What isn't a list is an empty one.
	}
	for _, s := range list {
		if s != "" {
			*t = append(*t, string(s))
		}
	}

	return nil
}

// ref is a link: {"@odata.id": "/…"}, or the string itself, or null.
type ref string

// UnmarshalJSON implements json.Unmarshaler; it never fails.
func (r *ref) UnmarshalJSON(b []byte) error {
	var object struct {
		ID text `json:"@odata.id"`
	}
	if json.Unmarshal(b, &object) == nil && object.ID != "" {
		*r = ref(object.ID)

		return nil
	}
	var s string
	if json.Unmarshal(b, &s) == nil {
		*r = ref(s)
	}

	return nil
}

// refs is a list of links that may be sent as one link or null.
type refs []string

// UnmarshalJSON implements json.Unmarshaler; it never fails.
func (r *refs) UnmarshalJSON(b []byte) error {
	*r = nil
	if len(b) > 0 && b[0] != '[' {
		b = bytes.Join([][]byte{{'['}, b, {']'}}, nil)
	}
	var list []ref
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

// errorBody is what a BMC says beside an error status: as the standard has it
// (DSP0266, 8.6), or without the "error" around it.
type errorBody struct {
	Error struct {
		Code  text
		Infos infos `json:"@Message.ExtendedInfo"`
	}
	Infos infos `json:"@Message.ExtendedInfo"`
}

// infos is a list of messages that may be sent as one message or null.
type infos []struct {
	ID text `json:"MessageId"`
}

// UnmarshalJSON implements json.Unmarshaler; it never fails.
func (i *infos) UnmarshalJSON(b []byte) error {
	*i = nil
	if len(b) > 0 && b[0] != '[' {
		b = bytes.Join([][]byte{{'['}, b, {']'}}, nil)
	}
	type list infos
	var l list
	if decode(b, &l) == nil {
		*i = infos(l)
	}

	return nil
}

// samePath compares two resource paths as BMCs mix them: case and a trailing
// slash don't matter.
func samePath(a, b string) bool {
	return strings.EqualFold(strings.TrimRight(a, "/"), strings.TrimRight(b, "/"))
}
