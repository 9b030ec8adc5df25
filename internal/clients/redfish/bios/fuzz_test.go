package bios

import (
	"encoding/json"
	"maps"
	"testing"
)

// FuzzPlan has a hostile registry and hostile values: nothing panics, what is
// planned is JSON, and a plan that is in force plans nothing more.
func FuzzPlan(f *testing.F) {
	f.Add([]byte(registry), []byte(inForce), []byte(`{"BootMode": "UEFI", "Cores": "32", "Http1Ip": "x"}`))
	f.Add([]byte(`{"RegistryEntries": {"Attributes": [{"AttributeName": "A", "Type": "Integer", "LowerBound": -1e300, "UpperBound": 1e300, "ScalarIncrement": 1e-300}]}}`), []byte(`{"A": 1}`), []byte(`{"A": 2}`))
	f.Add([]byte(`{"RegistryEntries": {"Attributes": [{"AttributeName": "A", "Type": "String", "ValueExpression": "((("}]}}`), []byte(`{"A": ""}`), []byte(`{"A": "x"}`))
	f.Fuzz(func(t *testing.T, reg, is, want []byte) {
		r, _ := Parse(reg)
		var current, declared map[string]Value
		_ = json.Unmarshal(is, &current)
		_ = json.Unmarshal(want, &declared)
		changes, problems := Plan(r, declared, current)
		for _, p := range problems {
			_ = p.String()
		}
		if _, err := json.Marshal(changes); err != nil {
			t.Errorf("changes aren't JSON: %v", err)
		}
		if len(problems) > 0 || current == nil {
			return
		}
		maps.Copy(current, changes)
		if missing, _ := Staged(r, changes, declared, current, current); len(missing) > 0 {
			t.Errorf("what is staged is missing: %v", missing)
		}
		for name, v := range changes {
			if !r.same(name, v, current[name]) {
				t.Errorf("%q: %v isn't what was planned", name, v)
			}
		}
	})
}
