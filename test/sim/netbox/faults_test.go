package netbox_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/test/sim/netbox"
)

// TestAnswersOfFaults holds what a client gets of each fault that answers, and whether NetBox did what it was asked for.
func TestAnswersOfFaults(t *testing.T) {
	cases := map[string]struct {
		fault  netbox.Fault
		status int
		did    bool
		check  func(h http.Header, body string, err error) bool
	}{
		"Busy": {netbox.Fault{Kind: netbox.FaultBusy, Delay: 7 * time.Second}, http.StatusTooManyRequests, false, func(h http.Header, _ string, _ error) bool {
			return h.Get("Retry-After") == "7"
		}},
		"Conflict": {netbox.Fault{Kind: netbox.FaultConflict}, http.StatusConflict, false, nil},
		"BadGateway": {netbox.Fault{Kind: netbox.FaultBadGateway}, http.StatusBadGateway, false, func(h http.Header, _ string, _ error) bool {
			return strings.HasPrefix(h.Get("Content-Type"), "text/html")
		}},
		"Page": {netbox.Fault{Kind: netbox.FaultPage}, http.StatusOK, false, func(_ http.Header, body string, _ error) bool {
			return strings.HasPrefix(body, "<!doctype html>")
		}},
		"Redirect": {netbox.Fault{Kind: netbox.FaultRedirect, Location: "http://other.example/"}, http.StatusFound, false, func(h http.Header, _ string, _ error) bool {
			return h.Get("Location") == "http://other.example/"
		}},
		"BOM": {netbox.Fault{Kind: netbox.FaultBOM}, http.StatusCreated, true, func(_ http.Header, body string, _ error) bool {
			return strings.HasPrefix(body, "\xef\xbb\xbf{") && json.Valid([]byte(body[3:]))
		}},
		"HalfJSON": {netbox.Fault{Kind: netbox.FaultHalfJSON}, http.StatusCreated, true, func(_ http.Header, body string, err error) bool {
			return err == nil && !json.Valid([]byte(body))
		}},
		"CutOff": {netbox.Fault{Kind: netbox.FaultCutOff}, http.StatusCreated, true, func(_ http.Header, _ string, err error) bool {
			return errors.Is(err, io.ErrUnexpectedEOF)
		}},
		"StrangeChoice": {netbox.Fault{Kind: netbox.FaultStrangeChoice}, http.StatusCreated, true, func(_ http.Header, body string, _ error) bool {
			return json.Valid([]byte(body)) && strings.Contains(body, `"value":"entangled"`) && strings.Contains(body, "quantum_state")
		}},
		"ErrorAfter": {netbox.Fault{Kind: netbox.FaultErrorAfter}, http.StatusInternalServerError, true, nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s, _, _ := start(t, "4.6.8", "10.77.0.0/24")
			tc.fault.Method, tc.fault.Times = http.MethodPost, 1
			s.Inject(tc.fault)
			r, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL()+"api/ipam/prefixes/1/available-ips/", strings.NewReader("{}"))
			r.Header.Set("Authorization", "Token "+secret)
			res, err := http.DefaultTransport.RoundTrip(r)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = res.Body.Close() }()
			body, err := io.ReadAll(res.Body)
			if res.StatusCode != tc.status || len(s.Addresses()) == 1 != tc.did {
				t.Errorf("status %d, want %d; records %v", res.StatusCode, tc.status, s.Addresses())
			}
			if tc.check != nil && !tc.check(res.Header, string(body), err) {
				t.Errorf("%v %q, %v", res.Header, body, err)
			}
			if s.FaultsMet()[tc.fault.Kind] != 1 {
				t.Errorf("met: %v", s.FaultsMet())
			}
		})
	}
}
