package netbox_test

import (
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// TestWatch: each request is told once and is one span, and neither holds anything of what was asked or answered.
func TestWatch(t *testing.T) {
	all := transcripts(t, "4.6.8")
	s := &script{t: t, answers: []transcript{
		all["002"], made(200, `{"count":0,"results":[]}`), made(409, `{"detail":"secret-answer"}`), made(403, `{"detail":"x"}`), all["002"],
	}}
	srv := httptest.NewServer(s)
	defer srv.Close()
	var mu sync.Mutex
	var told []netbox.Call
	spans := tracetest.NewSpanRecorder()
	tracer := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans)).Tracer("test")
	c, err := netbox.New(netbox.Config{Name: "ProviderConfig/ns/n", URL: srv.URL, Token: token, MarkerField: "f"}, netbox.WithTracer(tracer),
		netbox.WithMeter(func(k netbox.Call) {
			mu.Lock()
			defer mu.Unlock()
			told = append(told, k)
		}))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, _ = c.Status(t.Context())
	_, _ = c.FindByMarker(t.Context(), "secret-marker")
	_, _ = c.Allocate(t.Context(), netbox.Parent{Kind: netbox.ParentPrefix, ID: 4711, Prefix: netip.MustParsePrefix("10.0.0.0/24")}, netbox.Request{Marker: "secret-marker"})
	_, _ = c.Get(t.Context(), 7)
	const n = "ProviderConfig/ns/n"
	want := []netbox.Call{
		{Connection: n, Method: "GET", Route: "status/", Status: 200},
		{Connection: n, Method: "GET", Route: "ipam/ip-addresses/", Status: 200},
		{Connection: n, Method: "POST", Route: "ipam/prefixes/{id}/available-ips/", Status: 409, Kind: netbox.KindConflict, Marks: true},
		{Connection: n, Method: "GET", Route: "ipam/ip-addresses/{id}/", Status: 403, Kind: netbox.KindForbidden},
		{Connection: n, Method: "GET", Route: "status/", Status: 200},
	}
	if diff := cmp.Diff(want, told, cmpopts.IgnoreFields(netbox.Call{}, "Took")); diff != "" {
		t.Errorf("told: -want, +got:\n%s", diff)
	}
	if told[0].Allocates() || !told[2].Allocates() || told[3].Allocates() {
		t.Error("one of these was to make an address")
	}
	ended := spans.Ended()
	if len(ended) != len(want) {
		t.Fatalf("%d spans, want %d", len(ended), len(want))
	}
	for i, span := range ended {
		text := span.Name() + span.Status().Description
		for _, a := range span.Attributes() {
			text += " " + string(a.Key) + "=" + a.Value.String()
		}
		for _, secret := range []string{token, "secret", "4711", "cf_", "10.0.0"} {
			if strings.Contains(text, secret) {
				t.Errorf("span %d holds %q: %s", i, secret, text)
			}
		}
		if !strings.Contains(text, "url.template="+want[i].Route) {
			t.Errorf("span %d: %s", i, text)
		}
	}
}

// TestTold: what is counted as an address that was made is one, and a conflict is one, whoever notices it.
func TestTold(t *testing.T) {
	all := transcripts(t, "4.2.9")
	parent := netbox.Parent{Kind: netbox.ParentPrefix, ID: 5, Prefix: netip.MustParsePrefix("10.0.0.0/24")}
	record := func(marker, updated string) string {
		return `{"id":7,"address":"10.0.0.1/24","last_updated":"` + updated + `","custom_fields":{"claim_id":"` + marker + `"}}`
	}
	seen := netbox.IPAddress{ID: 7, LastUpdated: "1", Address: netip.MustParsePrefix("10.0.0.1/24")}
	allocate := func(c *netbox.Client) { _, _ = c.Allocate(t.Context(), parent, netbox.Request{Marker: "m"}) }
	const available, one = "ipam/prefixes/{id}/available-ips/", "ipam/ip-addresses/{id}/"
	cases := map[string]struct {
		reason  string
		answers []transcript
		do      func(c *netbox.Client)
		want    []netbox.Call
	}{
		"Made": {"an address", []transcript{made(201, record("m", "1"))}, allocate, []netbox.Call{{Method: "POST", Route: available, Status: 201, Marks: true}}},
		"Dropped": {
			"a record without the marker, which is taken back", []transcript{made(201, record("", "1")), made(200, record("", "1")), {Status: 204}}, allocate,
			[]netbox.Call{{Method: "POST", Route: available, Status: 201, Marks: true, Kind: netbox.KindMarkerField}, {Method: "GET", Route: one, Status: 200}, {Method: "DELETE", Route: one, Status: 204}},
		},
		"Garbage": {"what isn't a record", []transcript{made(201, `{}`)}, allocate, []netbox.Call{{Method: "POST", Route: available, Status: 201, Marks: true, Kind: netbox.KindUnknownOutcome}}},
		"Probe": {
			"a try that can make nothing", []transcript{all["002"], all["111"], noAddress, noAddress, all["297"], all["725"]}, func(c *netbox.Client) { _, _ = c.Inspect(t.Context()) },
			[]netbox.Call{
				{Method: "GET", Route: "status/", Status: 200}, {Method: "GET", Route: "extras/custom-fields/", Status: 200}, {Method: "GET", Route: "ipam/prefixes/", Status: 200},
				{Method: "GET", Route: "ipam/ip-addresses/", Status: 200}, {Method: "OPTIONS", Route: "ipam/ip-addresses/", Status: 200}, {Method: "POST", Route: "ipam/ip-addresses/", Status: 400, Probe: true},
			},
		},
		"Changed": {
			"a change in between, before 4.6", []transcript{made(200, record("m", "2"))}, func(c *netbox.Client) { _, _ = c.Patch(t.Context(), seen, netbox.Patch{DNSName: new("x")}) },
			[]netbox.Call{{Method: "GET", Route: one, Status: 200}, {Method: "PATCH", Route: one, Kind: netbox.KindConflict, Spared: true}},
		},
		"Taken": {
			"another's marker", []transcript{made(200, record("x", "1"))}, func(c *netbox.Client) { _ = c.Delete(t.Context(), seen, "m") },
			[]netbox.Call{{Method: "GET", Route: one, Status: 200}, {Method: "PATCH", Route: one, Kind: netbox.KindConflict, Spared: true}},
		},
		"Adopted": {
			"a marker that is taken", []transcript{made(200, record("", "1")), made(400, `{"__all__":["x"]}`)}, func(c *netbox.Client) { _, _ = c.Adopt(t.Context(), seen, "m", netbox.Patch{}) },
			[]netbox.Call{{Method: "GET", Route: one, Status: 200}, {Method: "PATCH", Route: one, Status: 400, Marks: true, Kind: netbox.KindMarkerTaken}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var told []netbox.Call
			c, err := netbox.New(netbox.Config{URL: urlOf(t, &script{t: t, loose: true, answers: tc.answers}), Token: token, MarkerField: "claim_id"}, netbox.WithMeter(func(k netbox.Call) { told = append(told, k) }))
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			tc.do(c)
			if diff := cmp.Diff(tc.want, told, cmpopts.IgnoreFields(netbox.Call{}, "Took", "Connection")); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
			for _, k := range told {
				if k.Allocates() != (k.Route == available) {
					t.Errorf("%s: %+v is an allocation: %t", tc.reason, k, k.Allocates())
				}
			}
		})
	}
}
