package bmc_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
)

const (
	uriManager = "/redfish/v1/Managers/1"
	uriSlot    = uriManager + "/VirtualMedia/1"
	uriInsert  = uriSlot + "/Actions/VirtualMedia.InsertMedia"
	uriEject   = uriSlot + "/Actions/VirtualMedia.EjectMedia"
)

// withManager is a small tree with a manager and one slot, which has actions or
// is written to.
func withManager(t *testing.T, actions bool) *bmc.Tree {
	t.Helper()
	offers := `,"Actions":{"#VirtualMedia.InsertMedia":{"target":"` + uriInsert + `"},"#VirtualMedia.EjectMedia":{"target":"` + uriEject + `"}}`
	if !actions {
		offers = ""
	}

	return made(t, map[string]string{
		"redfish/v1/Managers/index.json": `{"Members":[{"@odata.id":"/redfish/v1/Managers/1"}]}`,
		"redfish/v1/Managers/1/index.json": `{"@odata.id":"/redfish/v1/Managers/1","LastResetTime":"2026-01-01T00:00:00Z","VirtualMedia":{"@odata.id":"/redfish/v1/Managers/1/VirtualMedia"},
"Actions":{"#Manager.Reset":{"target":"/redfish/v1/Managers/1/Actions/Manager.Reset","ResetType@Redfish.AllowableValues":["GracefulRestart"]}}}`,
		"redfish/v1/Managers/1/VirtualMedia/index.json":   `{"Members":[{"@odata.id":"/redfish/v1/Managers/1/VirtualMedia/1"}]}`,
		"redfish/v1/Managers/1/VirtualMedia/1/index.json": `{"@odata.id":"/redfish/v1/Managers/1/VirtualMedia/1","Inserted":false,"Image":null,"WriteProtected":true,"UserName":null,"Password":null` + offers + `}`,
	})
}

func TestVirtualMedia(t *testing.T) {
	type step struct {
		method, path string
		body         any
		status       int
	}
	image := map[string]any{"Image": "http://i/a.iso"}
	cases := map[string]struct {
		reason  string
		row     bmc.Behaviour
		written bool // the slot has no actions
		steps   []step
		want    []any // Inserted, Image, WriteProtected, Password
	}{
		"Insert":   {reason: "Protected, unless told.", steps: []step{{http.MethodPost, uriInsert, image, 204}}, want: []any{true, "http://i/a.iso", true, nil}},
		"Twice":    {reason: "A slot takes one.", steps: []step{{http.MethodPost, uriInsert, image, 204}, {http.MethodPost, uriInsert, image, 400}}, want: []any{true, "http://i/a.iso", true, nil}},
		"NoImage":  {reason: "It needs one.", steps: []step{{http.MethodPost, uriInsert, map[string]any{"Inserted": true}, 400}}, want: []any{false, nil, true, nil}},
		"Nonsense": {reason: "Nothing but what there is.", steps: []step{{http.MethodPost, uriInsert, map[string]any{"Image": "http://i/a.iso", "Colour": "red"}, 400}}, want: []any{false, nil, true, nil}},
		"Protocol": {reason: "Nokia.", row: bmc.Behaviour{MediaProtocol: true}, steps: []step{{http.MethodPost, uriInsert, image, 400}}, want: []any{false, nil, true, nil}},
		"Eject":    {reason: "And out.", steps: []step{{http.MethodPost, uriInsert, image, 204}, {http.MethodPost, uriEject, map[string]any{}, 204}}, want: []any{false, nil, true, nil}},
		"Empty":    {reason: "Some say that there's nothing in it.", row: bmc.Behaviour{Redundant: 400}, steps: []step{{http.MethodPost, uriEject, map[string]any{}, 400}}, want: []any{false, nil, true, nil}},
		"Written":  {reason: "XCC: the password isn't shown.", written: true, steps: []step{{http.MethodPatch, uriSlot, map[string]any{"Image": "http://i/a.iso", "WriteProtected": false, "Password": "p"}, 204}}, want: []any{true, "http://i/a.iso", false, nil}},
		"TakenOut": {reason: "By writing, too.", written: true, steps: []step{{http.MethodPatch, uriSlot, image, 204}, {http.MethodPatch, uriSlot, map[string]any{"Image": nil}, 204}}, want: []any{false, nil, true, nil}},
		"NoPatch":  {reason: "Where there are actions nothing is written.", steps: []step{{http.MethodPatch, uriSlot, image, 405}}, want: []any{false, nil, true, nil}},
		"NoAction": {reason: "And the other way round.", written: true, steps: []step{{http.MethodPost, uriInsert, image, 400}}, want: []any{false, nil, true, nil}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := bmc.New(bmc.Config{Tree: withManager(t, !tc.written), Behaviour: &tc.row})
			for _, s := range tc.steps {
				if status, body := ask(t, b, s.method, s.path, s.body, nil); status != s.status {
					t.Errorf("\n%s\n%s %s: got %d, want %d; %v", tc.reason, s.method, s.path, status, s.status, body)
				}
			}
			_, slot := ask(t, b, http.MethodGet, uriSlot, nil, nil)
			if diff := cmp.Diff(tc.want, []any{slot["Inserted"], slot["Image"], slot["WriteProtected"], slot["Password"]}); diff != "" {
				t.Errorf("\n%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestResetOfTheBMC(t *testing.T) {
	now := time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)
	b := bmc.New(bmc.Config{Tree: withManager(t, true), Behaviour: &bmc.Behaviour{}, Now: func() time.Time { return now }})
	ask(t, b, http.MethodPost, sessions, login(bmc.DefaultPassword), nil)
	ask(t, b, http.MethodPost, uriInsert, map[string]any{"Image": "http://i/a.iso"}, nil)
	const reset = uriManager + "/Actions/Manager.Reset"
	refused, _ := ask(t, b, http.MethodPost, reset, map[string]any{"ResetType": "ForceRestart"}, nil)
	taken, _ := ask(t, b, http.MethodPost, reset, map[string]any{"ResetType": "GracefulRestart"}, nil)
	away := get(t, b, "/redfish/v1", nil).Code
	now = now.Add(2 * time.Minute)
	_, slot := ask(t, b, http.MethodGet, uriSlot, nil, nil)
	_, manager := ask(t, b, http.MethodGet, uriManager, nil, nil)
	got := []any{refused, taken, away, b.Sessions(), b.Counters().BMCResets, slot["Inserted"], manager["LastResetTime"]}
	if diff := cmp.Diff([]any{400, 204, 503, 0, 1, false, "2026-02-01T00:00:00Z"}, got); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}
