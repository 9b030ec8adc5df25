package bmc

import "strings"

// schemas are those of a collection's members, by the last part of its path.
var schemas = map[string]string{ //nolint:gochecknoglobals // A table.
	"systems": "ComputerSystem.v1_20_0", "managers": "Manager.v1_18_0", "chassis": "Chassis.v1_24_0", "virtualmedia": "VirtualMedia.v1_3_0",
	"ethernetinterfaces": "EthernetInterface.v1_9_0", "bootoptions": "BootOption.v1_0_4", "networkadapters": "NetworkAdapter.v1_10_0",
	"ports": "Port.v1_9_0", "networkdevicefunctions": "NetworkDeviceFunction.v1_9_0", "registries": "MessageRegistryFile.v1_1_0",
	"subscriptions": "EventDestination.v1_13_0", "accounts": "ManagerAccount.v1_11_0",
}

// singles are those of resources that are alone.
var singles = map[string]string{ //nolint:gochecknoglobals // A table.
	"secureboot": "SecureBoot.v1_1_0", "networkprotocol": "ManagerNetworkProtocol.v1_9_0", "sessionservice": "SessionService.v1_1_8",
}

// typed gives resources that are made here what each has by the standard (DSP0266,
// 9.6): a type and a name. Strict clients read nothing without.
func (t *Tree) typed() {
	for key, r := range t.resources {
		if id, ok := r.body["Id"].(string); ok && r.body["Name"] == nil {
			r.body["Name"] = id
		}
		if schema := schemaOf(key, r.body["Members"] != nil); schema != "" && r.body["@odata.type"] == nil {
			r.body["@odata.type"] = "#" + schema
		}
	}
}

// schemaOf is a resource's, by its path; "" for what isn't in the tables.
func schemaOf(key string, collection bool) string {
	parts := strings.Split(key, "/")
	last := parts[len(parts)-1]
	schema := singles[last]
	if schema == "" && !collection && len(parts) > 1 {
		schema = schemas[parts[len(parts)-2]]
	} else if collection {
		schema = schemas[last]
	}
	name, _, _ := strings.Cut(schema, ".")
	switch {
	case schema == "":
		return ""
	case collection:
		return name + "Collection." + name + "Collection"
	default:
		return schema + "." + name
	}
}
