package netboxipaddress

import "testing"

// TestGone: of a resource that is gone nothing is remembered, though nobody had the time for a last look at it.
func TestGone(t *testing.T) {
	h, mg := newHarness(newFake()), newAddress()
	h.tried.put(mg.GetUID(), true)
	h.refusals.put(mg.GetUID(), refusal{})
	Kind(h.Connector).Gone(mg)
	_, tried := h.tried.get(mg.GetUID())
	if _, refused := h.refusals.get(mg.GetUID()); tried || refused {
		t.Errorf("kept: tried %v, refused %v", tried, refused)
	}
}
