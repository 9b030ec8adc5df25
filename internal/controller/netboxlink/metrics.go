package netboxlink

import (
	"fmt"
	"net/http"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/config"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/wiring"
)

// Metrics of connections. Their labels are names of provider configs, and words of ours: never an input or an answer.
type Metrics struct {
	requests, allocations, conflicts, retries, drift, webhooks *prometheus.CounterVec

	latency *prometheus.HistogramVec
}

// labelConfig is the provider config, such as ClusterProviderConfig/netbox.
const labelConfig = "config"

// NewMetrics returns metrics that are registered, or those that already are.
func NewMetrics(r prometheus.Registerer) (*Metrics, error) {
	m := &Metrics{
		requests: counter("requests_total", "Requests to NetBox by route and status; code 0: none came back, held: none was sent, since NetBox had asked for a pause.",
			labelConfig, "method", "route", "code"),
		latency: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "provider_baremetal_netbox_request_duration_seconds",
			Help:    "How long NetBox took to answer, without the wait for a turn among our own requests.",
			Buckets: []float64{.01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60},
		}, []string{labelConfig, "method", "route"}),
		allocations: counter("allocations_total", "Requests to make an address by result: Made, Full, MarkerTaken, UnknownOutcome and other kinds of failure, such as MarkerField: it was made without the marker, and taken back.",
			labelConfig, "result"),
		conflicts: counter("conflicts_total", "Writes that NetBox refused, or that weren't sent, since a record, or its marker, was somebody else's or had changed.", labelConfig, "kind"),
		retries:   counter("retries_total", "Addresses that were asked for again after NetBox had failed to make them.", labelConfig),
		drift:     counter("drift_total", "Records of ours that somebody had changed, by what was done: Corrected, Reported.", labelConfig, "action"),
		webhooks:  counter("webhooks_total", "Deliveries of webhooks by result; no config where the sender isn't known.", labelConfig, "result"),
	}
	for _, v := range []**prometheus.CounterVec{&m.requests, &m.allocations, &m.conflicts, &m.retries, &m.drift, &m.webhooks} {
		if err := register(r, v); err != nil {
			return nil, err
		}
	}
	return m, register(r, &m.latency)
}

func counter(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: "provider_baremetal_netbox_" + name, Help: help}, labels)
}

// register puts in the place of a metric what is registered as it already, if anything is.
func register[T prometheus.Collector](r prometheus.Registerer, c *T) (err error) {
	*c, err = wiring.Registered(r, *c)
	if err != nil {
		return fmt.Errorf("cannot register metrics of NetBoxes: %w", err)
	}
	return nil
}

// Call counts one call.
func (m *Metrics) Call(c netbox.Call) {
	if c.Held {
		m.requests.WithLabelValues(c.Connection, c.Method, c.Route, "held").Inc()
		return
	}
	if c.Spared {
		m.conflicts.WithLabelValues(c.Connection, string(c.Kind)).Inc()
		return
	}
	m.requests.WithLabelValues(c.Connection, c.Method, c.Route, strconv.Itoa(c.Status)).Inc()
	m.latency.WithLabelValues(c.Connection, c.Method, c.Route).Observe(c.Took.Seconds())
	if c.Allocates() {
		m.allocations.WithLabelValues(c.Connection, result(c)).Inc()
	}
	if c.Kind == netbox.KindConflict && !full(c) || c.Kind == netbox.KindMarkerTaken && c.Marks {
		m.conflicts.WithLabelValues(c.Connection, string(c.Kind)).Inc()
	}
}

// result of a call that was to make an address.
func result(c netbox.Call) string {
	switch {
	case c.Kind == "":
		return "Made"
	case full(c):
		return string(netbox.KindFull)
	}
	return string(c.Kind)
}

// full says of a call that was to make an address that nothing is free: a 409 does.
func full(c netbox.Call) bool {
	return c.Allocates() && c.Kind == netbox.KindConflict && c.Status == http.StatusConflict
}

// Retried counts an address that is asked for again.
func (m *Metrics) Retried(of config.Ref) { m.retries.WithLabelValues(Name(of)).Inc() }

// Drifted counts a record that somebody had changed, by what was done about it: Corrected or Reported.
func (m *Metrics) Drifted(of config.Ref, action string) {
	m.drift.WithLabelValues(Name(of), action).Inc()
}

// Delivered counts a delivery of a webhook; known is false where its sender isn't.
func (m *Metrics) Delivered(of config.Ref, known bool, result string) {
	name := ""
	if known {
		name = Name(of)
	}
	m.webhooks.WithLabelValues(name, result).Inc()
}
