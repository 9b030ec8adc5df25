// Package lenient reads what BMCs send as it is meant. It is the only place where their JSON is decoded: vendors send null where a
// number belongs, one string where a list belongs, a string where a link belongs. Reading is for looking only. Who changes a list that
// was read must know that nothing of it was dropped.
package lenient

import (
	"bytes"
	"encoding/json"
	"errors"
)

// ErrNotJSON says that what was sent isn't JSON at all.
var ErrNotJSON = errors.New("the BMC's answer isn't JSON")

// Decode reads JSON and takes what fits: encoding/json goes on after a value of
// the wrong type and reports it at the end, which is dropped here. Its error is
// ErrNotJSON.
func Decode(body []byte, into any) error {
	err := json.Unmarshal(body, into)
	if _, ok := errors.AsType[*json.SyntaxError](err); ok {
		if clean := cleaned(body); !bytes.Equal(clean, body) {
			err = json.Unmarshal(clean, into)
		}
	}
	var drift *json.UnmarshalTypeError
	if err == nil || errors.As(err, &drift) {
		return nil
	}

	return ErrNotJSON
}

// cleaned is JSON without what doesn't belong there and is there all the same: a byte
// order mark, and control characters in texts, such as the tabs and line ends of a
// name that somebody typed in.
func cleaned(body []byte) []byte {
	return bytes.Map(func(r rune) rune {
		if r < ' ' {
			return ' '
		}

		return r
	}, bytes.TrimPrefix(body, []byte("\xef\xbb\xbf")))
}
