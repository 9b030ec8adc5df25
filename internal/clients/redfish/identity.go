package redfish

import (
	"regexp"
	"slices"
	"strings"
)

// Identity is what a System says it is.
type Identity struct {
	// URI of the System without a trailing slash.
	URI string
	// ID is the System's Id.
	ID string
	// Serial, trimmed; "" when missing or a placeholder.
	Serial string
	// UUID in lower case; "" when null, all zero, all FF or a placeholder.
	UUID                     string
	Manufacturer, Model, SKU string
	// ChassisSerial and BMCUUID tell machines apart that have neither serial nor
	// UUID. Only Trace reads them.
	ChassisSerial, BMCUUID string
}

// Name is the identity in one word: the serial, else the UUID, else the URI.
func (i Identity) Name() string {
	switch {
	case i.Serial != "":
		return i.Serial
	case i.UUID != "":
		return i.UUID
	default:
		return i.URI
	}
}

// SameUUID compares two UUIDs. Firmware that learns to read SMBIOS' mixed byte
// order shows the same machine's UUID with its first three fields turned round.
func SameUUID(a, b string) bool {
	return strings.EqualFold(a, b) || strings.EqualFold(turned(a), b)
}

// UUIDKey is one word for what SameUUID takes for the same.
func UUIDKey(uuid string) string {
	uuid = strings.ToLower(uuid)
	if !uuidShape.MatchString(uuid) {
		return uuid
	}

	return min(uuid, turned(uuid))
}

func turned(uuid string) string {
	fields := strings.Split(uuid, "-")
	const turnedFields = 3
	for i := range min(turnedFields, len(fields)) {
		fields[i] = bytewise(fields[i])
	}

	return strings.Join(fields, "-")
}

// bytewise is a hex number with its bytes in the other order.
func bytewise(hex string) string {
	var out strings.Builder
	for i := len(hex); i >= 2; i -= 2 {
		out.WriteString(hex[i-2 : i])
	}

	return out.String()
}

// placeholders are what firmware says instead of a serial number.
var placeholders = []string{ //nolint:gochecknoglobals // A table.
	"n/a", "na", "none", "null", "unknown", "default string", "not specified", "not available",
	"to be filled by o.e.m.", "system serial number", "0123456789", "123456789", "1234567890", "empty",
}

// placeholderUUIDs come with the reference code of firmware vendors.
var placeholderUUIDs = []string{ //nolint:gochecknoglobals // A table.
	"03000200-0400-0500-0006-000700080009", "00020003-0004-0005-0006-000700080009",
}

// CleanSerial trims a serial number; placeholders and runs of one character
// such as zeros are none.
func CleanSerial(serial string) string {
	s := strings.TrimSpace(strings.Trim(serial, "\x00"))
	if slices.Contains(placeholders, strings.ToLower(s)) || strings.Trim(s, "0") == "" || strings.Trim(s, "xX.-") == "" {
		return ""
	}

	return s
}

var uuidShape = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)

// CleanUUID lower-cases a UUID; null, zero, FF and placeholders are none.
func CleanUUID(uuid string) string {
	u := strings.ToLower(strings.TrimSpace(uuid))
	if !uuidShape.MatchString(u) || strings.Trim(u, "0-") == "" || strings.Trim(u, "f-") == "" || slices.Contains(placeholderUUIDs, u) {
		return ""
	}

	return u
}
