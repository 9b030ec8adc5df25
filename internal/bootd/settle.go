package bootd

import (
	"runtime/debug"
	"time"
)

// What starting took is given back to the system so long after the first state: settling is when files were looked through, too, and atRest when a
// busy API server has answered all that's asked of it once. What's made later is given back by heap.Pace.
const (
	settling = 3 * time.Second
	atRest   = 15 * time.Second
)

func giveBack() {
	time.AfterFunc(settling, debug.FreeOSMemory)
	time.AfterFunc(atRest, debug.FreeOSMemory)
}
