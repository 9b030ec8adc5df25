package redfish

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// TestHostileLook: whatever a list of Systems is, the look at it ends soon, in
// little memory, and nobody else gets a request.
func TestHostileLook(t *testing.T) {
	var stolen, sent, pages atomic.Int64
	thief := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { stolen.Add(1) }))
	t.Cleanup(thief.Close)
	body := func(s string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, s) }
	}
	redirect := func(status int) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Location", thief.URL+r.URL.Path)
			w.WriteHeader(status)
		}
	}
	cases := map[string]struct {
		fault   string
		systems http.HandlerFunc
		want    Kind
	}{
		"GiB": {"an answer of 1 GiB", func(w http.ResponseWriter, _ *http.Request) {
			chunk := bytes.Repeat([]byte(" "), 1<<20)
			for range 1 << 10 {
				n, err := w.Write(chunk)
				sent.Add(int64(n))
				if err != nil {
					return
				}
			}
		}, Protocol},
		"Brackets": {"a million brackets in each other", body(strings.Repeat("[", 1_000_000)), Protocol},
		"Braces":   {"700,000 objects in each other", body(strings.Repeat(`{"":`, 700_000)), Protocol},
		"Pages": {"pages without end, each a new one", func(w http.ResponseWriter, _ *http.Request) {
			_, _ = fmt.Fprintf(w, `{"Members":[],"Members@odata.nextLink":"/redfish/v1/Systems?$skip=%d"}`, pages.Add(1))
		}, NoSystem},
		"Moved":     {"a redirect to another host (301)", redirect(http.StatusMovedPermanently), Protocol},
		"Found":     {"a redirect to another host (302)", redirect(http.StatusFound), Protocol},
		"Temporary": {"a redirect to another host (307)", redirect(http.StatusTemporaryRedirect), Protocol},
		"Permanent": {"a redirect to another host (308)", redirect(http.StatusPermanentRedirect), Protocol},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := connectTo(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if strings.HasPrefix(r.URL.Path, pathSystems) {
					tc.systems(w, r)

					return
				}
				_, _ = io.WriteString(w, emptyRoot)
			}))
			began := time.Now()
			if _, err := c.System(t.Context(), Selector{}); KindOf(err) != tc.want {
				t.Errorf("%s: got %v, want kind %q", tc.fault, err, tc.want)
			}
			if took := time.Since(began); took > 10*time.Second {
				t.Errorf("%s: it took %v", tc.fault, took)
			}
			const most = 64 << 20 // What the sockets of both ends hold is sent too.
			if stolen.Load() != 0 || sent.Load() > most || pages.Load() > 2*maxPages {
				t.Errorf("%s: %d requests to another host, %d bytes sent, %d pages read", tc.fault, stolen.Load(), sent.Load(), pages.Load())
			}
			survived(t, tc.fault)
		})
	}
}
