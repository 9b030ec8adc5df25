package bmc_test

import (
	"net/http"
	"strings"
	"testing"
)

// TestModelsAreTyped: each resource of our own models has its type and its name, and
// its own path.
func TestModelsAreTyped(t *testing.T) {
	for name, model := range models() {
		t.Run(name, func(t *testing.T) {
			emu, _ := emulator(t, model, nil)
			seen := map[string]bool{}
			for open := []string{"/redfish/v1/"}; len(open) > 0; open = open[1:] {
				if seen[strings.TrimRight(open[0], "/")] {
					continue
				}
				seen[strings.TrimRight(open[0], "/")] = true
				status, body := ask(t, emu.BMC, http.MethodGet, open[0], nil, nil)
				kind, _ := body["@odata.type"].(string)
				if status == http.StatusOK && (!strings.HasPrefix(kind, "#") || body["Name"] == nil || body["@odata.id"] == nil) {
					t.Errorf("%s: type %q, name %v, path %v", open[0], kind, body["Name"], body["@odata.id"])
				}
				open = append(open, linked(body)...)
			}
			if len(seen) < 10 {
				t.Errorf("only %d resources", len(seen))
			}
		})
	}
}

// linked are the links in an answer.
func linked(v any) []string {
	var out []string
	switch v := v.(type) {
	case map[string]any:
		for name, value := range v {
			if uri, ok := value.(string); ok && name == "@odata.id" && strings.HasPrefix(uri, "/redfish/") {
				out = append(out, uri)
			}
			out = append(out, linked(value)...)
		}
	case []any:
		for _, value := range v {
			out = append(out, linked(value)...)
		}
	}

	return out
}
