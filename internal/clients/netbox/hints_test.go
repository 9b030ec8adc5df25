package netbox_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// TestRangeOfAnotherMask: who names a range by its start with another mask is told which one it has.
func TestRangeOfAnotherMask(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Query().Get("start_address") != "10.70.0.10" {
			_, _ = w.Write([]byte(`{"count":0,"next":null,"results":[]}`))
			return
		}
		_, _ = w.Write([]byte(`{"count":1,"next":null,"results":[{"id":1,"start_address":"10.70.0.10/24","end_address":"10.70.0.13/24","vrf":null}]}`))
	}))
	t.Cleanup(srv.Close)
	c, err := netbox.New(netbox.Config{URL: srv.URL, Token: token, MarkerField: "f"})
	if err != nil {
		t.Fatal(err)
	}
	for start, want := range map[string]string{"10.70.0.10/25": "the one that starts there has another mask, /24", "10.70.0.11/24": ""} {
		_, err := c.FindRange(t.Context(), start, netbox.VRFRef{})
		e, _ := errors.AsType[*netbox.Error](err)
		if e == nil || e.Kind != netbox.KindNotFound || e.Elsewhere != want {
			t.Errorf("%s: %v, want %q", start, err, want)
		}
	}
}

// TestSeveralOfASite: a site is no way to tell devices apart that are in one.
func TestSeveralOfASite(t *testing.T) {
	var sites []string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"count":2,"next":null,"results":[{"id":1,"name":"a","site":{"id":1,"slug":%q}},{"id":2,"name":"a","site":{"id":2,"slug":%q}}]}`, sites[0], sites[1])
	}))
	t.Cleanup(srv.Close)
	c, err := netbox.New(netbox.Config{URL: srv.URL, Token: token, MarkerField: "f"})
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		reason, given string
		sites         []string
		want          string
	}{
		"Apart":    {"two sites tell them apart", "", []string{"x", "y"}, "name one by its id, or its site"},
		"Together": {"one doesn't", "", []string{"x", "x"}, "name one by its id"},
		"Given":    {"nor the one that was given", "x", []string{"x", "x"}, "name one by its id"},
	} {
		t.Run(name, func(t *testing.T) {
			sites = tc.sites
			_, err := c.FindHolder(t.Context(), netbox.HolderRef{Kind: netbox.Device, Name: "a", Site: tc.given})
			if !netbox.IsAmbiguous(err) || !strings.HasSuffix(err.Error(), tc.want) {
				t.Errorf("%s: %v", tc.reason, err)
			}
		})
	}
}
