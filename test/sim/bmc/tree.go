package bmc

import (
	"fmt"
	"strconv"
)

const pathManagers = "/redfish/v1/Managers"

func (s *system) chassisURI() string { return "/redfish/v1/Chassis/" + s.cfg.ID }

// managerMAC is the BMC's own, which is no machine's.
const managerMAC = "02:BC:00:00:00:01"

func (b *BMC) root() object {
	root := object{
		"@odata.id": pathRoot, "@odata.type": "#ServiceRoot.v1_15_0.ServiceRoot",
		"Id": "RootService", "Name": "Root Service", "RedfishVersion": "1.18.0",
		"Vendor": "Emulated Systems", "Product": "Emulated BMC",
		"Systems": link(pathSystems), "Managers": link(pathManagers), "Chassis": link("/redfish/v1/Chassis"),
		"Links": object{},
	}
	if !b.cfg.NoSessions {
		root["SessionService"] = link("/redfish/v1/SessionService")
		root["Links"] = object{"Sessions": link(pathSessions)}
	}

	return root
}

// tree holds every resource that never changes.
func (b *BMC) tree() map[string]object {
	t := map[string]object{}
	ids := make([]string, 0, len(b.systems)+1)
	chassis := make([]string, 0, len(b.systems))
	for _, s := range b.systems {
		ids = append(ids, s.cfg.ID)
		chassis = append(chassis, s.cfg.ID)
		s.inventory(t)
	}
	if b.cfg.Baseboard {
		ids = append([]string{"Baseboard"}, ids...)
		t[pathSystems+"/Baseboard"] = object{
			"@odata.type": "#ComputerSystem.v1_20_0.ComputerSystem", "Id": "Baseboard", "Name": "Baseboard",
			"SerialNumber": "BASEBOARD", "PowerState": "On", "Boot": object{"BootSourceOverrideTarget@Redfish.AllowableValues": []string{"None", "Pxe"}},
		}
	}
	collect(t, pathSystems, ids)
	collect(t, "/redfish/v1/Chassis", chassis)
	collect(t, pathManagers, []string{"BMC"})
	t[pathManagers+"/BMC"] = object{
		"Id": "BMC", "Name": "Manager", "ManagerType": "BMC", "FirmwareVersion": "1.0.0",
		"EthernetInterfaces": link(pathManagers + "/BMC/EthernetInterfaces"),
	}
	collect(t, pathManagers+"/BMC/EthernetInterfaces", []string{"eth0"})
	t[pathManagers+"/BMC/EthernetInterfaces/eth0"] = object{"Id": "eth0", "MACAddress": managerMAC}
	t["/redfish/v1/SessionService"] = object{"Id": "SessionService", "Sessions": link(pathSessions)}

	return t
}

// collect adds a collection of members by their ids.
func collect(t map[string]object, uri string, ids []string) {
	members := make([]object, 0, len(ids))
	for _, id := range ids {
		members = append(members, link(uri+"/"+id))
	}
	t[uri] = object{"Name": "Collection", "Members": members, "Members@odata.count": len(members)}
}

// inventory adds chassis, network resources and action info of one System.
func (s *system) inventory(t map[string]object) {
	chassis := object{"Id": s.cfg.ID, "Name": "Chassis", "ChassisType": "RackMount", "SerialNumber": s.cfg.Serial}
	t[s.chassisURI()] = chassis
	if s.cfg.Model == ModelActionInfo {
		chassis["NetworkAdapters"] = link(s.chassisURI() + "/NetworkAdapters")
		s.adapter(t)
		t[s.uri()+"/ResetActionInfo"] = object{"Id": "ResetActionInfo", "Parameters": []object{{
			"Name": "ResetType", "Required": true, "DataType": "String", "AllowableValues": s.resetTypes(),
		}}}
	}
	if s.cfg.Model == ModelInline {
		s.interfaces(t)
	}
	s.bootOptions(t)
}

// interfaces lists the machine's NICs, one of them twice, and the BMC's own
// host interface, which no client may take for a NIC.
func (s *system) interfaces(t map[string]object) {
	uri := s.uri() + "/EthernetInterfaces"
	ids := []string{"ToManager"}
	t[uri+"/ToManager"] = object{
		"Id": "ToManager", "MACAddress": managerMAC,
		"Links": object{"HostInterface": link(pathManagers + "/BMC/HostInterfaces/1")},
	}
	for i, mac := range s.cfg.MACs {
		id := "NIC" + strconv.Itoa(i+1)
		ids = append(ids, id)
		t[uri+"/"+id] = object{
			"Id": id, "MACAddress": redfishMAC(mac, ":"), "PermanentMACAddress": redfishMAC(mac, ":"),
			"InterfaceEnabled": true, "LinkStatus": "LinkUp",
		}
	}
	collect(t, uri, ids)
}

// adapter lists the first NIC as a function and all as ports of one adapter.
func (s *system) adapter(t map[string]object) {
	uri := s.chassisURI() + "/NetworkAdapters"
	collect(t, uri, []string{"A1"})
	t[uri+"/A1"] = object{
		"Id": "A1", "NetworkDeviceFunctions": link(uri + "/A1/NetworkDeviceFunctions"), "Ports": link(uri + "/A1/Ports"),
	}
	functions, ports := []string{}, []string{}
	for i, mac := range s.cfg.MACs {
		id := strconv.Itoa(i + 1)
		ports = append(ports, id)
		t[uri+"/A1/Ports/"+id] = object{"Id": id, "Ethernet": object{"AssociatedMACAddresses": []string{redfishMAC(mac, "-")}}}
		if i > 0 {
			continue
		}
		functions = append(functions, id)
		t[uri+"/A1/NetworkDeviceFunctions/"+id] = object{
			"Id": id, "NetDevFuncType": nil, "Ethernet": object{"MACAddress": "Not Available", "PermanentMACAddress": redfishMAC(mac, ":")},
		}
	}
	collect(t, uri+"/A1/NetworkDeviceFunctions", functions)
	collect(t, uri+"/A1/Ports", ports)
}

func (s *system) bootOptions(t map[string]object) {
	uri := s.uri() + "/BootOptions"
	ids := []string{"Boot0000"}
	t[uri+"/Boot0000"] = object{"Id": "Boot0000", "DisplayName": "Disk", "UefiDevicePath": "PciRoot(0x0)/Pci(0x3,0x0)/NVMe(0x1,00-00-00-00-00-00-00-00)"}
	if s.cfg.Model == ModelActionInfo {
		for i, mac := range s.cfg.MACs {
			id := fmt.Sprintf("Boot%04X", i+1)
			ids = append(ids, id)
			t[uri+"/"+id] = object{
				"Id": id, "DisplayName": "Network",
				"UefiDevicePath": fmt.Sprintf("PciRoot(0x0)/Pci(0x%X,0x0)/MAC(%s,0x1)/IPv4(0.0.0.0)", i+4, redfishMAC(mac, "")),
			}
		}
	}
	collect(t, uri, ids)
}
