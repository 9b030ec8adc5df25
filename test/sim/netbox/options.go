package netbox

import "net/http"

// describe answers OPTIONS. Below available-ips it says nothing of what may be written, whatever the token may (297). At a collection it lists,
// below actions, the writes that the token may do there, as NetBox's source has it; that isn't recorded, so it's left out where
// Options.Terse says so. NetBox describes their fields too, which nobody here reads.
func (c *exchange) describe() *response {
	name, kind := "IP Address", "ipaddress"
	switch c.collection() {
	case "extras/custom-fields":
		name, kind = "Custom Field", "customfield"
	case "ipam/prefixes":
		name, kind = "Prefix", "prefix"
	case "ipam/vrfs":
		name, kind = "VRF", "vrf"
	case "status":
		name, kind = "Status", ""
	}
	if len(c.parts) > 3 && c.parts[3] == partAvailable {
		name, kind = "IP Address", ""
	}
	m := map[string]any{
		"name": name, "description": "", "renders": []string{"application/json", "text/html"}, "parses": []string{"application/json", "multipart/form-data"},
	}
	actions := map[string]any{}
	for method, right := range map[string]string{http.MethodPost: "add ", http.MethodPut: "change "} {
		if kind != "" && !c.s.terse && len(c.parts) == 2 && c.may(right+kind) {
			actions[method] = map[string]any{}
		}
	}
	if len(actions) > 0 {
		m["actions"] = actions
	}
	return answer(http.StatusOK, m)
}
