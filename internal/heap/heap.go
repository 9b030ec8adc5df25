// Package heap says how much memory our programs let wait to be collected.
package heap

import (
	"os"
	"runtime/debug"
)

// By how many percent the heap grows until it's collected, where GOGC doesn't say. Most of it are caches of what is in the cluster, and stay: as much
// again, Go's default, would wait to be collected. The provider keeps most of them, and makes little as long as nothing happens: with ten thousand
// addresses that is a third of its memory, for a second of CPU a minute.
const (
	OfProvider = 25
	OfBootd    = 50
)

// Spare sets it.
func Spare(percent int) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
	}
}
