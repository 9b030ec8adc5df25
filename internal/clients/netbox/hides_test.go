package netbox_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// TestHides: that NetBox has a record which it doesn't show is told by what it refuses, and by nothing else that it may answer.
func TestHides(t *testing.T) {
	const (
		zero       = `400 {"address":["Cannot create IP address with /0 mask."]}`
		whole      = `400 {"__all__":["Custom field 'claim' must have a unique value."]}`
		both       = `400 {"__all__":["a rule"],"address":["Cannot create IP address with /0 mask."]}`
		made       = `201 {"id":7,"address":"192.0.2.1/0","custom_fields":{"claim":"c1/ns/a/u"}}`
		denied     = `403 {"detail":"no"}`
		us, nobody = "c1/ns/a/u", "c1/ns/a/nobody"
	)
	fields := map[string]any{"purpose": "web"}
	cases := map[string]struct {
		reason string
		// answers to POSTs, by the marker in them, and with an asterisk where they have fields.
		answers  map[string]string
		fields   map[string]any
		readOnly bool
		want     bool
		err      netbox.Kind
		asked    []string
	}{
		"Free":         {"no record has the marker", map[string]string{us: zero}, fields, false, false, "", []string{us}},
		"Taken":        {"one has, and no other marker is refused", map[string]string{us: whole, nobody: zero}, nil, false, true, "", []string{us, nobody}},
		"TakenToo":     {"all that is wrong is told at once", map[string]string{us: both, nobody: zero}, nil, false, true, "", []string{us, nobody}},
		"Rule":         {"another rule refuses all", map[string]string{us: whole, nobody: whole}, nil, false, false, "", []string{us, nobody}},
		"RuleOfBoth":   {"also beside what is wrong anyway", map[string]string{us: both, nobody: both}, nil, false, false, "", []string{us, nobody}},
		"Required":     {"a field is required that spec has", map[string]string{us: whole, nobody: whole, us + "*": whole, nobody + "*": zero}, fields, false, true, "", []string{us, nobody, us + "*", nobody + "*"}},
		"RequiredFree": {"and no record has the marker", map[string]string{us: whole, nobody: whole, us + "*": zero}, fields, false, false, "", []string{us, nobody, us + "*"}},
		"Unknown":      {"a field of spec's is no more", map[string]string{us: whole, nobody: whole, us + "*": `400 {"custom_fields":["no"]}`}, fields, false, false, "", []string{us, nobody, us + "*"}},
		"Denied":       {"the token may not write", map[string]string{us: denied}, nil, false, false, "", []string{us}},
		"Unauthorized": {"nor do anything else", map[string]string{us: denied, "": denied}, nil, false, false, netbox.KindUnauthorized, []string{us}},
		"Failed":       {"NetBox failed", map[string]string{us: `500 {"error":"x"}`}, nil, false, false, netbox.KindServerError, []string{us}},
		"FailedThen":   {"or did then", map[string]string{us: whole, nobody: `500 {"error":"x"}`}, nil, false, false, netbox.KindServerError, []string{us, nobody}},
		"Made":         {"it takes the address, and it's deleted again", map[string]string{us: made}, nil, false, false, netbox.KindConflict, []string{us, "DELETE /api/ipam/ip-addresses/7/"}},
		"ReadOnly":     {"nothing is written", nil, nil, true, false, "", nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var asked []string
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				answer := "200 {}"
				switch {
				case r.Method == http.MethodPost:
					var b struct {
						Address string            `json:"address"`
						Fields  map[string]string `json:"custom_fields"`
					}
					if err := json.NewDecoder(r.Body).Decode(&b); err != nil || !strings.HasSuffix(b.Address, "/0") {
						t.Errorf("%v, %+v", err, b)
					}
					key := b.Fields["claim"] + map[bool]string{true: "*"}[b.Fields["purpose"] != ""]
					asked, answer = append(asked, key), tc.answers[key]
				case r.Method == http.MethodDelete:
					asked = append(asked, r.Method+" "+r.URL.Path)
					w.WriteHeader(http.StatusNoContent)
					return
				case tc.answers[""] != "":
					answer = tc.answers[""]
				}
				status := 0
				_, _ = fmt.Sscan(answer, &status)
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(status)
				_, _ = w.Write([]byte(answer[4:]))
			}))
			t.Cleanup(srv.Close)
			c, err := netbox.New(netbox.Config{URL: srv.URL, Token: token, MarkerField: "claim", ReadOnly: tc.readOnly})
			if err != nil {
				t.Fatal(err)
			}
			hides, err := c.Hides(t.Context(), us, nobody, tc.fields)
			if hides != tc.want || netbox.KindOf(err) != tc.err {
				t.Errorf("%s: %v, %v; want %v, %q", tc.reason, hides, err, tc.want, tc.err)
			}
			if diff := cmp.Diff(tc.asked, asked); diff != "" {
				t.Errorf("%s: asked (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
