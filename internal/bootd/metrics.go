package bootd

import (
	"net/http"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/tftp"
)

// metrics of one bootd. Their labels hold words of ours, never what a machine says.
type metrics struct {
	registry     *prometheus.Registry
	decisions    *prometheus.CounterVec
	dhcp         *prometheus.CounterVec
	tftp         *prometheus.CounterVec
	http         *prometheus.CounterVec
	consumptions prometheus.Counter
}

func newMetrics(source Source, state func() *boot.State) *metrics {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "bootd", Name: name, Help: help}, labels)
	}
	gauge := func(name, help string, f func() float64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: "bootd", Name: name, Help: help}, f)
	}
	m := &metrics{
		registry:  prometheus.NewRegistry(),
		decisions: counter("decisions_total", "Answers to script requests.", "answer", "reason"),
		dhcp:      counter("dhcp_packets_total", "DHCP packets, by who sent them and how they were answered.", "client", "reason"),
		tftp:      counter("tftp_transfers_total", "TFTP requests, by how they ended.", "outcome"),
		http:      counter("http_requests_total", "HTTP requests, by route and status.", "route", "code"),
		consumptions: prometheus.NewCounter(prometheus.CounterOpts{
			Namespace: "bootd", Name: "consumptions_total", Help: "Grants that this bootd consumed.",
		}),
	}
	m.registry.MustRegister(
		m.decisions, m.dhcp, m.tftp, m.http, m.consumptions, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		gauge("machines", "Machines with a plan.", func() float64 {
			if st := state(); st != nil {
				return float64(len(st.Plans()))
			}
			return 0
		}),
		gauge("sync_lag_seconds", "Time since the API last took this bootd's heartbeat; -1 before the first.", source.Lag),
	)
	return m
}

func (m *metrics) decided(d boot.Decision) {
	m.decisions.WithLabelValues(string(d.Answer), d.Reason).Inc()
}

func (m *metrics) answered(c dhcp.Client, r dhcp.Reason) {
	m.dhcp.WithLabelValues(string(c), string(r)).Inc()
}

func (m *metrics) transferred(o tftp.Outcome) { m.tftp.WithLabelValues(string(o)).Inc() }

func (m *metrics) served(route string, status int) {
	m.http.WithLabelValues(route, strconv.Itoa(status)).Inc()
}

// register adds /healthz, /readyz and /metrics.
func (m *metrics) register(mux *http.ServeMux, ready func() bool) {
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok\n")) })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if !ready() {
			http.Error(w, "no plans and token keys yet", http.StatusServiceUnavailable)
			return
		}
		_, _ = w.Write([]byte("ok\n"))
	})
	mux.Handle("GET /metrics", promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{}))
}
