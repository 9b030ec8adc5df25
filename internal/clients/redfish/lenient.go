package redfish

import (
	"bytes"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/lenient"
)

// What BMCs send is read leniently, everywhere.
type (
	text  = lenient.Text
	texts = lenient.Texts
	ref   = lenient.Ref
	refs  = lenient.Refs
)

// decode is lenient.Decode with an error of this package.
func decode(body []byte, into any) error {
	if err := lenient.Decode(body, into); err != nil {
		return failf(Protocol, "%v", err)
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
	ID   text  `json:"MessageId"`
	Args texts `json:"MessageArgs"`
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
