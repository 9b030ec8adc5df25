package redfish

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestTally: each request is told once, by how it ended, and none by what was asked.
func TestTally(t *testing.T) {
	hang := make(chan struct{})
	defer close(hang)
	c := connectTo(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/refuses":
			w.WriteHeader(http.StatusForbidden)
		case "/fails":
			w.WriteHeader(http.StatusInternalServerError)
		case "/hangs":
			<-hang
		default:
			_, _ = w.Write([]byte(emptyRoot))
		}
	}))
	var mu sync.Mutex
	got := map[Outcome]int{}
	ctx := WithTally(t.Context(), func(o Outcome) {
		mu.Lock()
		defer mu.Unlock()
		got[o]++
	})
	for _, path := range []string{"/", "/refuses", "/fails", "/"} {
		_, _ = c.get(ctx, path, nil)
	}
	_, _ = c.get(WithPatience(ctx, &Patience{Read: 50 * time.Millisecond}), "/hangs", nil)
	yield, now := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, now)
	_, _ = c.get(WithPatience(ctx, &Patience{Yield: yield}), "/hangs", nil)
	_, _ = c.get(t.Context(), "/", nil)
	mu.Lock()
	defer mu.Unlock()
	if diff := cmp.Diff(map[Outcome]int{Answered: 2, Denied: 1, Failed: 1, NoAnswer: 1, BrokenOff: 1}, got); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}
