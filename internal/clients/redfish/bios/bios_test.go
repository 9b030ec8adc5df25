package bios

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// registry is one of our own, with what real ones have.
const registry = `{
	"Id": "BiosAttributeRegistry.v1_0_0",
	"RegistryEntries": {
		"Attributes": [
			{"AttributeName": "BootMode", "DisplayName": "System Boot Mode", "Type": "Enumeration", "ReadOnly": false,
			 "Value": [{"ValueName": "Uefi", "ValueDisplayName": "UEFI"}, {"ValueName": "LegacyBios", "ValueDisplayName": "Legacy BIOS"}]},
			{"AttributeName": "BootSeqRetry", "Type": "Enumeration", "Value": [{"ValueName": "Enabled"}, {"ValueName": "Disabled"}]},
			{"AttributeName": "PowerProfile", "Type": "Enumeration", "Value": [{"ValueName": "Custom"}, {"ValueName": "Performance"}]},
			{"AttributeName": "CStates", "Type": "Enumeration", "Value": [{"ValueName": "Enabled"}, {"ValueName": "Disabled"}]},
			{"AttributeName": "Cores", "Type": "Integer", "LowerBound": 2, "UpperBound": 64, "ScalarIncrement": 2},
			{"AttributeName": "Delay", "Type": "Integer", "LowerBound": 0, "UpperBound": 0},
			{"AttributeName": "Smmu", "Type": "Boolean", "Value": [{"ValueName": "1", "ValueDisplayName": "Enabled"}, {"ValueName": "0", "ValueDisplayName": "Disabled"}]},
			{"AttributeName": "AssetTag", "Type": "String", "MinLength": 0, "MaxLength": 8, "ValueExpression": "[A-Za-z0-9]*"},
			{"AttributeName": "Serial", "Type": "String", "ReadOnly": true},
			{"AttributeName": "SetupPassword", "Type": "Password", "MaxLength": 32},
			{"AttributeName": "Http1Ip", "Type": "String"},
			{"AttributeName": "Http1", "Type": "Enumeration", "Value": [{"ValueName": "Enabled"}, {"ValueName": "Disabled"}]},
			{"AttributeName": "Absent", "Type": "Boolean"}
		],
		"Dependencies": [
			{"Type": "Map", "Dependency": {"MapFrom": [{"MapFromAttribute": "PowerProfile", "MapFromProperty": "CurrentValue", "MapFromCondition": "EQU", "MapFromValue": "Performance"}],
			 "MapToAttribute": "CStates", "MapToProperty": "CurrentValue", "MapToValue": "Disabled"}},
			{"Type": "Map", "Dependency": {"MapFrom": [{"MapFromAttribute": "CStates", "MapFromProperty": "CurrentValue", "MapFromCondition": "EQU", "MapFromValue": "Disabled"}],
			 "MapToAttribute": "Cores", "MapToProperty": "ReadOnly", "MapToValue": true}},
			{"Type": "Map", "Dependency": {"MapFrom": [
				{"MapFromAttribute": "Http1", "MapFromProperty": "CurrentValue", "MapFromCondition": "NEQ", "MapFromValue": "Enabled"},
				{"MapFromAttribute": "Delay", "MapFromProperty": "CurrentValue", "MapFromCondition": "GTR", "MapFromValue": 100, "MapTerms": "OR"}],
			 "MapToAttribute": "Http1Ip", "MapToProperty": "ReadOnly", "MapToValue": "true"}}
		]
	}
}`

const inForce = `{"BootMode": "LegacyBios", "BootSeqRetry": "enabled", "PowerProfile": "Custom", "CStates": "Enabled", "Cores": "64", "Delay": 5, "Smmu": true,
	"AssetTag": " r7u12 ", "Serial": "S1", "SetupPassword": null, "Http1Ip": "", "Http1": "Disabled", "IPv4PXESupport_00F4": "Enabled", "Extra": 7}`

func read(t *testing.T, body string) map[string]Value {
	t.Helper()
	var out map[string]Value
	if err := json.Unmarshal([]byte(body), &out); err != nil {
		t.Fatal(err)
	}

	return out
}

func parsed(t *testing.T) Registry {
	t.Helper()
	r, err := Parse([]byte(registry))
	if err != nil {
		t.Fatal(err)
	}

	return r
}

func TestPlan(t *testing.T) {
	cases := map[string]struct {
		reason   string
		declared string
		none     bool // without the registry
		changes  string
		problems []string
	}{
		"AsItIs": {
			reason:   "What has its value in other words, case or type isn't changed; a read-only one neither.",
			declared: `{"BootMode": "legacy bios", "BootSeqRetry": "Enabled", "Cores": 64, "Delay": "5", "Smmu": "Enabled", "Serial": "S1"}`,
			changes:  `{}`,
		},
		"Changes": {
			reason:   "Values go out as the machine takes them.",
			declared: `{"BootMode": "UEFI", "Cores": "32", "Smmu": "disabled", "AssetTag": 12, "Delay": 3600}`,
			changes:  `{"BootMode": "Uefi", "Cores": 32, "Smmu": false, "AssetTag": "12", "Delay": 3600}`,
		},
		"Unknown": {
			reason:   "A name that nobody has: the nearest, by letters, menu and suffix.",
			declared: `{"BootMod": "Uefi", "System Boot Mode": "Uefi", "IPv4PXESupport": "Disabled", "Whatever": 1}`,
			changes:  `{}`,
			problems: []string{
				`"BootMod" isn't an attribute of this machine, nearest are "BootMode"`,
				`"IPv4PXESupport" isn't an attribute of this machine, nearest are "IPv4PXESupport_00F4"`,
				`"System Boot Mode" isn't an attribute of this machine, nearest are "BootMode"`,
				`"Whatever" isn't an attribute of this machine`,
			},
		},
		"Absent": {
			reason:   "A registry describes more than one machine has.",
			declared: `{"Absent": true}`, changes: `{}`,
			problems: []string{`"Absent" isn't an attribute of this machine`},
		},
		"Invalid": {
			reason:   "Each type has its sentence.",
			declared: `{"BootMode": "Both", "Cores": 99, "Delay": 1.5, "Smmu": "maybe", "AssetTag": "far too long", "BootSeqRetry": null}`,
			changes:  `{}`,
			problems: []string{
				`"AssetTag" takes a text of at most 8 characters, not "far too long"`,
				`"BootMode" takes one of "Uefi", "LegacyBios", not "Both"`,
				`"BootSeqRetry" takes one of "Enabled", "Disabled", not null`,
				`"Cores" takes a whole number from 2 to 64 in steps of 2, not 99`,
				`"Delay" takes a whole number, not 1.5`,
				`"Smmu" takes true or false, not "maybe"`,
			},
		},
		"Step":       {reason: "Between two steps.", declared: `{"Cores": 33}`, changes: `{}`, problems: []string{`"Cores" takes a whole number from 2 to 64 in steps of 2, not 33`}},
		"Expression": {reason: "Not of the form.", declared: `{"AssetTag": "a b"}`, changes: `{}`, problems: []string{`"AssetTag" takes a text like [A-Za-z0-9]*, not "a b"`}},
		"ReadOnly":   {reason: "Read-only, and other than declared.", declared: `{"Serial": "S2"}`, changes: `{}`, problems: []string{`"Serial" is read-only and has "S1", not "S2"`}},
		"Password":   {reason: "A password is neither set nor shown.", declared: `{"SetupPassword": "hunter2"}`, changes: `{}`, problems: []string{`"SetupPassword" is a password: those aren't set from a spec`}},
		"Overruled": {
			reason:   "One declared value decides another declared one.",
			declared: `{"PowerProfile": "Performance", "CStates": "Enabled"}`,
			changes:  `{"PowerProfile": "Performance"}`,
			problems: []string{`"CStates" becomes "Disabled", not "Enabled", where "PowerProfile" is "Performance"`},
		},
		"Contradiction": {
			reason:   "What one declared value decides locks another declared one.",
			declared: `{"PowerProfile": "Performance", "Cores": 32}`,
			changes:  `{"PowerProfile": "Performance"}`,
			problems: []string{`"Cores" can't be changed from "64" to 32 while "CStates" is "Disabled"`},
		},
		"Locked": {
			reason:   "Read-only because of another one's value.",
			declared: `{"Http1Ip": "10.0.0.1"}`, changes: `{}`,
			problems: []string{`"Http1Ip" can't be changed from "" to "10.0.0.1" while "Http1" is "Disabled"`},
		},
		"Unlocked": {
			reason:   "The declared map itself removes the reason.",
			declared: `{"Http1Ip": "10.0.0.1", "Http1": "Enabled"}`,
			changes:  `{"Http1Ip": "10.0.0.1", "Http1": "Enabled"}`,
		},
		"Or": {
			reason:   "Either condition is enough.",
			declared: `{"Http1Ip": "10.0.0.1", "Http1": "Enabled", "Delay": 101}`,
			changes:  `{"Http1": "Enabled", "Delay": 101}`,
			problems: []string{`"Http1Ip" can't be changed from "" to "10.0.0.1" while "Delay" is 101`},
		},
		"Secret": {
			reason: "Without a registry a password is told by its name.", declared: `{"UefiPassword": "hunter2"}`, none: true, changes: `{}`,
			problems: []string{`"UefiPassword" is a password: those aren't set from a spec`},
		},
		"NoRegistry": {
			reason:   "By the names and types that are in force.",
			declared: `{"BootMode": "Uefi", "Delay": "6", "Smmu": "false", "Extra": "many", "Nowhere": 1}`,
			none:     true,
			changes:  `{"BootMode": "Uefi", "Delay": 6, "Smmu": false}`,
			problems: []string{`"Extra" takes a number, not "many"`, `"Nowhere" isn't an attribute of this machine`},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := parsed(t)
			if tc.none {
				r = Registry{}
			}
			changes, problems := Plan(r, read(t, tc.declared), read(t, inForce))
			if diff := cmp.Diff(read(t, tc.changes), changes); diff != "" {
				t.Errorf("\n%s\nPlan(...): -want changes, +got:\n%s", tc.reason, diff)
			}
			var got []string
			for _, p := range problems {
				got = append(got, p.String())
			}
			if diff := cmp.Diff(tc.problems, got); diff != "" {
				t.Errorf("\n%s\nPlan(...): -want problems, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestStaged(t *testing.T) {
	cases := map[string]struct {
		reason   string
		settings string
		missing  []string
		foreign  []string
	}{
		"Empty":    {reason: "Nothing is pending.", settings: `{}`, missing: []string{"BootMode", "Cores"}},
		"Ours":     {reason: "Sparse, and ours.", settings: `{"BootMode": "Uefi", "Cores": "32"}`},
		"Copy":     {reason: "A full copy of what is in force isn't pending.", settings: inForce, missing: []string{"BootMode", "Cores"}},
		"Half":     {reason: "Half of ours, and another's.", settings: `{"BootMode": "Uefi", "Delay": 9}`, missing: []string{"Cores"}, foreign: []string{"Delay"}},
		"Other":    {reason: "Another value for a name of ours isn't foreign: the declared one wins.", settings: `{"BootMode": "Uefi", "Cores": 16}`, missing: []string{"Cores"}},
		"Password": {reason: "A password that is shown as text or null isn't anybody's change.", settings: `{"BootMode": "Uefi", "Cores": 32, "SetupPassword": ""}`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			declared := read(t, `{"BootMode": "UEFI", "Cores": 32}`)
			r, current := parsed(t), read(t, inForce)
			changes, _ := Plan(r, declared, current)
			missing, foreign := Staged(r, changes, declared, current, read(t, tc.settings))
			if diff := cmp.Diff(tc.missing, missing); diff != "" {
				t.Errorf("\n%s\nStaged(...): -want missing, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.foreign, foreign); diff != "" {
				t.Errorf("\n%s\nStaged(...): -want foreign, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestValue(t *testing.T) {
	cases := map[string]struct {
		reason string
		body   string
		want   Value
	}{
		"Text":    {reason: "Text.", body: `"a"`, want: Value{Text, "a"}},
		"Whole":   {reason: "The shortest form.", body: `4.0`, want: Value{Number, "4"}},
		"Half":    {reason: "Not whole.", body: `0.5`, want: Value{Number, "0.5"}},
		"Huge":    {reason: "No number of this world.", body: `1e999`},
		"Flag":    {reason: "A truth.", body: `false`, want: Value{Flag, "false"}},
		"Null":    {reason: "Nothing.", body: `null`},
		"List":    {reason: "Not a scalar.", body: `["a"]`},
		"Cray":    {reason: "Described in place.", body: `{"AllowableValues": ["a"], "current_value": "a"}`, want: Value{Text, "a"}},
		"Hostile": {reason: "Nested objects end.", body: `{"current_value": {"current_value": 1}}`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var got Value
			if err := json.Unmarshal([]byte(tc.body), &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\n-want, +got:\n%s", tc.reason, diff)
			}
			if back, err := json.Marshal(got); err != nil || !json.Valid(back) {
				t.Errorf("\n%s\nMarshal: %q, %v", tc.reason, back, err)
			}
		})
	}
}

func TestDigest(t *testing.T) {
	a := Digest(read(t, `{"A": "4", "B": true, "C": "x"}`))
	if b := Digest(read(t, `{"C": " x", "B": "True", "A": 4.0}`)); a != b {
		t.Error("the same wish in other YAML has another digest")
	}
	if b := Digest(read(t, `{"A": "5", "B": true, "C": "x"}`)); a == b {
		t.Error("another wish has the same digest")
	}
	if Digest(read(t, `{"A": "B\"=1\"C"}`)) == Digest(read(t, `{"A": "B", "C": ""}`)) {
		t.Error("a value is taken for a name")
	}
}

func TestParse(t *testing.T) {
	cases := map[string]struct {
		reason string
		body   string
		ok     bool
	}{
		"Ours":    {reason: "A registry.", body: registry, ok: true},
		"Message": {reason: "Another registry.", body: `{"Id": "Base", "Messages": {}}`},
		"Null":    {reason: "Entries that are null.", body: `{"RegistryEntries": {"Attributes": null}}`},
		"Drifted": {reason: "Entries of the wrong type are left out.", body: `{"RegistryEntries": {"Attributes": [7, {"AttributeName": "A", "Value": "x"}], "Dependencies": {}}}`, ok: true},
		"HTML":    {reason: "No JSON.", body: `<html>`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := Parse([]byte(tc.body))
			if (err == nil) != tc.ok {
				t.Errorf("\n%s\nParse(...): %v", tc.reason, err)
			}
		})
	}
}

// TestTakenBack: what an earlier wish staged, and isn't wanted any more, has to
// be staged over.
func TestTakenBack(t *testing.T) {
	r, current := parsed(t), read(t, inForce)
	declared := read(t, `{"BootMode": "Legacy BIOS", "Cores": 32, "Delay": 5}`)
	got := TakenBack(r, declared, current, read(t, `{"BootMode": "Uefi", "Cores": 16, "Delay": 5, "CStates": "Disabled"}`))
	if diff := cmp.Diff(read(t, `{"BootMode": "LegacyBios"}`), got); diff != "" {
		t.Errorf("TakenBack(...): -want, +got:\n%s", diff)
	}
}
