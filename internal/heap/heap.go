// Package heap says how much memory our programs let wait to be collected.
package heap

import (
	"os"
	"runtime/debug"
)

// collectAt is by how many percent the heap grows until it's collected, where GOGC doesn't say. Most of it are caches of what is in the
// cluster, and stay: as much again, Go's default, would wait to be collected. With ten thousand addresses that is a fifth of all memory of
// the provider, for some tenths of a second of CPU a minute.
const collectAt = 50

// Spare sets it.
func Spare() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(collectAt)
	}
}
