package bmc_test

import (
	"maps"
	"net/http"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
)

const (
	uriBIOS    = uriSystem + "/Bios"
	uriPending = uriBIOS + "/Settings"
)

// withBIOS is a small tree with a BIOS; full says that its settings resource
// shows what is in force, too.
func withBIOS(t *testing.T, full bool) *bmc.Tree {
	t.Helper()
	pending := `{"Attributes":{}}`
	if full {
		pending = `{"Attributes":{"Mode":"A","Size":4,"Serial":"x"}}`
	}
	tree := made(t, map[string]string{
		"redfish/v1/Systems/1/Bios/index.json": `{"@odata.id":"/redfish/v1/Systems/1/Bios","AttributeRegistry":"BiosRegistry.v1","Attributes":{"Mode":"A","Size":4,"Serial":"x"},
"@Redfish.Settings":{"SettingsObject":{"@odata.id":"/redfish/v1/Systems/1/Bios/Settings"},"SupportedApplyTimes":["OnReset"]}}`,
		"redfish/v1/Systems/1/Bios/Settings/index.json":    pending,
		"redfish/v1/Registries/index.json":                 `{"@odata.id":"/redfish/v1/Registries","Members":[{"@odata.id":"/redfish/v1/Registries/BiosRegistry.v1"}]}`,
		"redfish/v1/Registries/BiosRegistry.v1/index.json": `{"Id":"BiosRegistry.v1","Location":[{"Language":"en","Uri":"/redfish/v1/Registries/BiosRegistry.json"}]}`,
		"redfish/v1/Registries/BiosRegistry.json": `{"Id":"BiosRegistry.v1","RegistryEntries":{"Attributes":[
{"AttributeName":"Mode","Type":"Enumeration","Value":[{"ValueName":"A"},{"ValueName":"B"}]},
{"AttributeName":"Size","Type":"Integer","LowerBound":1,"UpperBound":8},{"AttributeName":"Serial","Type":"String","ReadOnly":true}]}}`,
		"redfish/v1/Managers/1/Jobs/index.json": `{}`,
	})

	return tree.With(uriSystem, func(body map[string]any) { body["Bios"] = map[string]any{"@odata.id": uriBIOS} })
}

func attributes(t *testing.T, b *bmc.BMC, uri string) map[string]any {
	t.Helper()
	_, body := ask(t, b, http.MethodGet, uri, nil, nil)
	out, _ := body["Attributes"].(map[string]any)

	return out
}

func TestBIOSRules(t *testing.T) {
	stage := func(name string, v any) map[string]any { return map[string]any{"Attributes": map[string]any{name: v}} }
	cases := map[string]struct {
		reason string
		row    bmc.Behaviour
		path   string
		body   map[string]any
		status int
	}{
		"Value":     {reason: "One of the registry's.", body: stage("Mode", "B"), status: 204},
		"NoValue":   {reason: "None of them.", body: stage("Mode", "C"), status: 400},
		"InRange":   {reason: "A number.", body: stage("Size", 8), status: 204},
		"TooMuch":   {reason: "Out of range.", body: stage("Size", 9), status: 400},
		"Word":      {reason: "A word for a number.", body: stage("Size", "8"), status: 400},
		"ReadOnly":  {reason: "Not to be changed.", body: stage("Serial", "y"), status: 400},
		"Unknown":   {reason: "None that there is.", body: stage("Mood", "B"), status: 400},
		"InForce":   {reason: "What is in force isn't written.", path: uriBIOS, body: stage("Mode", "B"), status: 405},
		"When":      {reason: "At a time that is listed.", body: map[string]any{"Attributes": map[string]any{"Mode": "B"}, "@Redfish.SettingsApplyTime": map[string]any{"ApplyTime": "OnReset"}}, status: 204},
		"OtherTime": {reason: "And one that isn't.", body: map[string]any{"@Redfish.SettingsApplyTime": map[string]any{"ApplyTime": "Immediate"}}, status: 400},
		"NoTime":    {reason: "XCC.", row: bmc.Behaviour{NoApplyTime: true}, body: map[string]any{"@Redfish.SettingsApplyTime": map[string]any{"ApplyTime": "OnReset"}}, status: 400},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := bmc.New(bmc.Config{Tree: withBIOS(t, false), Behaviour: &tc.row})
			path := tc.path
			if path == "" {
				path = uriPending
			}
			if status, body := ask(t, b, http.MethodPatch, path, tc.body, nil); status != tc.status {
				t.Errorf("\n%s\nPATCH: got %d, want %d; %v", tc.reason, status, tc.status, body)
			}
		})
	}
}

func TestBIOSIsApplied(t *testing.T) {
	cases := map[string]struct {
		reason string
		row    bmc.Behaviour
		full   bool
		job    bool
		keep   string
		// mode in force after a boot, and how many attributes are shown as pending
		// before and after.
		mode          any
		before, after int
	}{
		"Sparse":  {reason: "What waits.", mode: "B", before: 1},
		"Full":    {reason: "What waits, and the rest.", full: true, mode: "B", before: 3, after: 3},
		"NoJob":   {reason: "An iDRAC waits for a job.", row: bmc.Behaviour{BIOSJob: true}, mode: "A", before: 1, after: 1},
		"Job":     {reason: "And takes it then.", row: bmc.Behaviour{BIOSJob: true}, job: true, mode: "B", before: 1},
		"Reverts": {reason: "Firmware that knows better.", keep: "Mode", mode: "A", before: 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := bmc.New(bmc.Config{Tree: withBIOS(t, tc.full), Behaviour: &tc.row})
			b.KeepAttributes(tc.keep)
			change := map[string]any{"Attributes": map[string]any{"Mode": "B"}}
			if status, _ := ask(t, b, http.MethodPatch, uriPending, change, nil); status != 204 {
				t.Fatalf("PATCH: status %d", status)
			}
			if tc.job {
				status, _ := ask(t, b, http.MethodPost, "/redfish/v1/Managers/1/Jobs", map[string]any{"TargetSettingsURI": uriPending}, nil)
				again, _ := ask(t, b, http.MethodPatch, uriPending, change, nil)
				if status != 200 || again != 400 {
					t.Errorf("\n%s\njob: status %d, PATCH while there is one: %d; want 200, 400", tc.reason, status, again)
				}
			}
			before, early := len(attributes(t, b, uriPending)), attributes(t, b, uriBIOS)["Mode"]
			b.NextBoot("1")
			got := []any{before, early, len(attributes(t, b, uriPending)), attributes(t, b, uriBIOS)["Mode"]}
			if diff := cmp.Diff([]any{tc.before, "A", tc.after, tc.mode}, got); diff != "" {
				t.Errorf("\n%s\npending, in force, and both after a boot: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestTreesStageBIOS changes one attribute of every captured BIOS that has a
// settings resource: it waits, and is in force after a boot.
func TestTreesStageBIOS(t *testing.T) {
	staged := 0
	for name, dir := range captured(t) {
		t.Run(name, func(t *testing.T) {
			tree := load(t, dir)
			row := bmc.BehaviourOf(tree)
			row.Redirect, row.BIOSJob = false, false
			b := bmc.New(bmc.Config{Tree: tree, Behaviour: &row})
			for _, id := range b.Systems() {
				uri := linkOf(resourceAt(t, b, b.SystemURI(id)), "Bios")
				pending := linkOf(resourceAt(t, b, uri), "@Redfish.Settings", "SettingsObject")
				if resourceAt(t, b, pending) == nil {
					t.Logf("%s has no settings resource for its BIOS", id)

					continue
				}
				attribute, value := swappable(t, b, uri, pending)
				if attribute == "" {
					t.Errorf("%s takes no attribute", id)

					continue
				}
				if now := attributes(t, b, uri)[attribute]; now == value {
					t.Errorf("%s is in force before a boot", attribute)
				}
				b.NextBoot(id)
				if now := attributes(t, b, uri)[attribute]; now != value {
					t.Errorf("%s: got %v after a boot, want %v", attribute, now, value)
				}
				staged++
			}
		})
	}
	if staged == 0 {
		t.Error("no BIOS was changed")
	}
}

// resourceAt reads a resource; nil where there is none.
func resourceAt(t *testing.T, b *bmc.BMC, uri string) map[string]any {
	t.Helper()
	if uri == "" {
		return nil
	}
	status, body := ask(t, b, http.MethodGet, uri, nil, nil)
	if status != http.StatusOK {
		return nil
	}

	return body
}

// linkOf is the link at a path of names, "" where there is none.
func linkOf(body map[string]any, names ...string) string {
	for _, name := range append(names, "@odata.id") {
		next := body[name]
		if uri, ok := next.(string); ok {
			return uri
		}
		body, _ = next.(map[string]any)
	}

	return ""
}

// swappable stages for one attribute the value of another, until one is taken.
func swappable(t *testing.T, b *bmc.BMC, uri, pending string) (name string, value any) {
	t.Helper()
	all := attributes(t, b, uri)
	values := []any{"Enabled", "Disabled", "Enable", "Disable", true, false}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		for _, v := range values {
			if all[name] == v {
				continue
			}
			status, _ := ask(t, b, http.MethodPatch, pending, map[string]any{"Attributes": map[string]any{name: v}}, map[string]string{"If-Match": "*"})
			if status < 300 {
				return name, v
			}
		}
	}

	return "", nil
}

// TestBIOSOfModels: our own models take what their registry describes, and nothing else.
func TestBIOSOfModels(t *testing.T) {
	cases := map[string]struct {
		reason string
		body   map[string]any
		want   int
	}{
		"Number":     {reason: "A number within its bounds, as the examples ask for.", body: map[string]any{"AcPowerRecoveryDelay": 30}, want: http.StatusNoContent},
		"OutOfRange": {reason: "One beyond.", body: map[string]any{"AcPowerRecoveryDelay": 601}, want: http.StatusBadRequest},
		"Choice":     {reason: "One of its words.", body: map[string]any{"BootMode": "LegacyBios"}, want: http.StatusNoContent},
		"NoChoice":   {reason: "Another one.", body: map[string]any{"BootMode": "Legacy"}, want: http.StatusBadRequest},
		"ReadOnly":   {reason: "What can't be changed.", body: map[string]any{"SystemSerialNumber": "X"}, want: http.StatusBadRequest},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			emu, _ := emulator(t, bmc.ModelInline, nil)
			if got, body := ask(t, emu.BMC, http.MethodPatch, uriPending, map[string]any{"Attributes": tc.body}, nil); got != tc.want {
				t.Errorf("\n%s\ngot %d, want %d: %v", tc.reason, got, tc.want, body)
			}
		})
	}
}
