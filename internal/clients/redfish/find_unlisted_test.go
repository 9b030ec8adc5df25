package redfish

import (
	"errors"
	"testing"
)

// TestUnlisted: a BMC that shows no list of Systems is believed what its managers are for, all of them, and nothing is guessed.
func TestUnlisted(t *testing.T) {
	type said = struct {
		status int
		body   string
	}
	const (
		host  = `{"@odata.id":"/redfish/v1/Systems/1","Id":"1","SerialNumber":"S","Actions":{"#ComputerSystem.Reset":{"target":"/r"}}}`
		board = `{"@odata.id":"/redfish/v1/Systems/1","Id":"1","SerialNumber":"S"}`
		two   = `{"Members":[{"@odata.id":"/redfish/v1/Managers/1"},{"@odata.id":"/redfish/v1/Managers/2"}]}`
		ofOne = `{"Links":{"ManagerForServers":[{"@odata.id":"/redfish/v1/Systems/1"}]}}`
		ofTwo = `{"Links":{"ManagerForServers":[{"@odata.id":"/redfish/v1/Systems/2"},{"@odata.id":"/redfish/v1/systems/1/"}]}}`
	)
	cases := map[string]struct {
		reason          string
		list            said
		one, two        said
		system, another string
		kind            Kind
	}{
		"Named":     {reason: "Both managers name it.", list: said{status: 404}, one: said{body: ofOne}, two: said{body: ofOne}, system: host},
		"Several":   {reason: "Two machines aren't told apart by who names them.", list: said{status: 404}, one: said{body: ofOne}, two: said{body: ofTwo}, system: host, another: host, kind: Ambiguous},
		"Board":     {reason: "A GPU board alone isn't the machine.", list: said{status: 404}, one: said{body: ofOne}, two: said{body: ofOne}, system: board, kind: NotFound},
		"Nobody":    {reason: "Managers of nothing.", list: said{status: 404}, one: said{body: `{}`}, two: said{body: `{"Links":{"ManagerForServers":null}}`}, system: host, kind: NotFound},
		"Hidden":    {reason: "The manager that isn't shown may be the one of the machine.", list: said{status: 404}, one: said{body: ofOne}, two: said{status: 404}, system: host, kind: NotFound},
		"Away":      {reason: "A BMC that is busy says nothing of what there is.", list: said{status: 404}, one: said{status: 503}, two: said{body: ofOne}, system: host, kind: Unreachable},
		"Forbidden": {reason: "A list that the account may not see is there.", list: said{status: 403}, one: said{body: ofOne}, two: said{body: ofOne}, system: host, kind: Forbidden},
		"Empty":     {reason: "A list without members is one.", list: said{body: `{"Members":[]}`}, one: said{body: ofOne}, two: said{body: ofOne}, system: host, kind: NoSystem},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			tree := aBMC{
				"GET /redfish/v1/": {body: emptyRoot}, "GET /redfish/v1/Systems": tc.list, "GET /redfish/v1/Managers": {body: two},
				"GET /redfish/v1/Managers/1": tc.one, "GET /redfish/v1/Managers/2": tc.two, "GET /redfish/v1/Systems/1": {body: tc.system},
			}
			if tc.another != "" {
				tree["GET /redfish/v1/Systems/2"] = said{body: tc.another}
			}
			s, err := connectTo(t, tree).System(t.Context(), Selector{})
			if e, ok := errors.AsType[*Error](err); ok && e.Kind == NotFound && e.Field != NoSystems {
				t.Errorf("\n%s\nit isn't said that there's no list: %v", tc.reason, err)
			}
			if KindOf(err) != tc.kind || err == nil && s.Serial != "S" {
				t.Errorf("\n%s\nSystem(...): got %+v, %v; want kind %q", tc.reason, s.Identity, err, tc.kind)
			}
		})
	}
}
