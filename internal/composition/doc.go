// Package composition is function-baremetal: pure functions from a composite, what is observed of it, and the BootNetwork that it
// names, to what Crossplane is to keep of it, with readiness, conditions and status.
//
// Nothing here reads a clock, picks a host, takes the composite's own status as a fact, or renders a host's power, boot, reset or
// claimRef: those belong to the lifecycle controllers.
package composition
