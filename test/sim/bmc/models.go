package bmc

import (
	"crypto/sha256"
	"fmt"
	"maps"
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
	pathDrives  = pathManager + "/VirtualMedia"

	pathProtocols = pathManager + "/NetworkProtocol"
)

// ownTree makes the tree of a BMC with machines of our own models.
func ownTree(cfg Config) *Tree {
	t := newTree("own")
	root := object{
		"@odata.type": "#ServiceRoot.v1_15_0.ServiceRoot",
		"Id":          "RootService", "Name": "Root Service", "RedfishVersion": "1.18.0",
		"Vendor": "Emulated Systems", "Product": "Emulated BMC", "UUID": uuidOf(cfg.Systems[0].Serial),
		"Systems": link(pathSystems), "Managers": link(pathManagers), "Chassis": link(pathChassis),
		"SessionService": link(pathSessionService), "Links": object{"Sessions": link(pathSessions)},
	}
	t.put(pathRoot, root)
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
		if s.Model.family().bios != "" {
			root["Registries"] = link(pathRegistries)
		}
	}
	t.collect(pathSystems, ids)
	t.collect(pathChassis, chassis)
	t.collect(pathManagers, []string{"BMC"})
	t.put(pathManager, object{"Id": "BMC", "Name": "Manager", "ManagerType": "BMC", "FirmwareVersion": "1.0.0", "EthernetInterfaces": link(pathBMCNICs),
		"VirtualMedia": link(pathDrives), propDateTime: "2026-01-01T00:00:00Z", "DateTimeLocalOffset": "+00:00", "NetworkProtocol": link(pathProtocols),
		"Actions": object{actionResetBMC: object{"target": pathManager + "/Actions/Manager.Reset", "ResetType" + allowable: []string{resetGraceful}}}})
	drives(t)
	t.put(pathProtocols, object{"Id": "NetworkProtocol", "Name": "Protocols", "NTP": object{"ProtocolEnabled": true, "NTPServers": []string{"ntp.example.org"}}})
	t.collect(pathBMCNICs, []string{"eth0"})
	t.put(pathBMCNICs+"/eth0", object{"Id": "eth0", "MACAddress": managerMAC})
	root["AccountService"] = link(pathAccountService)
	t.accounts(cfg.Username)
	if events := cfg.Systems[0].Model.family().events; events != noEvents {
		root["EventService"] = link(pathEventService)
		t.eventService(events == eventsOn)
	}
	t.put(pathSessionService, object{"Id": "SessionService", "Sessions": link(pathSessions)})
	t.typed()

	return t
}

// uuidOf is a BMC's, made of a serial number behind it.
func uuidOf(serial string) string {
	sum := sha256.Sum256([]byte("BMC " + serial))

	return fmt.Sprintf("%x-%x-%x-%x-%x", sum[0:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
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

// describe adds the System, and what it links: its settings resource, its
// ActionInfo, its chassis and where its MACs are, as its family has them.
func (s SystemConfig) describe(t *Tree) {
	f := s.Model.family()
	boot := object{"BootOptions": link(s.uri() + "/BootOptions")}
	body := object{
		"@odata.type": systemType, "Id": s.ID, "Name": "System " + s.ID, "SystemType": "Physical",
		"Manufacturer": "Emulated Systems", "Model": string(s.Model), "SKU": nil,
		"SerialNumber": f.serial(s.Serial), "UUID": nil, "PowerState": powerState(false),
		"Status":  object{"State": "Enabled", "Health": "OK"},
		"Links":   object{"Chassis": []object{link(s.chassisURI())}, "ManagedBy": []object{link(pathManager)}},
		"Actions": object{actionReset: s.resets(t, f)}, "Boot": boot,
	}
	if s.UUID != "" {
		body["UUID"] = s.UUID
	}
	if f.etag {
		body["@odata.etag"] = firstETag
	}
	s.small(t, f, body)
	if f.tellsResets {
		body["LastResetTime"] = nil
	}
	if f.settings != "" {
		settings := s.uri() + "/" + f.settings
		pending := object{"@odata.type": systemType, "Id": f.settings, "Name": "Pending settings", "Boot": f.override()}
		if f.etag {
			pending["@odata.etag"] = firstETag
		}
		t.put(settings, pending)
		body["@Redfish.Settings"] = object{"SettingsObject": link(settings)}
	}
	if f.settings == "" || f.unlisted {
		f.unlisted = false
		maps.Copy(boot, f.override())
	}
	chassis := object{"Id": s.ID, "Name": "Chassis", "ChassisType": "RackMount", "SerialNumber": s.Serial}
	switch f.macs {
	case macsOfInterfaces:
		body["EthernetInterfaces"] = link(s.uri() + "/EthernetInterfaces")
		s.interfaces(t)
	case macsOfAdapters:
		chassis["NetworkAdapters"] = link(s.chassisURI() + "/NetworkAdapters")
		s.adapter(t)
	case macsOfBootPaths:
	}
	s.bios(t, f, body)
	refs := s.bootOptions(t, f)
	if f.order {
		boot[propOrder] = refs
	}
	t.put(s.chassisURI(), chassis)
	t.put(s.uri(), body)
}

// resets is the System's reset action, which offers its types inline or in an
// ActionInfo.
func (s SystemConfig) resets(t *Tree, f family) object {
	reset := object{"target": s.uri() + "/Actions/ComputerSystem.Reset"}
	if f.inline {
		reset["ResetType"+allowable] = f.resets

		return reset
	}
	reset["@Redfish.ActionInfo"] = s.uri() + "/ResetActionInfo"
	t.put(s.uri()+"/ResetActionInfo", object{"Id": "ResetActionInfo", "Parameters": []object{{
		"Name": "ResetType", "Required": true, "DataType": "String", "AllowableValues": f.resets,
	}}})

	return reset
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

// bootOptions lists the disk, and the NICs where the family has them there. It
// returns what a boot order calls them.
func (s SystemConfig) bootOptions(t *Tree, f family) []string {
	uri := s.uri() + "/BootOptions"
	ids := []string{"Boot0000"}
	t.put(uri+"/Boot0000", object{"Id": "Boot0000", "BootOptionReference": "Boot0000", "DisplayName": "Disk", "UefiDevicePath": "PciRoot(0x0)/Pci(0x3,0x0)/NVMe(0x1,00-00-00-00-00-00-00-00)"})
	for i, mac := range s.MACs {
		if f.macs == macsOfInterfaces && !f.order {
			break
		}
		id := fmt.Sprintf("Boot%04X", i+1)
		if f.macs == macsOfInterfaces {
			id = fmt.Sprintf("NIC%d-PXE-IP4", i+1)
		}
		ids = append(ids, id)
		t.put(uri+"/"+id, object{
			"Id": id, "BootOptionReference": id, "DisplayName": "Network",
			"UefiDevicePath": fmt.Sprintf("PciRoot(0x0)/Pci(0x%X,0x0)/MAC(%s,0x1)/IPv4(0.0.0.0)", i+4, redfishMAC(mac, "")),
		})
	}
	if f.macs == macsOfBootPaths {
		ids = append(ids, "BootFFFF")
		t.put(uri+"/BootFFFF", object{
			"Id": "BootFFFF", "BootOptionReference": "BootFFFF", "DisplayName": "The BMC's own NIC",
			"UefiDevicePath": "PciRoot(0x18)/Pci(0x0,0x0)/USB(0x4,0x0)/MAC(" + strings.ReplaceAll(managerMAC, ":", "") + ",0x1)/IPv4(0.0.0.0)",
		})
	}
	t.collect(uri, ids)

	return ids
}

func redfishMAC(mac []byte, separator string) string {
	const digits = "0123456789ABCDEF"
	parts := make([]string, 0, len(mac))
	for _, c := range mac {
		parts = append(parts, string([]byte{digits[c>>4], digits[c&15]}))
	}

	return strings.Join(parts, separator)
}
