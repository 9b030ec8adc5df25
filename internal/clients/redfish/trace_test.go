package redfish

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
)

// reply is one answer of aBMC.
type reply = struct {
	status int
	body   string
}

// TestTrace: what tells machines apart that don't tell it themselves.
func TestTrace(t *testing.T) {
	const uuid = "4c4c4544-0035-3410-8050-c6c04f314733"
	c1, c2, none := reply{body: `{"SerialNumber":" C1 "}`}, reply{body: `{"SerialNumber":"C2"}`}, reply{body: `{"SerialNumber":null}`}
	gone, ill := reply{status: http.StatusNotFound}, reply{status: http.StatusInternalServerError}
	cases := map[string]struct {
		reason  string
		a, b    reply
		want    string // the serial that is looked for
		chassis string
		named   bool
		uuid    string
		kind    Kind
	}{
		"First":        {reason: "The first one that tells a serial is the machine's.", a: c1, b: c2, chassis: "C1", uuid: uuid},
		"Second":       {reason: "A tray that has none at all.", a: none, b: c2, chassis: "C2", uuid: uuid},
		"Dangling":     {reason: "A link that leads nowhere.", a: gone, b: c2, chassis: "C2", uuid: uuid},
		"Ill":          {reason: "One that can't be read may be the first: neither it nor the BMC's UUID is recorded now.", a: ill, b: c2},
		"IllBehind":    {reason: "One behind it doesn't matter.", a: c1, b: ill, chassis: "C1", uuid: uuid},
		"IllNamed":     {reason: "A machine with a name is known by that.", a: ill, b: c2, named: true, uuid: uuid},
		"Known":        {reason: "The list was turned round.", a: c2, b: c1, want: "c1", chassis: "C1", uuid: uuid},
		"KnownIll":     {reason: "It doesn't tell just now, and its neighbour isn't it.", a: ill, b: c2, want: "C1"},
		"KnownNull":    {reason: "The same in other words.", a: none, b: c2, want: "C1"},
		"KnownNowhere": {reason: "All tell, none of them is it.", a: c2, b: gone, want: "C1", chassis: "C2", uuid: uuid},
		"Away":         {reason: "A BMC that goes away in between.", a: reply{status: http.StatusServiceUnavailable}, b: c2, kind: Unreachable},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := connectTo(t, aBMC{"GET /redfish/v1/": {body: `{"RedfishVersion":"1.9.0","UUID":"4C4C4544-0035-3410-8050-C6C04F314733"}`}, "GET /c/A": tc.a, "GET /c/B": tc.b})
			s := System{chassis: []string{"/c/A", "/c/B"}}
			if tc.named {
				s.UUID = uuid
			}
			s, err := c.Trace(t.Context(), s, Traces{Chassis: true, BMC: true, Serial: tc.want})
			if KindOf(err) != tc.kind || s.ChassisSerial != tc.chassis || s.BMCUUID != tc.uuid {
				t.Errorf("\n%s\nTrace(...): %q, %q, %v; want %q, %q, kind %q", tc.reason, s.ChassisSerial, s.BMCUUID, err, tc.chassis, tc.uuid, tc.kind)
			}
		})
	}
}

// TestTraceIsBounded: a BMC doesn't make us read chassis without end.
func TestTraceIsBounded(t *testing.T) {
	a := &asked{next: aBMC{"GET /redfish/v1/": {body: emptyRoot}}}
	c := connectTo(t, a)
	before := len(a.seen)
	if _, err := c.Trace(t.Context(), System{chassis: slices.Repeat([]string{"/c"}, 1000)}, Traces{Chassis: true}); err != nil || len(a.seen)-before > maxMembers {
		t.Errorf("Trace(...): %v after %d requests", err, len(a.seen)-before)
	}
}

// TestSharing: how many Systems of a BMC can't be told apart by their names.
func TestSharing(t *testing.T) {
	const one, two = "11111111-2222-3333-4444-555555555555", "21111111-2222-3333-4444-555555555555"
	cases := map[string]struct {
		reason       string
		first, other [2]string // serial and UUID
		want         int
	}{
		"Serial":   {reason: "Two nodes with their chassis' serial.", first: [2]string{"S1"}, other: [2]string{"s1"}, want: 2},
		"Serials":  {reason: "Two serials.", first: [2]string{"S1", one}, other: [2]string{"S2", one}, want: 1},
		"Nameless": {reason: "Two without a name at all.", want: 2},
		"UUIDs":    {reason: "Without serials their UUIDs tell them apart: the URI, which firmware changes, doesn't count then.", first: [2]string{"", one}, other: [2]string{"", two}, want: 1},
		"UUID":     {reason: "Unless that is the same, too.", first: [2]string{"", one}, other: [2]string{"", one}, want: 2},
		"Half":     {reason: "Only one of them has a serial.", first: [2]string{"S1"}, want: 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			const system = `{"Id":%q,"SerialNumber":%q,"UUID":%q,"Actions":{"#ComputerSystem.Reset":{"target":"/r"}}}`
			c := connectTo(t, aBMC{
				"GET /redfish/v1/":              {body: emptyRoot},
				"GET /redfish/v1/Systems":       {body: `{"Members":[{"@odata.id":"/redfish/v1/Systems/Node0"},{"@odata.id":"/redfish/v1/Systems/Node1"},{"@odata.id":"/redfish/v1/Systems/Board"}]}`},
				"GET /redfish/v1/Systems/Node0": {body: fmt.Sprintf(system, "Node0", tc.first[0], tc.first[1])},
				"GET /redfish/v1/Systems/Node1": {body: fmt.Sprintf(system, "Node1", tc.other[0], tc.other[1])},
				"GET /redfish/v1/Systems/Board": {body: fmt.Sprintf(`{"Id":"Board","SerialNumber":%q}`, tc.first[0])}, // It can't be reset.
			})
			if s, err := c.Find(t.Context(), Selector{ID: "Node0"}, ""); err != nil || s.Sharing != tc.want {
				t.Errorf("\n%s\nFind(...): %d share the name, %v; want %d", tc.reason, s.Sharing, err, tc.want)
			}
		})
	}
}

func TestChoose(t *testing.T) {
	node := func(id, serial string, canReset bool) System {
		return System{Identity: Identity{ID: id, URI: "/redfish/v1/Systems/" + id, Serial: serial}, CanReset: canReset}
	}
	host, board, dpu := node("System_0", "H", true), node("HGX_Baseboard_0", "B", false), node("2", "D", true)
	cases := map[string]struct {
		reason  string
		systems []System
		want    Selector
		id      string
		kind    Kind
		named   []string
	}{
		"Only":        {reason: "The only one.", systems: []System{host}, id: "System_0"},
		"Board":       {reason: "Never the GPU board, whatever the order.", systems: []System{board, host}, id: "System_0"},
		"BoardMeant":  {reason: "Not even where it's asked for.", systems: []System{board, host}, want: Selector{ID: "HGX_Baseboard_0"}, kind: NoSystem, named: []string{"HGX_Baseboard_0", "System_0"}},
		"OnlyABoard":  {reason: "A BMC that lets nobody reset anything is still looked at.", systems: []System{board}, id: "HGX_Baseboard_0"},
		"DPU":         {reason: "A DPU can be reset, too: nothing is guessed.", systems: []System{host, dpu, board}, kind: Ambiguous, named: []string{"System_0", "2"}},
		"DPUChosen":   {reason: "Chosen by its serial.", systems: []System{host, dpu, board}, want: Selector{Serial: "d"}, id: "2"},
		"NoneOfThem":  {reason: "There is no such one.", systems: []System{host, dpu}, want: Selector{ID: "3"}, kind: NoSystem, named: []string{"System_0", "2"}},
		"None":        {reason: "There is none at all.", kind: NoSystem},
		"TwoNotReset": {reason: "Two that can't be reset.", systems: []System{board, node("x", "", false)}, kind: Ambiguous, named: []string{"HGX_Baseboard_0", "x"}},
		"Many":        {reason: "Nobody reads a hundred.", systems: slices.Repeat([]System{host}, 100), kind: Ambiguous, named: slices.Repeat([]string{"System_0"}, maxChoices)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s, err := choose(tc.systems, tc.want)
			var e *Error
			var named []string
			if asError(err, &e) {
				for _, c := range e.Systems {
					named = append(named, c.ID)
				}
			}
			if s.ID != tc.id || KindOf(err) != tc.kind || !slices.Equal(named, tc.named) {
				t.Errorf("\n%s\nchoose(...): %q, %v, naming %q; want %q, kind %q, naming %q", tc.reason, s.ID, err, named, tc.id, tc.kind, tc.named)
			}
		})
	}
}
