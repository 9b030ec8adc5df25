package netbox_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// TestNotAfter: what had to wait for too long before it could be sent isn't, and that's no lost answer.
func TestNotAfter(t *testing.T) {
	asked := 0
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked++
		w.WriteHeader(http.StatusInternalServerError)
	}))
	t.Cleanup(srv.Close)
	c, err := netbox.New(netbox.Config{URL: srv.URL, Token: token, MarkerField: "claim"})
	if err != nil {
		t.Fatal(err)
	}
	address := netip.MustParsePrefix("10.0.0.5/24")
	for name, tc := range map[string]struct {
		by          time.Time
		late, asked bool
	}{
		"Never": {time.Time{}, false, true},
		"Later": {time.Now().Round(0).Add(time.Hour), false, true},
		"Past":  {time.Now().Round(0).Add(-time.Second), true, false},
	} {
		asked = 0
		_, err := c.Create(t.Context(), address, nil, netbox.Request{Marker: "c1/ns/a/u", NotAfter: tc.by})
		if netbox.IsTooLate(err) != tc.late || netbox.IsUnknownOutcome(err) == tc.late || (asked > 0) != tc.asked {
			t.Errorf("%s: %v, asked %d times; want too late: %v, asked: %v", name, err, asked, tc.late, tc.asked)
		}
	}
}

// TestAdoptNotAfter: nor is a marker put on a record then.
func TestAdoptNotAfter(t *testing.T) {
	written := 0
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			written++
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"id":5,"address":"10.0.0.5/24","custom_fields":{"claim":%q},"last_updated":"1"}`, map[bool]string{true: "c1/ns/a/u"}[written > 0])
	}))
	t.Cleanup(srv.Close)
	c, err := netbox.New(netbox.Config{URL: srv.URL, Token: token, MarkerField: "claim"})
	if err != nil {
		t.Fatal(err)
	}
	seen, err := c.Get(t.Context(), 5)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now().Round(0)
	if _, err := c.Adopt(t.Context(), seen, "c1/ns/a/u", netbox.Patch{NotAfter: now.Add(-time.Second)}); !netbox.IsTooLate(err) || written != 0 {
		t.Errorf("too late: %v, written %d times", err, written)
	}
	if _, err := c.Adopt(t.Context(), seen, "c1/ns/a/u", netbox.Patch{NotAfter: now.Add(time.Hour)}); err != nil || written != 1 {
		t.Errorf("in time: %v, written %d times", err, written)
	}
}
