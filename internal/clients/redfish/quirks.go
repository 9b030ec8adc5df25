package redfish

import (
	"context"
	"slices"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/quirk"
)

// quirks are what a machine does differently. The BMC's firmware is asked for
// only where a row depends on it, and once per login.
func (c *Client) quirks(ctx context.Context, s System) (facts quirk.Facts, names []string, err error) {
	m := quirk.Machine{
		Vendor: string(c.root.Vendor), Product: string(c.root.Product),
		Manufacturer: s.Manufacturer, Model: s.Model, BIOS: s.bios,
	}
	if slices.ContainsFunc(c.cfg.Quirks, func(r quirk.Row) bool { return r.Match.Firmware != "" }) {
		firmware, err := c.managerFirmware(ctx)
		if err != nil {
			return quirk.Facts{}, nil, err
		}
		m.Firmware = firmware
	}
	facts, names = quirk.For(c.cfg.Quirks, m)

	return facts, names, nil
}

// managerFirmware is the version of the first manager that tells one.
func (c *Client) managerFirmware(ctx context.Context) (string, error) {
	if c.firmware != "" {
		return c.firmware, nil
	}
	managers := string(c.root.Managers)
	if managers == "" {
		managers = pathManagers
	}
	uris, err := c.members(ctx, managers)
	for _, uri := range uris {
		var b struct{ FirmwareVersion text }
		if _, err = c.get(ctx, uri, &b); err == nil && b.FirmwareVersion != "" {
			c.firmware = clip(b.FirmwareVersion)

			return c.firmware, nil
		}
	}
	if err != nil && !skippable(err) {
		return "", err
	}

	return "", nil
}
