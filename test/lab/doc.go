// Package lab runs the whole system on one machine without root: a local control plane, emulators of NetBox, BMCs and machines,
// and the real provider, function and bootd as processes with their own rights. The demo, the end-to-end tests and the bench
// share it.
package lab
