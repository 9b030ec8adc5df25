package heap

import (
	"runtime/debug"
	"testing"
)

func TestSpare(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	t.Setenv("GOGC", "200")
	Spare(OfProvider)
	if debug.SetGCPercent(100) != 100 {
		t.Error("what the environment says of the collector isn't changed")
	}
	t.Setenv("GOGC", "")
	Spare(OfProvider)
	if debug.SetGCPercent(100) != OfProvider {
		t.Error("where it says nothing, memory is spared")
	}
}
