package quirk

// oemRows are vendors' own ways to boot once. What of them has no source isn't here: which targets an iDRAC takes beside these is told
// in different ways, and HPE's, Lenovo's, Supermicro's and Huawei's resources of their own have persistent orders alone.
func oemRows() []Row {
	irmc := OEMBoot{
		Resources: []string{OfSystem + "/Oem/ts_fujitsu/BootConfig", OfSystem + "/Oem/Fsas/BootConfig"}, Target: "/BootDevice",
		Words: map[string]string{"Pxe": "Pxe", "Cd": "Cd", "Hdd": "Hdd", "BiosSetup": "BiosSetup"},
		With:  map[string]string{"/NextBootOnlyEnabled": "true"},
	}
	const fromFujitsu = "fujitsu/terraform-provider-irmc-redfish, resource_boot_source_override.go: BootConfig, by whichever of the two names the iRMC has"

	return []Row{
		{
			Name: "dell-oem-boot", Match: Match{Manufacturer: "Dell*"},
			Facts: Facts{OEM: OEMBoot{
				Resources: []string{OfManager + "/Oem/Dell/DellAttributes/iDRAC.Embedded.1", OfManager + "/Attributes"},
				Target:    "/Attributes/ServerBoot.1.FirstBootDevice",
				Words:     map[string]string{"Pxe": "PXE", "Hdd": "HDD", "BiosSetup": "BIOS"},
				With:      map[string]string{"/Attributes/ServerBoot.1.BootOnce": "Enabled"},
			}},
			Source: "NVIDIA/libredfish, dell.rs and model/oem/dell.rs; a recorded R750 with iDRAC9 6.00 has both resources, with both attributes",
		},
		{
			Name: "dell-xe9680-oem-boot", Match: Match{Manufacturer: "Dell*", Model: "*XE9680*"},
			Facts:  Facts{OEM: OEMBoot{Words: map[string]string{"UefiHttp": "UefiHttp"}}},
			Source: "NVIDIA/libredfish, dell.rs: this model boots by UefiHttp",
		},
		{Name: "fujitsu-oem-boot", Match: Match{Manufacturer: "Fujitsu*"}, Facts: Facts{OEM: irmc}, Source: fromFujitsu},
		{Name: "fsas-oem-boot", Match: Match{Manufacturer: "Fsas*"}, Facts: Facts{OEM: irmc}, Source: fromFujitsu},
	}
}
