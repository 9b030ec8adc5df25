package controller

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/healthz"
)

// waits is a cache that is synced, or isn't for as long as anybody waits.
type waits bool

func (w waits) WaitForCacheSync(ctx context.Context) bool {
	if !w {
		<-ctx.Done()
	}
	return bool(w)
}

func TestSynced(t *testing.T) {
	cases := map[string]struct {
		reason string
		cache  waits
		want   int
	}{
		"Synced": {"It knows what there is.", true, http.StatusOK},
		"Behind": {"It would decide on what it hasn't heard of. That is said before the probe gives up.", false, http.StatusInternalServerError},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			began, w := time.Now(), httptest.NewRecorder()
			h := &healthz.Handler{Checks: map[string]healthz.Checker{"caches": synced(tc.cache)}}
			h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil))
			if w.Code != tc.want || time.Since(began) > 5*time.Second {
				t.Errorf("%s\n%d after %s, want %d soon", tc.reason, w.Code, time.Since(began), tc.want)
			}
		})
	}
}

// TestReadyOffline holds that the provider's own manager isn't ready before it was started.
func TestReadyOffline(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	req := httptest.NewRequestWithContext(ctx, http.MethodGet, "/readyz", nil)
	if err := synced(offline(t).GetCache())(req); err == nil {
		t.Error("a cache that nobody has started knows nothing")
	}
}
