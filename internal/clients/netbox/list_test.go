package netbox_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// TestListBounds: a server that somebody names in a config of his own may answer a look with anything. It's given up before it fills our
// memory, and not tried again for a while.
func TestListBounds(t *testing.T) {
	const record = `{"id":%d,"address":"10.0.0.1/24","custom_fields":{"f":"c1/x"},"comments":"%s"}`
	small := strings.TrimSuffix(strings.Repeat(fmt.Sprintf(record, 7, "")+",", 1001), ",")
	large := fmt.Sprintf(record, 7, strings.Repeat("x", 31<<20))
	cases := map[string]struct {
		reason, results string
		asked           int64
	}{
		"Crowded": {"More than was asked for is on a page.", small, 1},
		"Endless": {"There is always one more page of 31 MiB.", large, 4},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var asked atomic.Int64
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				asked.Add(1)
				w.Header().Set("Content-Type", "application/json")
				_, _ = fmt.Fprintf(w, `{"count":9999999,"next":"http://x/","previous":null,"results":[%s]}`, tc.results)
			}))
			defer srv.Close()
			c, err := netbox.New(netbox.Config{URL: srv.URL, Token: token, MarkerField: "f", MarkersBegin: "c1/"})
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if _, ok, err := c.Seen(t.Context(), 7, time.Minute); ok || err != nil {
					t.Errorf("%s: seen %v, %v", tc.reason, ok, err)
				}
			}
			if n := asked.Load(); n != tc.asked {
				t.Errorf("%s: asked %d times, want %d", tc.reason, n, tc.asked)
			}
		})
	}
}
