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
		{Connection: n, Method: "POST", Route: "ipam/prefixes/{id}/available-ips/", Status: 409, Kind: netbox.KindConflict},
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
