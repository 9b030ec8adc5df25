package netbox_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// TestJSONFields: which custom fields hold any JSON is asked once in ten minutes, and a token that may not know that knows of none.
func TestJSONFields(t *testing.T) {
	const list = `{"count":3,"next":null,"results":[
		{"id":1,"name":"free","type":{"value":"json","label":"JSON"},"object_types":["ipam.ipaddress"]},
		{"id":2,"name":"zones","type":{"value":"multiselect","label":"x"},"object_types":["ipam.ipaddress"]},
		{"id":3,"name":"other","type":{"value":"json","label":"JSON"},"object_types":["dcim.device"]}]}`
	for name, tc := range map[string]struct {
		reason string
		status int
		body   string
		want   map[string]bool
		err    netbox.Kind
		asked  int
	}{
		"Read":      {"those of addresses", 200, list, map[string]bool{"free": true}, "", 1},
		"Forbidden": {"a token without the right", 403, `{"detail":"no"}`, map[string]bool{}, "", 1},
		"Failed":    {"what NetBox can't say isn't remembered", 500, `{"error":"x"}`, nil, netbox.KindServerError, 2},
	} {
		t.Run(name, func(t *testing.T) {
			asked := 0
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				if r.URL.Path == "/api/status/" {
					_, _ = w.Write([]byte(`{"netbox-version":"4.6.8"}`))
					return
				}
				asked++
				w.WriteHeader(tc.status)
				_, _ = w.Write([]byte(tc.body))
			}))
			t.Cleanup(srv.Close)
			now := time.Unix(0, 0)
			c, err := netbox.New(netbox.Config{URL: srv.URL, Token: token, MarkerField: "claim"}, netbox.WithClock(func() time.Time { return now }))
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				got, err := c.JSONFields(t.Context())
				if diff := cmp.Diff(tc.want, got); diff != "" || netbox.KindOf(err) != tc.err {
					t.Errorf("%s: %v (-want +got):\n%s", tc.reason, err, diff)
				}
			}
			if asked != tc.asked {
				t.Errorf("%s: asked %d times, want %d", tc.reason, asked, tc.asked)
			}
			now = now.Add(10 * time.Minute)
			if _, _ = c.JSONFields(t.Context()); asked != tc.asked+1 {
				t.Errorf("%s: it's believed for ever", tc.reason)
			}
		})
	}
}
