package netbox

import (
	"net/http"
	"strings"
)

// A Right is a permission of NetBox, as its administrators grant it: an action on an object type.
type Right struct {
	// Permission such as ipam.add_ipaddress.
	Permission string
	// ObjectType such as ipam.ipaddress.
	ObjectType string
}

// String is how a Right stands in sentences; "" of none.
func (r Right) String() string {
	if r.Permission == "" {
		return ""
	}
	return r.Permission + " on " + r.ObjectType
}

// objectTypes are those of the endpoints that we use.
func objectTypes() map[string]string {
	return map[string]string{
		"ipam/prefixes": "ipam.prefix", "ipam/ip-ranges": "ipam.iprange", "ipam/ip-addresses": typeAddress, "ipam/vrfs": "ipam.vrf",
		"ipam/roles": "ipam.role", "tenancy/tenants": "tenancy.tenant", "dcim/sites": "dcim.site", "dcim/devices": "dcim.device",
		"dcim/interfaces": "dcim.interface", "dcim/mac-addresses": "dcim.macaddress",
		"virtualization/virtual-machines": "virtualization.virtualmachine", "virtualization/interfaces": "virtualization.vminterface",
		"extras/tags": "extras.tag", "extras/custom-fields": "extras.customfield", "core/object-changes": "core.objectchange",
	}
}

// right is what a call needs, as transcripts 800 to 849 show it; none where we don't know the endpoint. What available-ips makes is
// an address, and what it shows, too.
func right(method, path string) Right {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	t := objectTypes()[strings.Join(parts[:min(2, len(parts))], "/")]
	if strings.HasSuffix(path, "/available-ips/") {
		t = typeAddress
	}
	action := map[string]string{
		http.MethodGet: "view", http.MethodPost: "add", http.MethodPatch: "change", http.MethodPut: "change", http.MethodDelete: "delete",
	}[method]
	app, model, ok := strings.Cut(t, ".")
	if !ok || action == "" {
		return Right{}
	}
	return Right{Permission: app + "." + action + "_" + model, ObjectType: t}
}

// forbidden words a 403 to a token that is valid.
func forbidden(k call, r Right) string {
	switch {
	case r == Right{}:
		return "the token is valid, but it is read-only or lacks this right"
	case !k.writes():
		return "the token is valid, but it lacks permission " + r.String()
	}
	return "the token is valid, but it is read-only, or lacks permission " + r.String()
}
