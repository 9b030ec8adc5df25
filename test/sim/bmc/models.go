package bmc

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// managerMAC is the BMC's own, which is no machine's.
const managerMAC = "02:BC:00:00:00:01"

const (
	pathChassis = "/redfish/v1/Chassis"
	systemType  = "#ComputerSystem.v1_20_0.ComputerSystem"
	firstETag   = `W/"1"`
	pathManager = pathManagers + "/BMC"
	pathBMCNICs = pathManager + "/EthernetInterfaces"
)

// behaviour is what BMCs do with writes to a machine of a model.
func (m Model) behaviour() Behaviour {
	row := Behaviour{Name: string(m), Redundant: http.StatusConflict, NoIfMatchOnActions: true}
	if m == ModelActionInfo {
		row.OverrideAt, row.IfMatch = AtSettings, IfMatchRequired
	}

	return row
}

// ownTree makes the tree of a BMC with machines of our own models.
func ownTree(cfg Config) *Tree {
	t := newTree("own")
	t.put(pathRoot, object{
		"@odata.type": "#ServiceRoot.v1_15_0.ServiceRoot",
		"Id":          "RootService", "Name": "Root Service", "RedfishVersion": "1.18.0",
		"Vendor": "Emulated Systems", "Product": "Emulated BMC",
		"Systems": link(pathSystems), "Managers": link(pathManagers), "Chassis": link(pathChassis),
		"SessionService": link(pathSessionService), "Links": object{"Sessions": link(pathSessions)},
	})
	var ids, chassis []string
	if cfg.Baseboard {
		ids = append(ids, "Baseboard")
		t.put(pathSystems+"/Baseboard", object{
			"@odata.type": systemType, "Id": "Baseboard", "Name": "Baseboard", "SerialNumber": "BASEBOARD", "PowerState": "On",
			"Boot": object{propTarget + allowable: []string{"None", string(BootPxe)}},
		})
	}
	for _, s := range cfg.Systems {
		ids, chassis = append(ids, s.ID), append(chassis, s.ID)
		s.describe(t)
		s.inventory(t)
	}
	t.collect(pathSystems, ids)
	t.collect(pathChassis, chassis)
	t.collect(pathManagers, []string{"BMC"})
	t.put(pathManager, object{"Id": "BMC", "Name": "Manager", "ManagerType": "BMC", "FirmwareVersion": "1.0.0", "EthernetInterfaces": link(pathBMCNICs)})
	t.collect(pathBMCNICs, []string{"eth0"})
	t.put(pathBMCNICs+"/eth0", object{"Id": "eth0", "MACAddress": managerMAC})
	t.put(pathSessionService, object{"Id": "SessionService", "Sessions": link(pathSessions)})

	return t
}

// collect adds a collection of members by their ids.
func (t *Tree) collect(uri string, ids []string) {
	members := make([]object, 0, len(ids))
	for _, id := range ids {
		members = append(members, link(uri+"/"+id))
	}
	t.put(uri, object{"Name": "Collection", "Members": members, "Members@odata.count": len(members)})
}

func (s SystemConfig) uri() string        { return pathSystems + "/" + s.ID }
func (s SystemConfig) chassisURI() string { return pathChassis + "/" + s.ID }

// resetTypes are what the model advertises.
func (s SystemConfig) resetTypes() []string {
	if s.Model == ModelActionInfo {
		return []string{"On", "ForceOff", resetShutdown, resetForce}
	}

	return []string{"On", "ForceOff", resetShutdown, resetGraceful, resetForce, "PowerCycle", "Nmi"}
}

// boot is the override, which rests.
func (s SystemConfig) boot() object {
	return object{
		propTarget: "None", propEnabled: "Disabled",
		propTarget + allowable: []string{"None", string(BootPxe), string(BootHdd), string(BootCd), string(BootBiosSetup), string(BootUefiHTTP)},
	}
}

// describe adds the System, and its settings resource where the model has one.
func (s SystemConfig) describe(t *Tree) {
	reset := object{"target": s.uri() + "/Actions/ComputerSystem.Reset"}
	body := object{
		"@odata.type": systemType, "@odata.etag": firstETag, "Id": s.ID, "Name": "System " + s.ID, "SystemType": "Physical",
		"Manufacturer": "Emulated Systems", "Model": string(s.Model), "SKU": nil,
		"SerialNumber": s.Serial, "UUID": nil, "PowerState": powerState(false),
		"Status":  object{"State": "Enabled", "Health": "OK"},
		"Links":   object{"Chassis": []object{link(s.chassisURI())}, "ManagedBy": []object{link(pathManager)}},
		"Actions": object{actionReset: reset},
	}
	if s.UUID != "" {
		body["UUID"] = s.UUID
	}
	options := link(s.uri() + "/BootOptions")
	if s.Model == ModelActionInfo {
		reset["@Redfish.ActionInfo"] = s.uri() + "/ResetActionInfo"
		body["SerialNumber"] = s.Serial + " "
		body["Boot"] = object{"BootOptions": options}
		body["@Redfish.Settings"] = object{"SettingsObject": link(s.uri() + "/SD")}
		t.put(s.uri()+"/SD", object{
			"@odata.type": systemType, "@odata.etag": firstETag, "Id": "SD", "Name": "Pending settings", "Boot": s.boot(),
		})
	} else {
		reset["ResetType"+allowable] = s.resetTypes()
		boot := s.boot()
		boot[propMode], boot["BootOptions"] = "UEFI", options
		body["Boot"] = boot
		body["EthernetInterfaces"] = link(s.uri() + "/EthernetInterfaces")
	}
	t.put(s.uri(), body)
}

// inventory adds chassis, network resources and action info of one System.
func (s SystemConfig) inventory(t *Tree) {
	chassis := object{"Id": s.ID, "Name": "Chassis", "ChassisType": "RackMount", "SerialNumber": s.Serial}
	if s.Model == ModelActionInfo {
		chassis["NetworkAdapters"] = link(s.chassisURI() + "/NetworkAdapters")
		s.adapter(t)
		t.put(s.uri()+"/ResetActionInfo", object{"Id": "ResetActionInfo", "Parameters": []object{{
			"Name": "ResetType", "Required": true, "DataType": "String", "AllowableValues": s.resetTypes(),
		}}})
	}
	t.put(s.chassisURI(), chassis)
	if s.Model == ModelInline {
		s.interfaces(t)
	}
	s.bootOptions(t)
}

// interfaces lists the machine's NICs, and the BMC's own host interface, which
// no client may take for a NIC.
func (s SystemConfig) interfaces(t *Tree) {
	uri := s.uri() + "/EthernetInterfaces"
	ids := []string{"ToManager"}
	t.put(uri+"/ToManager", object{
		"Id": "ToManager", "MACAddress": managerMAC,
		"Links": object{"HostInterface": link(pathManager + "/HostInterfaces/1")},
	})
	for i, mac := range s.MACs {
		id := "NIC" + strconv.Itoa(i+1)
		ids = append(ids, id)
		t.put(uri+"/"+id, object{
			"Id": id, "MACAddress": redfishMAC(mac, ":"), "PermanentMACAddress": redfishMAC(mac, ":"),
			"InterfaceEnabled": true, "LinkStatus": "LinkUp",
		})
	}
	t.collect(uri, ids)
}

// adapter lists the first NIC as a function and all as ports of one adapter.
func (s SystemConfig) adapter(t *Tree) {
	uri := s.chassisURI() + "/NetworkAdapters"
	t.collect(uri, []string{"A1"})
	t.put(uri+"/A1", object{"Id": "A1", "NetworkDeviceFunctions": link(uri + "/A1/NetworkDeviceFunctions"), "Ports": link(uri + "/A1/Ports")})
	functions, ports := []string{}, []string{}
	for i, mac := range s.MACs {
		id := strconv.Itoa(i + 1)
		ports = append(ports, id)
		t.put(uri+"/A1/Ports/"+id, object{"Id": id, "Ethernet": object{"AssociatedMACAddresses": []string{redfishMAC(mac, "-")}}})
		if i > 0 {
			continue
		}
		functions = append(functions, id)
		t.put(uri+"/A1/NetworkDeviceFunctions/"+id, object{
			"Id": id, "NetDevFuncType": nil, "Ethernet": object{"MACAddress": "Not Available", "PermanentMACAddress": redfishMAC(mac, ":")},
		})
	}
	t.collect(uri+"/A1/NetworkDeviceFunctions", functions)
	t.collect(uri+"/A1/Ports", ports)
}

func (s SystemConfig) bootOptions(t *Tree) {
	uri := s.uri() + "/BootOptions"
	ids := []string{"Boot0000"}
	t.put(uri+"/Boot0000", object{"Id": "Boot0000", "DisplayName": "Disk", "UefiDevicePath": "PciRoot(0x0)/Pci(0x3,0x0)/NVMe(0x1,00-00-00-00-00-00-00-00)"})
	if s.Model == ModelActionInfo {
		for i, mac := range s.MACs {
			id := fmt.Sprintf("Boot%04X", i+1)
			ids = append(ids, id)
			t.put(uri+"/"+id, object{
				"Id": id, "DisplayName": "Network",
				"UefiDevicePath": fmt.Sprintf("PciRoot(0x0)/Pci(0x%X,0x0)/MAC(%s,0x1)/IPv4(0.0.0.0)", i+4, redfishMAC(mac, "")),
			})
		}
	}
	t.collect(uri, ids)
}

func redfishMAC(mac []byte, separator string) string {
	const digits = "0123456789ABCDEF"
	parts := make([]string, 0, len(mac))
	for _, c := range mac {
		parts = append(parts, string([]byte{digits[c>>4], digits[c&15]}))
	}

	return strings.Join(parts, separator)
}
