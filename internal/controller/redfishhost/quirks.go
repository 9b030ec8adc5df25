package redfishhost

import (
	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/quirk"
)

// rowsOf are the built-in rows, and then the provider config's, which win.
func rowsOf(quirks []v1alpha1.RedfishQuirk) []quirk.Row {
	rows := quirk.Table()
	for _, q := range quirks {
		rows = append(rows, quirk.Row{
			Name: q.Name, Source: q.Source,
			Match: quirk.Match{
				Vendor: q.Match.Vendor, Product: q.Match.Product, Manufacturer: q.Match.Manufacturer,
				Model: q.Match.Model, Firmware: q.Match.Firmware, BIOS: q.Match.BIOS,
			},
			Facts: quirk.Facts{
				OverrideOn: q.Facts.OverrideOn, Mode: q.Facts.Mode, IfMatch: q.Facts.IfMatch, StoredAs: q.Facts.StoredAs,
				Continuous: q.Facts.Continuous, Rungs: q.Facts.Rungs, OEM: oemOf(q.Facts.OEMBoot),
			},
		})
	}

	return rows
}

func oemOf(o *v1alpha1.OEMBoot) quirk.OEMBoot {
	if o == nil {
		return quirk.OEMBoot{}
	}

	return quirk.OEMBoot{Resources: o.Resources, Target: o.Target, Words: o.Words, With: o.With}
}
