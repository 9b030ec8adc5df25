package bios

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// Kind of a value, as JSON has them.
type Kind uint8

// Values of Kind. Null is no value.
const (
	Null Kind = iota
	Text
	Number
	Flag
)

// Value of a BIOS attribute: text, number, flag, or none. Two of the same JSON
// are equal; Same compares what they mean.
type Value struct { //nolint:recvcheck // It's a value; only what reads it changes it.
	Kind Kind
	// Text as it's shown: the string itself, the number, true or false.
	Text string
}

// String returns the value as it's shown to people.
func (v Value) String() string {
	switch v.Kind {
	case Text:
		return strconv.Quote(v.Text)
	case Number, Flag:
		return v.Text
	case Null:
	}

	return "null"
}

// MarshalJSON implements json.Marshaler.
func (v Value) MarshalJSON() ([]byte, error) {
	switch v.Kind {
	case Text:
		return json.Marshal(v.Text)
	case Number, Flag:
		return []byte(v.Text), nil
	case Null:
	}

	return []byte("null"), nil
}

// UnmarshalJSON implements json.Unmarshaler; it never fails. What is neither a
// string, a number nor a truth is Null, but for the objects in which HPE Cray's
// BMCs describe an attribute: their current_value.
func (v *Value) UnmarshalJSON(b []byte) error {
	*v = Value{}
	b = bytes.TrimSpace(b)
	if len(b) == 0 {
		return nil
	}
	switch b[0] {
	case '"':
		var s string
		if json.Unmarshal(b, &s) == nil {
			*v = Value{Kind: Text, Text: s}
		}
	case 't', 'f':
		*v = Value{Kind: Flag, Text: string(b)}
	case '{':
		var described struct {
			Current json.RawMessage `json:"current_value"`
		}
		if json.Unmarshal(b, &described) == nil && len(described.Current) > 0 && described.Current[0] != '{' {
			return v.UnmarshalJSON(described.Current)
		}
	case '[', 'n':
	default:
		*v = number(string(b))
	}

	return nil
}

// number reads a number in its shortest form, 4.0 as 4; Null where it's none.
func number(s string) Value {
	s = strings.TrimSpace(s)
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return Value{Kind: Number, Text: strconv.FormatInt(n, 10)}
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || f-f != 0 { // NaN and infinite are no numbers.
		return Value{}
	}
	if whole := int64(f); float64(whole) == f && -maxWhole < f && f < maxWhole {
		return Value{Kind: Number, Text: strconv.FormatInt(whole, 10)}
	}
	text, err := json.Marshal(f)
	if err != nil {
		return Value{}
	}

	return Value{Kind: Number, Text: string(text)}
}

// maxWhole is the first number above which a float64 drops units.
const maxWhole = 1 << 53

// truth reads a flag that may be a word; Null where it's none.
func truth(s string) Value {
	switch strings.ToLower(strings.TrimSpace(s)) {
	case "true":
		return Value{Kind: Flag, Text: "true"}
	case "false":
		return Value{Kind: Flag, Text: "false"}
	}

	return Value{}
}

// Same compares two values by what they mean: BMCs send a number or a truth as
// text, and texts with blanks around them. Case counts.
func Same(a, b Value) bool {
	if a.Kind == Null || b.Kind == Null {
		return a.Kind == b.Kind
	}
	x, y := strings.TrimSpace(a.Text), strings.TrimSpace(b.Text)
	if x == y {
		return true
	}
	if a.Kind == Number || b.Kind == Number {
		m, n := number(x), number(y)

		return m.Kind == Number && m == n
	}

	return (a.Kind == Flag || b.Kind == Flag) && strings.EqualFold(x, y)
}
