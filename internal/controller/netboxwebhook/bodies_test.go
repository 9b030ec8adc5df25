package netboxwebhook

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

const hookPath = "/netbox/webhook/netbox"

// TestBodies: those who send large bodies have others wait who do, and don't fill our memory. What each had is given back.
func TestBodies(t *testing.T) {
	small := body("updated", 7, "1", "m")
	large := small + strings.Repeat(" ", easyBody)
	cases := map[string]struct {
		reason, body string
		// unsized says that its length isn't told, as where an Ingress sends it in chunks.
		unsized bool
		status  int
	}{
		"Small":   {"NetBox's own need no room", small, false, http.StatusNoContent},
		"Chunked": {"whatever is said of their length", small, true, http.StatusNoContent},
		"Large":   {"a long one needs some", large, false, http.StatusServiceUnavailable},
		"Unsized": {"also where nobody said that it's long", large, true, http.StatusServiceUnavailable},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			h := s.Handler(t.Context())
			if err := s.bodies.Acquire(t.Context(), bodies); err != nil {
				t.Fatal(err)
			}
			gone, cancel := context.WithCancel(t.Context())
			cancel() // Nobody has the time to wait for it.
			r := httptest.NewRequestWithContext(gone, http.MethodPost, hookPath, strings.NewReader(tc.body))
			r.Header.Set(netbox.SignatureHeader, sign(tc.body))
			if tc.unsized {
				r.ContentLength = -1
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if w.Code != tc.status || (s.results[resultFailed] == 1) != (tc.status == http.StatusServiceUnavailable) {
				t.Errorf("%s: %d, %v", tc.reason, w.Code, s.results)
			}
			s.bodies.Release(bodies)
			if got := deliver(h, hookPath, large, sign(large)); got != http.StatusNoContent {
				t.Errorf("%s: with room for it: %d", tc.reason, got)
			}
			for range 2 * bodies / maxBody {
				deliver(h, hookPath, strings.Repeat("x", maxBody), sign(small))
			}
			if !s.bodies.TryAcquire(bodies) {
				t.Errorf("%s: not all is given back", tc.reason)
			}
		})
	}
}

// TestIdleBodies: who says that he sends much, and doesn't, has nobody wait.
func TestIdleBodies(t *testing.T) {
	s := newStage(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- s.serve(ctx, l) }()
	for i := range maxConns - 4 {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		_, _ = fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n%s", hookPath, maxBody, strings.Repeat("x", i%2*easyBody/2))
	}
	b := body("updated", 7, "1", "m")
	req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+l.Addr().String()+hookPath, strings.NewReader(b))
	req.Header.Set(netbox.SignatureHeader, sign(b))
	began := time.Now()
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, res.Body)
	_ = res.Body.Close()
	if took := time.Since(began); res.StatusCode != http.StatusNoContent || took > bodyPatience/2 {
		t.Errorf("one that is signed gets %d after %s", res.StatusCode, took)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
