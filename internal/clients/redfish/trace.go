package redfish

import (
	"context"
	"strings"
	"time"
)

// rootAge is how long the service root is believed that a session began with: no
// other BMC knows that.
const rootAge = time.Minute

// Traces say what of a machine is read that tells it from another one.
type Traces struct {
	Chassis, BMC bool
	// Serial is the chassis' that is looked for; "" is the first that has one.
	Serial string
}

// Trace adds traces to a System: its chassis' serial and its BMC's UUID, for a
// request each, or none where the service root was read just now. What they don't tell stays empty. A machine without a name
// doesn't get its BMC's UUID while its chassis can't be read: that is the better
// word, and who has one is known by it.
func (c *Client) Trace(ctx context.Context, s System, want Traces) (System, error) {
	unread := false
	if want.Chassis {
		var err error
		if s.ChassisSerial, unread, err = c.chassisSerial(ctx, s.chassis, want.Serial); err != nil {
			return s, err
		}
	}
	if !want.BMC || unread && s.Serial == "" && s.UUID == "" {
		return s, nil
	}
	if c.token && time.Since(c.rootAt) < rootAge && CleanUUID(string(c.root.UUID)) != "" {
		s.BMCUUID = CleanUUID(string(c.root.UUID))

		return s, nil
	}
	var b struct{ UUID text }
	if _, err := c.get(ctx, pathRoot, &b); err != nil && !skippable(err) {
		return s, err
	}
	s.BMCUUID = CleanUUID(string(b.UUID))

	return s, nil
}

// chassisSerial is the one that is wanted where one of the chassis has it, else
// that of the first that has one, or "" where an answer is missing that could
// be the one: unread says so. A chassis that tells no serial may tell it later.
func (c *Client) chassisSerial(ctx context.Context, chassis []string, want string) (first string, unread bool, err error) {
	for _, uri := range chassis[:min(len(chassis), maxMembers)] {
		var b struct{ SerialNumber text }
		switch _, err := c.get(ctx, uri, &b); {
		case IsNotFound(err):
			continue // A dangling link.
		case err != nil && !skippable(err):
			return "", false, err
		case err != nil:
			unread = true

			continue
		}
		serial := serialOf(b.SerialNumber)
		switch {
		case serial == "":
			unread = unread || want != ""
		case want == "" && !unread, strings.EqualFold(serial, want):
			return serial, false, nil
		case first == "":
			first = serial
		}
	}
	if unread {
		return "", true, nil
	}

	return first, false, nil
}
