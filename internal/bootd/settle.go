package bootd

import (
	"runtime/debug"
	"time"
)

// What starting took is given back to the system so long after the first state, when files were looked through, too. What's made later is given back
// by heap.Pace.
const settling = 3 * time.Second

func giveBack() { time.AfterFunc(settling, debug.FreeOSMemory) }
