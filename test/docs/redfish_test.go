package docs

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestRedfishPage holds that each example of a RedfishHost's capabilities is told of where people read about that.
func TestRedfishPage(t *testing.T) {
	text := texts(t, "redfish.md")[filepath.Join(root, "docs", "redfish.md")]
	files, err := filepath.Glob(filepath.Join(root, "examples", "redfish", "*.yaml"))
	if err != nil || len(files) < 20 {
		t.Fatalf("%d examples, %v", len(files), err)
	}
	for _, f := range files {
		if !strings.Contains(text, "](../examples/redfish/"+filepath.Base(f)+")") {
			t.Errorf("docs/redfish.md doesn't link to examples/redfish/%s: say what it's an example of", filepath.Base(f))
		}
	}
}
