package lenient

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"time"
)

// Text is a string that may be sent as a number, null or something else ("").
type Text string

// UnmarshalJSON implements json.Unmarshaler; it never fails.
func (t *Text) UnmarshalJSON(b []byte) error {
	var s string
	if json.Unmarshal(b, &s) == nil {
		*t = Text(s)

		return nil
	}
	var n json.Number
	if json.Unmarshal(b, &n) == nil {
		*t = Text(n)
	}

	return nil
}

// Texts is a list of strings that may be sent as one string or null.
type Texts []string

// UnmarshalJSON implements json.Unmarshaler; it never fails.
func (t *Texts) UnmarshalJSON(b []byte) error {
	*t = nil
	if len(b) > 0 && b[0] != '[' {
		b = bytes.Join([][]byte{{'['}, b, {']'}}, nil)
	}
	var list []Text
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

// Number is a number that may be sent as a string ("2 400 MHz" is none). Known
// says whether there is one: null, and what isn't a number, are none.
type Number struct {
	Value float64
	Known bool
}

// UnmarshalJSON implements json.Unmarshaler; it never fails.
func (n *Number) UnmarshalJSON(b []byte) error {
	var t Text
	_ = t.UnmarshalJSON(b)
	v, err := strconv.ParseFloat(strings.TrimSpace(string(t)), 64)
	if err != nil || v-v != 0 { // NaN and infinite are no numbers.
		*n = Number{}

		return nil //nolint:nilerr // What isn't a number is none.
	}
	*n = Number{Value: v, Known: true}

	return nil
}

// Flag is a truth that may be sent as a word or a number. Known says whether
// there is one.
type Flag struct{ True, Known bool }

// UnmarshalJSON implements json.Unmarshaler; it never fails.
func (f *Flag) UnmarshalJSON(b []byte) error {
	word := strings.ToLower(strings.Trim(string(b), "\" \t"))
	switch word {
	case "true", "1", "yes", "enabled", "on":
		*f = Flag{True: true, Known: true}
	case "false", "0", "no", "disabled", "off":
		*f = Flag{Known: true}
	default:
		*f = Flag{}
	}

	return nil
}

// Time reads a time; the zero time where there is none. iDRACs say 0000-00-00,
// others 1970.
func Time(t Text) time.Time {
	const earliest = 2000
	at, err := time.Parse(time.RFC3339, string(t))
	if err != nil || at.Year() < earliest {
		return time.Time{}
	}

	return at.UTC()
}
