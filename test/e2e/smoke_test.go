package e2e

import (
	"testing"

	"github.com/crossplane-contrib/provider-baremetal/test/lab"
)

// TestClaimToReadyAndBack is the main job: a claim becomes an installed machine, and a deleted claim gives the machine back.
func TestClaimToReadyAndBack(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	h := e.newHost()
	node := e.newNode("web", h)
	claim := e.ready(node)

	m := h.Machine.Status()
	if m.Installs != 1 || m.Erased != 1 || m.DiskBoots != 1 {
		t.Errorf("want one install and one boot from disk, got %+v", m.Counters)
	}
	address := lab.StringOf(e.await(lab.Kind("NetBoxIPAddress", e.Tenant, "web-boot-ipv4"), "ready", lab.Is("Ready", "True")),
		"status", "atProvider", "address")
	if got := e.addressesOf(e.Tenant); got != 1 {
		t.Errorf("want one address in NetBox, got %d", got)
	}
	if phase := lab.StringOf(claim, "status", "phase"); phase != "Ready" || address == "" {
		t.Errorf("phase %q, address %q", phase, address)
	}

	e.deleted(node)
	e.releasedWhole(h)
}
