package quirk

// Table is what is known of machines, general rows before special ones.
func Table() []Row {
	return []Row{
		{
			Name: "dell-override", Match: Match{Manufacturer: "Dell*"}, Facts: Facts{OverrideOn: OnSystem, Mode: Never},
			Source: "iDRAC9 7.10 publishes a settings resource without target and enabled; a mode in the same PATCH queues a BIOS job (libredfish, dell.rs)",
		},
		{
			Name: "hpe-mode", Match: Match{Manufacturer: "HPE*"}, Facts: Facts{Mode: Never},
			Source: "DL160 Gen10 refuses a PATCH with mode, enabled and target together (bmclib, boot_device.go)",
		},
		{
			Name: "supermicro-bootnext", Match: Match{Manufacturer: "Supermicro*"}, Facts: Facts{StoredAs: map[string]string{"Pxe": "UefiBootNext"}},
			Source: "X13 11.01.01 stores Pxe as UefiBootNext; older ones have no mode, which is seen",
		},
		{
			Name: "lenovo-pending", Match: Match{Manufacturer: "Lenovo*"}, Facts: Facts{OverrideOn: OnSystem},
			Source: "XCC 2.83 (SR670 V2): Systems/1/Pending carries BootOrder only",
		},
	}
}
