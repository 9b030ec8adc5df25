package netbox

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// A Call is what is told of one request once it has ended. Nothing of it is an input of somebody's: it can label metrics.
type Call struct {
	// Connection is Config.Name.
	Connection string
	// Method and Route, such as POST and ipam/prefixes/{id}/available-ips/.
	Method, Route string
	// Status of the answer; 0 where there was none.
	Status int
	// Kind of the failure; "" where the answer was the one that was wanted.
	Kind Kind
	// Held says that nothing was sent, since NetBox had asked for a pause.
	Held bool
	// Spared says that nothing was sent, since the record that it was for turned out to be somebody else's, or to have changed: Kind is
	// KindConflict.
	Spared bool
	// Probe says that the request could change nothing, whatever its method is.
	Probe bool
	// Marks says that it was to put a marker on a record.
	Marks bool
	// Took is the time from the request's beginning to its answer's end, without the wait for a slot of ours.
	Took time.Duration
}

// Allocates says whether the call was to make an address.
func (c Call) Allocates() bool {
	return !c.Probe && c.Method == http.MethodPost && (strings.HasSuffix(c.Route, "/available-ips/") || c.Route == "ipam/ip-addresses/")
}

// WithMeter has each call told, as it ends. It must be fast and safe for concurrent use.
func WithMeter(told func(Call)) Option {
	return func(o *options) { o.meter = told }
}

// WithTracer has each request be a span.
func WithTracer(t trace.Tracer) Option {
	return func(o *options) { o.tracer = t }
}

// route is a path without what is of one record: numbers.
func route(path string) string {
	parts := strings.Split(path, "/")
	for i, p := range parts {
		if p != "" && strings.Trim(p, "0123456789") == "" {
			parts[i] = "{id}"
		}
	}
	return strings.Join(parts, "/")
}

// watch begins to look at one request; the returned function ends it. A span holds the method, the route, the host, and the answer's
// status: neither the token, nor what is asked for or answered.
func (c *Client) watch(ctx context.Context, k call) (watched context.Context, ended func(answer, error)) {
	r := route(k.path)
	//nolint:spancheck // The returned function ends it.
	ctx, span := c.tracer.Start(ctx, "NetBox "+k.method+" "+r, trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(
		attribute.String("http.request.method", k.method),
		attribute.String("url.template", r),
		attribute.String("server.address", c.base.Hostname()),
		attribute.String("netbox.connection", c.name),
	))
	began := time.Now()
	return ctx, func(a answer, err error) { //nolint:spancheck // This function ends it.
		told := c.told(k)
		told.Status, told.Took = k.want, time.Since(began)
		if e := (*Error)(nil); errors.As(err, &e) {
			told.Status, told.Kind = e.Status, e.Kind
		} else if k.verdict != nil {
			told.Kind = k.verdict(a.body)
		}
		if told.Kind != "" {
			span.SetStatus(codes.Error, string(told.Kind))
		}
		if told.Status != 0 {
			span.SetAttributes(attribute.Int("http.response.status_code", told.Status))
		}
		span.End()
		c.meter(told)
	}
}

// told is what is known of a call before it's sent.
func (c *Client) told(k call) Call {
	return Call{Connection: c.name, Method: k.method, Route: route(k.path), Probe: k.probe, Marks: k.marks}
}

// spared is a write that isn't sent, since what was just read is somebody else's, or isn't what it was. NetBoxes before 4.6 leave that to us,
// so it's counted as a conflict that NetBox tells.
func (c *Client) spared(k call, reason string) *Error {
	told := c.told(k)
	told.Spared, told.Kind = true, KindConflict
	c.meter(told)
	return k.failed(KindConflict, reason, nil)
}
