package heap

import (
	"runtime/debug"
	"testing"
)

func TestSpare(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	t.Setenv("GOGC", "200")
	Spare()
	if debug.SetGCPercent(100) != 100 {
		t.Error("what the environment says of the collector isn't changed")
	}
	t.Setenv("GOGC", "")
	Spare()
	if debug.SetGCPercent(100) != collectAt {
		t.Error("where it says nothing, memory is spared")
	}
}
