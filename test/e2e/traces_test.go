package e2e

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	collectorv1 "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/encoding/protojson"
)

// usualCollector is where OpenTelemetry looks for a collector, unless it's told another place.
const usualCollector = "127.0.0.1:4317"

// A spanCollector takes spans as OpenTelemetry's own does.
type spanCollector struct {
	collectorv1.UnimplementedTraceServiceServer

	mu    sync.Mutex
	names []string
	whole string
}

// Export implements TraceServiceServer.
func (c *spanCollector) Export(_ context.Context, r *collectorv1.ExportTraceServiceRequest) (*collectorv1.ExportTraceServiceResponse, error) {
	b, err := protojson.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("cannot read spans: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.whole += string(b) + "\n"
	for _, of := range r.GetResourceSpans() {
		for _, in := range of.GetScopeSpans() {
			for _, s := range in.GetSpans() {
				c.names = append(c.names, s.GetName())
			}
		}
	}
	return &collectorv1.ExportTraceServiceResponse{}, nil
}

// spans are the names of those that came, and all that they hold.
func (c *spanCollector) spans() (names []string, whole string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.names), c.whole
}

// newSpanCollector returns a collector, and its URL.
func (e *env) newSpanCollector() (c *spanCollector, url string) {
	e.t.Helper()
	l, err := (&net.ListenConfig{}).Listen(e.t.Context(), "tcp", "127.0.0.1:0")
	e.must(err)
	c = &spanCollector{}
	s := grpc.NewServer()
	collectorv1.RegisterTraceServiceServer(s, c)
	go func() { _ = s.Serve(l) }() // Ends by Stop.
	e.t.Cleanup(s.Stop)
	return c, "http://" + l.Addr().String()
}

// callers counts who connects to where a collector usually is. Nil where somebody else listens there.
func (e *env) callers() *atomic.Int64 {
	e.t.Helper()
	l, err := (&net.ListenConfig{}).Listen(e.t.Context(), "tcp", usualCollector)
	if err != nil {
		e.t.Logf("whether anybody connects to %s isn't looked at: %v", usualCollector, err)
		return nil
	}
	e.t.Cleanup(func() { _ = l.Close() })
	n := &atomic.Int64{}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return // Closed.
			}
			n.Add(1)
			_ = c.Close()
		}
	}()
	return n
}

// providerEnds asks the provider to end, as its pod's end would, and waits until it has.
func (e *env) providerEnds() {
	e.t.Helper()
	p := e.Provider
	e.must(syscall.Kill(p.PID(), syscall.SIGTERM))
	select {
	case <-p.Done():
	case <-time.After(soon):
		e.must(errors.New("the provider doesn't end within " + soon.String() + "\n" + e.Describe(e.Tenant)))
	}
	if !p.Succeeded() {
		e.t.Errorf("the provider that was asked to end says: %v", p.Failed())
	}
}

// testTraces holds that each call of NetBox is a span where the environment names a collector, without anything secret in it, and that the
// last ones are sent when the provider ends; and that without a collector nobody is called.
func testTraces(t *testing.T) {
	t.Helper()
	n := newNetBoxEnv(t)
	n.healsProvider()
	usual := n.callers()
	n.deleted(n.gets(n.asks("quiet", "")).Ref)
	n.providerEnds() // Had it spans, it would send them now.
	if usual != nil && usual.Load() > 0 {
		t.Errorf("a provider that wasn't told of a collector has called one %d times", usual.Load())
	}

	c, url := n.newSpanCollector()
	// So seldom that only the end can send them.
	n.must(n.ProviderWith(t.Context(), nil, []string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + url, "OTEL_BSP_SCHEDULE_DELAY=3600000"}))
	traced := n.gets(n.asks("traced", ""))
	a, _ := n.record(traced.record)
	marker, _ := a.CustomFields["crossplane_claim"].(string)
	n.deleted(traced.Ref)
	if names, _ := c.spans(); len(names) > 0 {
		t.Errorf("spans were sent before the end, which so shows nothing: %v", names)
	}
	n.providerEnds()
	names, whole := c.spans()
	for _, want := range []string{"NetBox GET status/", "NetBox POST ipam/prefixes/{id}/available-ips/", "NetBox DELETE ipam/ip-addresses/{id}/"} {
		if !slices.Contains(names, want) {
			t.Errorf("want a span %q, got %v", want, names)
		}
	}
	n.silentAbout(map[string]string{"a span": whole}, map[string]string{
		"the token": firstToken, "the webhook's secret": firstHook, "the address": a.Address.Addr().String(), "the marker": marker,
		"the description": described,
	})
}
