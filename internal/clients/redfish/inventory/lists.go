package inventory

import (
	"bytes"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/lenient"
)

// Lists of objects that may be sent as one object, null or something else. An
// object of the wrong type is an empty one.
type (
	conditions []condition
	modules    []module
	named      []Named
	devices    []DriveBody
	supplies   []SupplyBody
	physicals  []physical
)

type condition struct{ Message text }

type module struct {
	Type   text `json:"InterfaceType"`
	Status Status
}

type physical struct {
	MAC text `json:"MacAddress"`
}

// decodeList never fails: what isn't a list is an empty one.
func decodeList[T any](b []byte) []T {
	if string(b) == "null" {
		return nil
	}
	if len(b) > 0 && b[0] != '[' {
		b = bytes.Join([][]byte{{'['}, b, {']'}}, nil)
	}
	var out []T
	if lenient.Decode(b, &out) != nil {
		return nil
	}

	return out
}

// UnmarshalJSON implements json.Unmarshaler; it never fails.
func (c *conditions) UnmarshalJSON(b []byte) error {
	*c = decodeList[condition](b)

	return nil
}

// UnmarshalJSON implements json.Unmarshaler; it never fails.
func (m *modules) UnmarshalJSON(b []byte) error {
	*m = decodeList[module](b)

	return nil
}

// UnmarshalJSON implements json.Unmarshaler; it never fails.
func (n *named) UnmarshalJSON(b []byte) error {
	*n = decodeList[Named](b)

	return nil
}

// UnmarshalJSON implements json.Unmarshaler; it never fails.
func (d *devices) UnmarshalJSON(b []byte) error {
	*d = decodeList[DriveBody](b)

	return nil
}

// UnmarshalJSON implements json.Unmarshaler; it never fails.
func (s *supplies) UnmarshalJSON(b []byte) error {
	*s = decodeList[SupplyBody](b)

	return nil
}

// UnmarshalJSON implements json.Unmarshaler; it never fails.
func (p *physicals) UnmarshalJSON(b []byte) error {
	*p = decodeList[physical](b)

	return nil
}
