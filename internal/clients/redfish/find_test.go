package redfish

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/quirk"
)

func asError(err error, e **Error) bool { return errors.As(err, e) }

// aBMC answers "METHOD /path" with a status and a body; what isn't there is 404.
type aBMC map[string]struct {
	status int
	body   string
}

func (b aBMC) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a, ok := b[r.Method+" "+r.URL.Path]
	if !ok {
		w.WriteHeader(http.StatusNotFound)

		return
	}
	if a.status != 0 {
		w.WriteHeader(a.status)
	}
	_, _ = io.WriteString(w, a.body)
}

// TestHint: the System of last time saves reading all of them, and never stands in the way.
func TestHint(t *testing.T) {
	const system = `{"@odata.id":"/redfish/v1/Systems/New/","Id":"New","SerialNumber":"S","Actions":{"#ComputerSystem.Reset":{"target":"/r"}}}`
	cases := map[string]struct {
		reason string
		status int
		kind   Kind
		path   string
	}{
		"Here":        {reason: "Asked by its shown URI, written to by its own spelling.", status: 200, path: "/redfish/v1/Systems/New/"},
		"Renamed":     {reason: "A firmware upgrade gave it another name.", status: 404, path: "/redfish/v1/Systems/New/"},
		"Gone":        {reason: "The same.", status: 410, path: "/redfish/v1/Systems/New/"},
		"BadRequest":  {reason: "The same, in the words of another vendor.", status: 400, path: "/redfish/v1/Systems/New/"},
		"Internal":    {reason: "And of a third one.", status: 500, path: "/redfish/v1/Systems/New/"},
		"Unavailable": {reason: "A BMC that is away doesn't say that a System is gone.", status: 503, kind: Unreachable},
		"Refused":     {reason: "Nor does one that lets nobody in.", status: 401, kind: Unauthorized},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			hint := "/redfish/v1/Systems/Old"
			if tc.status == http.StatusOK {
				hint = "/redfish/v1/Systems/New"
			}
			c := connectTo(t, aBMC{
				"GET /redfish/v1/":             {body: emptyRoot},
				"GET " + hint:                  {status: tc.status, body: system},
				"GET /redfish/v1/Systems":      {body: `{"Members":[{"@odata.id":"/redfish/v1/Systems/New/"}]}`},
				"GET /redfish/v1/Systems/New/": {body: system},
			})
			s, err := c.Find(t.Context(), Selector{}, hint)
			if KindOf(err) != tc.kind || s.path != tc.path {
				t.Errorf("\n%s\nFind(...): got %q, %v; want %q, kind %q", tc.reason, s.path, err, tc.path, tc.kind)
			}
			if err == nil && s.URI != strings.TrimRight(tc.path, "/") && tc.status != http.StatusOK {
				t.Errorf("\n%s\nURI: got %q", tc.reason, s.URI)
			}
		})
	}
}

// TestOverridePlace: where an override is written, by what the two resources show.
func TestOverridePlace(t *testing.T) {
	const with, without = `{"Boot":{"BootSourceOverrideTarget":"None","BootSourceOverrideEnabled":"Disabled"}}`, `{"Boot":{"BootOrder":[]}}`
	cases := map[string]struct {
		reason        string
		system        string
		settings      string // "" is 404
		onSystem      bool
		wantPath      string
		takesOverride bool
	}{
		"Settings":       {reason: "OpenBMC of NVIDIA: the settings resource.", system: with, settings: with, wantPath: "/s/SD", takesOverride: true},
		"SettingsOrders": {reason: "Nokia: a settings resource that takes none.", system: with, settings: without, wantPath: "/s", takesOverride: true},
		"SettingsGone":   {reason: "A dangling link.", system: with, wantPath: "/s", takesOverride: true},
		"Dell":           {reason: "iDRAC9: the System, although there is a settings resource.", system: with, settings: with, onSystem: true, wantPath: "/s", takesOverride: true},
		"IDRAC10":        {reason: "iDRAC10: the settings resource, where the System has none.", system: without, settings: with, onSystem: true, wantPath: "/s/SD", takesOverride: true},
		"Cray":           {reason: "None at all.", system: without, settings: without, wantPath: "/s"},
		"DellNone":       {reason: "None at all, and a dangling link.", system: without, onSystem: true, wantPath: "/s"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			tree := aBMC{"GET /redfish/v1/": {body: emptyRoot}, "GET /s": {body: tc.system}}
			if tc.settings != "" {
				tree["GET /s/SD"] = struct {
					status int
					body   string
				}{body: tc.settings}
			}
			facts := quirk.Facts{}
			if tc.onSystem {
				facts.OverrideOn = quirk.OnSystem
			}
			p, err := connectTo(t, tree).overridePlace(t.Context(), System{path: "/s", settings: "/s/SD"}, facts)
			if err != nil || p.path != tc.wantPath || p.takesOverride() != tc.takesOverride {
				t.Errorf("\n%s\noverridePlace(...): got %q (%v), %v; want %q (%v)", tc.reason, p.path, p.takesOverride(), err, tc.wantPath, tc.takesOverride)
			}
		})
	}
}

// TestModeRefused: a BMC that shows a mode and refuses a PATCH without it is asked again with it, once, and only for that reason.
func TestModeRefused(t *testing.T) {
	cases := map[string]struct {
		reason  string
		answers []int
		want    Kind
		modes   []bool // of the PATCHes
	}{
		"Taken":    {reason: "As it should be.", answers: []int{204}, modes: []bool{false}},
		"Refused":  {reason: "It is wanted each time.", answers: []int{400, 204}, modes: []bool{false, true}},
		"Both":     {reason: "The mode isn't the trouble.", answers: []int{400, 400}, want: Refused, modes: []bool{false, true}},
		"Conflict": {reason: "Another refusal is one.", answers: []int{409}, want: Refused, modes: []bool{false}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			set, modes := false, []bool{}
			c := connectTo(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch {
				case r.URL.Path == pathRoot:
					_, _ = io.WriteString(w, emptyRoot)
				case r.Method == http.MethodPatch:
					body, _ := io.ReadAll(r.Body)
					status := tc.answers[len(modes)]
					modes = append(modes, strings.Contains(string(body), propMode))
					set = status == http.StatusNoContent
					w.WriteHeader(status)
				case set:
					_, _ = io.WriteString(w, `{"Boot":{"BootSourceOverrideTarget":"Pxe","BootSourceOverrideEnabled":"Once","BootSourceOverrideMode":"UEFI"}}`)
				default:
					_, _ = io.WriteString(w, `{"Boot":{"BootSourceOverrideTarget":"None","BootSourceOverrideEnabled":"Disabled","BootSourceOverrideMode":"UEFI"}}`)
				}
			}))
			err := c.SetBootOnce(t.Context(), System{path: "/s"}, "Pxe")
			if diff := cmp.Diff(tc.modes, modes); diff != "" || KindOf(err) != tc.want {
				t.Errorf("\n%s\nSetBootOnce(...): got %v, want kind %q; PATCHes with mode: -want, +got:\n%s", tc.reason, err, tc.want, diff)
			}
		})
	}
}

// TestInventoryPartial: what is missing isn't there; what a BMC refuses to show may be.
func TestInventoryPartial(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		status int
		want   bool
		kind   Kind
	}{
		"Missing": {reason: "A dangling link.", status: 404},
		"Refused": {reason: "BlueField answers 500 for some.", status: 500, want: true},
		"Hidden":  {reason: "The account may not see it.", status: 403, want: true},
		"Away":    {reason: "A resource that isn't answered, of a BMC that answers.", status: 503, want: true},
	} {
		t.Run(name, func(t *testing.T) {
			c := connectTo(t, aBMC{
				"GET /redfish/v1/": {body: emptyRoot},
				"GET /nics":        {body: `{"Members":[{"@odata.id":"/nics/1"},{"@odata.id":"/nics/2"}]}`},
				"GET /nics/1":      {status: tc.status},
				"GET /nics/2":      {body: `{"MACAddress":"52:54:00:00:00:02"}`},
			})
			inv, err := c.Inventory(t.Context(), System{interfaces: "/nics"})
			if KindOf(err) != tc.kind || inv.Partial != tc.want {
				t.Errorf("\n%s\nInventory(...): got %+v, %v; want partial %v, kind %q", tc.reason, inv, err, tc.want, tc.kind)
			}
		})
	}
}

func TestSameUUID(t *testing.T) {
	const a = "00112233-4455-6677-8899-aabbccddeeff"
	for b, want := range map[string]bool{
		a: true, strings.ToUpper(a): true, "33221100-5544-7766-8899-aabbccddeeff": true,
		"33221100-4455-6677-8899-aabbccddeeff": false, "00112233-4455-6677-8899-aabbccddee00": false, "": false, "x-y": false,
	} {
		if got := SameUUID(a, b); got != want || SameUUID(b, a) != want {
			t.Errorf("SameUUID(%q, %q): got %v, want %v", a, b, got, want)
		}
	}
}
