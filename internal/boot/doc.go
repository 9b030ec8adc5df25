// Package boot is the domain of a network boot, free of I/O: machines, plans, grants, sessions, tokens,
// and the decisions about them. The provider issues grants by it and bootd serves by it, so that both
// hold the same rules.
package boot
