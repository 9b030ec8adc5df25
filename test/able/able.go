// Package able says of a test that a machine can't run it.
package able

import (
	"os"
	"testing"
)

// Need skips a test on a machine that can't run it, in one line that says why, and fails it where nothing may be skipped. Nil: it can.
func Need(tb testing.TB, lacks error) {
	tb.Helper()
	if lacks == nil {
		return
	}
	if os.Getenv("CI") == "true" {
		tb.Fatalf("cannot run here, and under CI=true that is a failure: %v", lacks)
	}
	tb.Skipf("skipped: %v", lacks)
}
