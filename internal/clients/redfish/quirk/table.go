package quirk

// Table is what is known of machines, general rows before special ones.
func Table() []Row {
	return append([]Row{
		{
			Name: "dell-mode", Match: Match{Manufacturer: "Dell*"}, Facts: Facts{Mode: Never},
			Source: "a mode in the same PATCH queues a BIOS job on an iDRAC (libredfish, dell.rs); where the override goes is seen: iDRAC9 7.10 has a settings resource without a target, iDRAC10 one with",
		},
		{
			Name: "hpe-mode", Match: Match{Manufacturer: "HPE*"}, Facts: Facts{Mode: Never},
			Source: "DL160 Gen10 refuses a PATCH with mode, enabled and target together (bmclib, boot_device.go)",
		},
		{
			Name: "supermicro-bootnext", Match: Match{Manufacturer: "Supermicro*"}, Facts: Facts{StoredAs: map[string]string{"Pxe": "UefiBootNext"}},
			Source: "X13 11.01.01 stores Pxe as UefiBootNext; older ones have no mode, which is seen",
		},
	}, append(bootRows(), oemRows()...)...)
}
