//go:build race

package boot

// raced says that the race detector runs.
const raced = true
