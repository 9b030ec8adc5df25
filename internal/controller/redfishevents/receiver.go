// Package redfishevents takes the events that BMCs send. One is only a hint: whoever knows the secret of a host's subscription has that host looked at,
// and what he says isn't read.
package redfishevents

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/crossplane-contrib/provider-baremetal/internal/controller/hooks"
)

const (
	// maxBody of an event: nothing of it is kept.
	maxBody = 256 << 10
	// maxConns that are open at once; a BMC opens one for each event.
	maxConns = 256
	// maxID and maxSecret bound what is looked up.
	maxID, maxSecret = 64, 64
)

// What became of an event, as a metric counts it.
const (
	resultTaken    = "Taken"    // Its host is looked at, once for all that come together.
	resultUnknown  = "Unknown"  // Nobody we know has sent it.
	resultTooLarge = "TooLarge" // Its body is too long.
	resultPassed   = "Passed"   // The provider that leads was given it, and counts it as well.
	resultUnled    = "Unled"    // None leads, or it couldn't be given it: the next look shows what has changed.
)

// Options of a Receiver. All must be set.
type Options struct {
	// Address to listen on, such as :9445.
	Address string
	// Path under which events come, with a slash at its end.
	Path string
	// Known says whether a host has a subscription of this id and secret.
	Known func(id, secret string) bool
	// Sent has the host looked at that has a subscription of this id and secret; false: none has.
	Sent func(id, secret string) bool
	// Leads says whether this provider is the one that works. Leader returns where that one takes events, as HOST:PORT.
	Leads  func() bool
	Leader func(ctx context.Context) (string, error)
	// Log of what went wrong.
	Log logging.Logger
}

// A Receiver takes events. It's run by each manager: those that don't lead pass on that there was one.
type Receiver struct {
	Options

	relay *hooks.Relay
	count *prometheus.CounterVec
}

// New returns a receiver.
func New(o Options) *Receiver {
	return &Receiver{Options: o, relay: hooks.NewRelay(o.Leader), count: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "provider_baremetal_redfish_events_received_total", Help: "Events that were sent to the provider, by result.",
	}, []string{"result"})}
}

// Describe implements prometheus.Collector.
func (r *Receiver) Describe(to chan<- *prometheus.Desc) { r.count.Describe(to) }

// Collect implements prometheus.Collector.
func (r *Receiver) Collect(to chan<- prometheus.Metric) { r.count.Collect(to) }

// NeedLeaderElection says that it runs in each provider.
func (r *Receiver) NeedLeaderElection() bool { return false }

// Start listens until ctx ends.
func (r *Receiver) Start(ctx context.Context) error {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", r.Address)
	if err != nil {
		return fmt.Errorf("cannot listen on %q for events of BMCs: %w", r.Address, err)
	}
	if err := hooks.Serve(ctx, l, maxConns, r.Handler()); err != nil {
		return fmt.Errorf("cannot take events of BMCs: %w", err)
	}
	return nil
}

// Handler takes events.
func (r *Receiver) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+r.Path+"{id}/{secret}", func(w http.ResponseWriter, req *http.Request) {
		status, result := r.take(w, req)
		r.count.WithLabelValues(result).Inc()
		w.WriteHeader(status)
	})
	return mux
}

// take one event. Whoever isn't known learns nothing, and nothing of what anybody sends is kept.
func (r *Receiver) take(w http.ResponseWriter, req *http.Request) (status int, result string) {
	id, secret := req.PathValue("id"), req.PathValue("secret")
	switch {
	case len(id) > maxID, len(secret) > maxSecret:
		return http.StatusNotFound, resultUnknown
	case !r.Leads():
		return r.pass(req)
	case !r.Known(id, secret):
		return http.StatusNotFound, resultUnknown // Nothing of what a stranger sends is read.
	case req.ContentLength > maxBody:
		return http.StatusRequestEntityTooLarge, resultTooLarge
	}
	if _, err := io.Copy(io.Discard, http.MaxBytesReader(w, req.Body, maxBody)); err != nil {
		return http.StatusRequestEntityTooLarge, resultTooLarge
	}
	if !r.Sent(id, secret) {
		return http.StatusNotFound, resultUnknown
	}
	return http.StatusNoContent, resultTaken
}

// pass on that there was an event: what it says isn't read there either.
func (r *Receiver) pass(req *http.Request) (status int, result string) {
	status, err := r.relay.Pass(req, nil)
	switch {
	case err != nil:
		r.Log.Debug("Cannot pass an event of a BMC on", "error", err)
		return http.StatusServiceUnavailable, resultUnled
	case status >= http.StatusInternalServerError:
		return status, resultUnled
	case status == http.StatusNoContent:
		return status, resultPassed
	}
	return status, resultUnknown
}
