package redfish

import (
	"testing"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/quirk"
)

// TestManagerFirmware: a row by firmware goes by the manager of the System, which is asked once, also where it tells none.
func TestManagerFirmware(t *testing.T) {
	const managers = `{"Members":[{"@odata.id":"/m/enclosure"},{"@odata.id":"/m/node"}]}`
	cases := map[string]struct {
		reason   string
		managers []string // of the System
		node     reply
		want     string
		requests int
	}{
		"Own":      {reason: "Another manager stands first.", managers: []string{"/m/node"}, node: reply{body: `{"FirmwareVersion":"2.0"}`}, want: "2.0", requests: 1},
		"Mute":     {reason: "Cray's tells null: that is no reason to ask each time, nor another one.", managers: []string{"/m/node"}, node: reply{body: `{"FirmwareVersion":null}`}, requests: 1},
		"Dangling": {reason: "Huawei's link leads nowhere: the first that there is.", managers: []string{"/m/node"}, node: reply{status: 404}, want: "1.0", requests: 3},
		"Unsaid":   {reason: "A System that doesn't say whose it is.", want: "1.0", requests: 2},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			a := &asked{next: aBMC{
				"GET /redfish/v1/": {body: `{"Managers":{"@odata.id":"/m"}}`}, "GET /m": {body: managers},
				"GET /m/enclosure": {body: `{"FirmwareVersion":"1.0"}`}, "GET /m/node": tc.node,
			}}
			c := connectTo(t, a)
			c.cfg.Quirks = []quirk.Row{{Name: "old", Match: quirk.Match{Firmware: tc.want}, Facts: quirk.Facts{IfMatch: quirk.Never}}}
			if tc.want == "" {
				c.cfg.Quirks[0].Match.Firmware = "?"
			}
			before := len(a.seen)
			for range 3 {
				facts, _, err := c.quirks(t.Context(), System{managers: tc.managers})
				if err != nil || (facts.IfMatch == quirk.Never) != (tc.want != "") {
					t.Fatalf("\n%s\nquirks(...): %+v, %v; want the row of firmware %q", tc.reason, facts, err, tc.want)
				}
			}
			if n := len(a.seen) - before; n != tc.requests {
				t.Errorf("\n%s\n%d requests for three looks, want %d: %q", tc.reason, n, tc.requests, a.seen[before:])
			}
			_ = c.relogin(t.Context())
			if _, _, err := c.quirks(t.Context(), System{managers: tc.managers}); err != nil || len(a.seen)-before != 2*tc.requests {
				t.Errorf("\n%s\nafter another login, %d requests in all, %v; want it asked anew", tc.reason, len(a.seen)-before, err)
			}
		})
	}
}

// TestCleanSerial: what boards of the cheap kind all have is no serial number.
func TestCleanSerial(t *testing.T) {
	for _, tc := range [][2]string{{"123456789"}, {"1234567890"}, {"0123456789"}, {" ABC ", "ABC"}, {"00000"}, {"12345678", "12345678"}} {
		serial, want := tc[0], tc[1]
		if got := CleanSerial(serial); got != want {
			t.Errorf("CleanSerial(%q): got %q, want %q", serial, got, want)
		}
	}
}

// TestPlaceOfVendors: where an override goes is seen, also with vendors one of whose generations is known to be odd.
func TestPlaceOfVendors(t *testing.T) {
	const with, without = `{"Boot":{"BootSourceOverrideTarget":"None","BootSourceOverrideTarget@Redfish.AllowableValues":["Pxe"]}}`, `{"Boot":{"BootOrder":[]}}`
	for name, tc := range map[string]struct{ reason, manufacturer, system, settings, want string }{
		"IDRAC9":  {"Its settings resource orders alone.", "Dell Inc.", with, without, "/s"},
		"IDRAC10": {"Its settings resource has the targets, beside the System.", "Dell Inc.", with, with, "/s/SD"},
		"XCC":     {"Its pending resource orders alone.", "Lenovo", with, without, "/s"},
		"SE450":   {"A Lenovo by AMI takes the override on its future state.", "Lenovo", with, with, "/s/SD"},
	} {
		t.Run(name, func(t *testing.T) {
			c := connectTo(t, aBMC{"GET /redfish/v1/": {body: emptyRoot}, "GET /s": {body: tc.system}, "GET /s/SD": {body: tc.settings}})
			s := System{Identity: Identity{Manufacturer: tc.manufacturer}, path: "/s", settings: "/s/SD"}
			facts, _, err := c.quirks(t.Context(), s)
			if err != nil {
				t.Fatal(err)
			}
			if p, err := c.overridePlace(t.Context(), s, facts); err != nil || p.path != tc.want {
				t.Errorf("%s: got %q, %v; want %q", tc.reason, p.path, err, tc.want)
			}
		})
	}
}
