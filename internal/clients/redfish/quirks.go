package redfish

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/quirk"
)

// firmwareAge is how long a manager's firmware version is believed: an update
// ends sessions, but basic authentication has none.
const firmwareAge = 10 * time.Minute

// datedFirmware is the version of a System's manager; "" where it tells none.
type datedFirmware struct {
	version string
	at      time.Time
}

// quirks are what a machine does differently. The BMC's firmware is asked for
// only where a row depends on it.
func (c *Client) quirks(ctx context.Context, s System) (facts quirk.Facts, names []string, err error) {
	m := quirk.Machine{
		Vendor: string(c.root.Vendor), Product: string(c.root.Product),
		Manufacturer: s.Manufacturer, Model: s.Model, BIOS: s.bios,
	}
	if slices.ContainsFunc(c.cfg.Quirks, func(r quirk.Row) bool { return r.Match.Firmware != "" }) {
		firmware, err := c.managerFirmware(ctx, s)
		if err != nil {
			return quirk.Facts{}, nil, err
		}
		m.Firmware = firmware
	}
	facts, names = quirk.For(c.cfg.Quirks, m)

	return facts, names, nil
}

// managerFirmware is the version of the System's manager. One that tells none
// isn't asked anew each time.
func (c *Client) managerFirmware(ctx context.Context, s System) (string, error) {
	key := strings.Join(s.managers, " ")
	if known, ok := c.firmware[key]; ok && time.Since(known.at) < firmwareAge {
		return known.version, nil
	}
	version, there, err := c.firmwareAt(ctx, s.managers)
	if err == nil && !there {
		// The System doesn't say whose it is, or wrongly.
		var uris []string
		if uris, err = c.members(ctx, c.managersPath()); err != nil && skippable(err) {
			uris, err = nil, nil
		}
		if err == nil {
			version, _, err = c.firmwareAt(ctx, uris)
		}
	}
	if err != nil {
		return "", err
	}
	if c.firmware == nil {
		c.firmware = map[string]datedFirmware{}
	}
	c.firmware[key] = datedFirmware{version: version, at: time.Now()}

	return version, nil
}

// firmwareAt is the version of the first manager that tells one, and whether
// there is any of them.
func (c *Client) firmwareAt(ctx context.Context, uris []string) (version string, there bool, err error) {
	for _, uri := range uris[:min(len(uris), maxMembers)] {
		var b struct{ FirmwareVersion text }
		_, err := c.get(ctx, uri, &b)
		if err != nil && !skippable(err) {
			return "", false, err
		}
		there = there || err == nil
		if err == nil && b.FirmwareVersion != "" {
			return clip(b.FirmwareVersion), true, nil
		}
	}

	return "", there, nil
}
