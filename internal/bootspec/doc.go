// Package bootspec is the one translation between Kubernetes' kinds (BootNetwork, BootProfile, BootEntry, BootSession) and the domain
// (internal/boot), in both directions. Whoever resolves a plan, the provider in a cluster or a bootd on its own, does it by what is
// here: of one spec there's one plan, with one digest.
//
// It decides nothing about a grant, and reads and writes nothing.
package bootspec
