package redfish

import (
	"strings"
	"testing"
)

// survived logs a row of the table that "make test" shows at its end: a fault
// that a test injected, met, and passed. Rows of the same words are one there.
func survived(t *testing.T, fault string) {
	t.Helper()
	if t.Failed() {
		return
	}
	test, _, _ := strings.Cut(t.Name(), "/")
	t.Logf("\n| Redfish client: %s (%s) | 1 | 1 |", fault, test)
}
