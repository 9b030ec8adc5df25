package bmc

import (
	"encoding/json"
	"maps"
)

const (
	pathRegistries = "/redfish/v1/Registries"
	ownRegistry    = "BiosAttributeRegistry.v1_0_0"
)

// bios adds the machine's BIOS settings: those in force, those that wait, which
// some families show as a full copy, and the registry that describes them.
func (s SystemConfig) bios(t *Tree, f family, body object) {
	if f.bios == "" {
		return
	}
	uri := s.uri() + "/Bios"
	attributes := object{"BootMode": "Uefi", "ProcHyperThreading": "Enabled", "AcPowerRecoveryDelay": json.Number("10"), "SystemSerialNumber": s.Serial}
	waiting := object{}
	if f.biosCopy {
		waiting = maps.Clone(attributes)
	}
	body["Bios"] = link(uri)
	t.put(uri, object{
		"@odata.type": "#Bios.v1_2_0.Bios", "Id": "Bios", "Name": "BIOS settings", "AttributeRegistry": ownRegistry, propAttributes: attributes,
		propSettings: object{"SettingsObject": link(uri + "/" + f.bios), "SupportedApplyTimes": []string{"OnReset"}},
	})
	t.put(uri+"/"+f.bios, object{
		"@odata.type": "#Bios.v1_2_0.Bios", "Id": f.bios, "Name": "BIOS settings that wait", "AttributeRegistry": ownRegistry, propAttributes: waiting,
	})
	file := pathRegistries + "/" + ownRegistry
	t.put(file, object{
		"@odata.type": "#MessageRegistryFile.v1_1_0.MessageRegistryFile", "Id": ownRegistry, "Name": "BIOS attribute registry", "Registry": ownRegistry,
		"Languages": []string{"en"}, "Location": []object{{"Language": "en", "Uri": file + "/registry"}},
	})
	t.put(file+"/registry", object{"@odata.type": "#AttributeRegistry.v1_3_0.AttributeRegistry", "Id": ownRegistry, "Name": "BIOS attributes", "Language": "en", "RegistryEntries": object{propAttributes: []any{
		choiceOf("BootMode", "Boot Mode", "Uefi", "LegacyBios"),
		choiceOf("ProcHyperThreading", "Hyper-Threading", "Enabled", "Disabled"),
		object{"AttributeName": "AcPowerRecoveryDelay", "DisplayName": "AC Power Recovery Delay", "Type": "Integer", "LowerBound": json.Number("0"), "UpperBound": json.Number("600"), "ReadOnly": false},
		object{"AttributeName": "SystemSerialNumber", "DisplayName": "Serial Number", "Type": "String", "ReadOnly": true},
	}}})
	t.collect(pathRegistries, []string{ownRegistry})
}

func choiceOf(name, display string, values ...string) object {
	list := make([]any, 0, len(values))
	for _, v := range values {
		list = append(list, object{"ValueName": v, "ValueDisplayName": v})
	}

	return object{"AttributeName": name, "DisplayName": display, "Type": "Enumeration", "ReadOnly": false, "Value": list}
}

// small adds the machine's light, asset tag and Secure Boot, as far as its family
// has them.
func (s SystemConfig) small(t *Tree, f family, body object) {
	switch {
	case f.inline:
		body["IndicatorLED"], body["AssetTag"] = "Off", ""
		uri := s.uri() + "/SecureBoot"
		body["SecureBoot"] = link(uri)
		t.put(uri, object{"Id": "SecureBoot", "Name": "Secure Boot", "SecureBootEnable": false, "SecureBootCurrentBoot": "Disabled", "SecureBootMode": "UserMode"})
	case f.nameless:
		body["LocationIndicatorActive"] = false
	}
}

// drives adds the BMC's virtual drives: one for disks, and one for sticks.
func drives(t *Tree) {
	for id, types := range map[string][]string{"CD1": {"CD", "DVD"}, "USB1": {"USBStick", "Floppy"}} {
		uri := pathDrives + "/" + id
		t.put(uri, object{
			"@odata.type": "#VirtualMedia.v1_3_0.VirtualMedia", "Id": id, "Name": "Virtual drive", "MediaTypes": types,
			"Inserted": false, "Image": nil, "ImageName": nil, "ConnectedVia": "NotConnected", "WriteProtected": true,
			"Actions": object{
				actionInsert: object{"target": uri + "/Actions/VirtualMedia.InsertMedia"},
				actionEject:  object{"target": uri + "/Actions/VirtualMedia.EjectMedia"},
			},
		})
	}
	t.collect(pathDrives, []string{"CD1", "USB1"})
}
