package netboxwebhook

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestBodies: those who send large bodies have others wait, and don't fill our memory. What each had is given back.
func TestBodies(t *testing.T) {
	s := newStage(t)
	h := s.Handler(t.Context())
	if err := s.bodies.Acquire(t.Context(), bodies); err != nil {
		t.Fatal(err)
	}
	b, huge := body("updated", 7, "1", "m"), strings.Repeat("x", maxBody)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	r := httptest.NewRequestWithContext(gone, http.MethodPost, "/netbox/webhook/netbox", strings.NewReader(b))
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if w.Code != http.StatusServiceUnavailable || s.results[resultFailed] != 1 {
		t.Errorf("no memory for it: %d, %v", w.Code, s.results)
	}
	s.bodies.Release(bodies)
	for range 2 * bodies / maxBody {
		deliver(h, "/netbox/webhook/netbox", huge, sign(b))
	}
	if got := deliver(h, "/netbox/webhook/netbox", b, sign(b)); got != http.StatusNoContent {
		t.Errorf("after many large ones: %d", got)
	}
	if !s.bodies.TryAcquire(bodies) {
		t.Error("not all is given back")
	}
}
