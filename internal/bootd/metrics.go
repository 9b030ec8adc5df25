package bootd

import (
	"net/http"
	"strconv"
	"time"

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
	dhcp, dhcp6  *prometheus.CounterVec
	solicitation *prometheus.CounterVec
	tftp         *prometheus.CounterVec
	http         *prometheus.CounterVec
	consumptions prometheus.Counter
	tftpBytes    prometheus.Counter
	tftpSeconds  prometheus.Histogram
	httpBytes    *prometheus.CounterVec
	httpSeconds  *prometheus.HistogramVec
	stageSeconds *prometheus.HistogramVec
	known        knownMetrics
}

func newMetrics(d *daemon) *metrics {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "bootd", Name: name, Help: help}, labels)
	}
	times := prometheus.ExponentialBuckets(0.005, 4, 11) // 5 ms to 87 min.
	histogram := func(o prometheus.HistogramOpts, labels ...string) *prometheus.HistogramVec {
		o.Namespace, o.Buckets = "bootd", times
		return prometheus.NewHistogramVec(o, labels)
	}
	m := &metrics{
		registry:     prometheus.NewRegistry(),
		decisions:    counter("decisions_total", "Answers to script requests.", "answer", "reason"),
		dhcp:         counter("dhcp_packets_total", "DHCP packets, by type, who sent them and how they were answered.", "type", "client", "reason"),
		dhcp6:        counter("dhcp6_packets_total", "DHCPv6 packets, by type, who sent them and how they were answered.", "type", "client", "reason"),
		solicitation: counter("router_solicitations_total", "Machines' searches for a router of IPv6, by how they were answered.", "reason"),
		tftp:         counter("tftp_transfers_total", "TFTP requests, by how they ended.", "outcome"),
		http:         counter("http_requests_total", "HTTP requests, by route and status.", "route", "code"),
		consumptions: prometheus.NewCounter(prometheus.CounterOpts{
			Namespace: "bootd", Name: "consumptions_total", Help: "Grants that this bootd consumed.",
		}),
		tftpBytes: prometheus.NewCounter(prometheus.CounterOpts{
			Namespace: "bootd", Name: "tftp_sent_bytes_total", Help: "Bytes of the files that arrived by TFTP.",
		}),
		httpBytes: counter("http_sent_bytes_total", "Bytes of bodies sent by HTTP.", "route"),
		httpSeconds: histogram(prometheus.HistogramOpts{
			Name: "http_request_seconds", Help: "How long HTTP requests took, with what was sent.",
		}, "route"),
		stageSeconds: histogram(prometheus.HistogramOpts{
			Name: "stage_seconds", Help: "How long boots took to a stage from the last one before it that was seen.",
		}, "stage"),
	}
	m.tftpSeconds = prometheus.NewHistogram(prometheus.HistogramOpts{
		Namespace: "bootd", Buckets: times,
		Name: "tftp_transfer_seconds", Help: "How long files took to arrive by TFTP.",
	})
	m.registry.MustRegister(
		m.decisions, m.dhcp, m.dhcp6, m.solicitation, m.tftp, m.http, m.consumptions, m.tftpBytes, m.tftpSeconds, m.httpBytes, m.httpSeconds, m.stageSeconds,
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	m.registry.MustRegister(d.gauges()...)
	return m
}

// gauges say how it is now.
func (d *daemon) gauges() []prometheus.Collector {
	gauge := func(name, help string, f func() float64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: "bootd", Name: name, Help: help}, f)
	}
	return []prometheus.Collector{
		gauge("machines", "Machines with a plan.", func() float64 {
			if st := d.state(); st != nil {
				return float64(st.Len())
			}
			return 0
		}),
		gauge("temporary_addresses", "Addresses that are lent to machines which nobody knows.", func() float64 {
			return float64(d.lent.book.Count(d.c.Now()))
		}),
		gauge("grants_unused", "Grants of installs that didn't begin yet, and haven't expired.", func() float64 {
			return d.sessionsThat(func(s boot.Session) bool {
				return unused(s) && s.Revocation == "" && d.c.Now().Before(s.Grant.Expires)
			})
		}),
		gauge("installs_running", "Installs that began, and whose end wasn't reported.", func() float64 {
			return d.sessionsThat(installing)
		}),
		gauge("artifacts", "Kernels, initrds and images in the cache.", func() float64 {
			return float64(d.cache.Report().Files)
		}),
		gauge("artifacts_bytes", "What they take on the disk, with those that are half there.", func() float64 {
			return float64(d.cache.Report().Bytes)
		}),
		gauge("snapshot_age_seconds", "Time since the last snapshot of plans was written; -1 before the first. One is written when something changes.", func() float64 {
			saved := d.snapshot.Saved()
			if saved.IsZero() {
				return -1
			}
			return max(0, time.Since(saved).Seconds())
		}),
		gauge("sync_lag_seconds", "Time since the API last took this bootd's heartbeat; -1 before the first.", d.source.Lag),
	}
}

func (m *metrics) decided(d boot.Decision) {
	m.known.decisions.of(d, func() prometheus.Counter { return m.decisions.WithLabelValues(string(d.Answer), d.Reason) }).Inc()
}

func (m *metrics) answered(kind string, c dhcp.Client, r dhcp.Reason) {
	m.known.dhcp.of(dhcpPacket{kind, c, r}, func() prometheus.Counter { return m.dhcp.WithLabelValues(kind, string(c), string(r)) }).Inc()
}

func (m *metrics) answered6(kind string, c dhcp.Client, r dhcp.Reason) {
	m.known.dhcp6.of(dhcpPacket{kind, c, r}, func() prometheus.Counter { return m.dhcp6.WithLabelValues(kind, string(c), string(r)) }).Inc()
}

func (m *metrics) solicited(r dhcp.Reason) { m.solicitation.WithLabelValues(string(r)).Inc() }

func (m *metrics) transferred(o tftp.Outcome) { m.tftp.WithLabelValues(string(o)).Inc() }

func (m *metrics) served(route string, status int) {
	m.known.http.of(outcome{route, status}, func() prometheus.Counter { return m.http.WithLabelValues(route, strconv.Itoa(status)) }).Inc()
}

// sent counts a file that arrived by TFTP.
func (m *metrics) sent(bytes int, took time.Duration) {
	m.tftpBytes.Add(float64(bytes))
	m.tftpSeconds.Observe(took.Seconds())
}

// took counts what an HTTP request was answered.
func (m *metrics) took(route string, bytes int64, took time.Duration) {
	m.known.bytes.of(route, func() prometheus.Counter { return m.httpBytes.WithLabelValues(route) }).Add(float64(bytes))
	m.known.seconds.of(route, func() prometheus.Observer { return m.httpSeconds.WithLabelValues(route) }).Observe(took.Seconds())
}

// sessionsThat counts sessions, as far as they're known.
func (d *daemon) sessionsThat(are func(boot.Session) bool) (n float64) {
	st := d.state()
	if st == nil {
		return 0
	}
	for _, s := range st.Sessions {
		if are(s) {
			n++
		}
	}
	return n
}

// unused says whether a session has a grant that a boot may still use: neither it nor its generation was.
func unused(s boot.Session) bool { return s.Grant != nil && !s.Consumed.Covers(s.Grant) }

// installing says whether an install began and its end wasn't reported. What an earlier entry of the machine used is no install of this one.
func installing(s boot.Session) bool {
	c := s.Consumed
	if c == nil || c.Nonce == "" || s.Revocation != "" {
		return false
	}
	ended := func(r *boot.Result) bool { return r != nil && r.GrantID == c.GrantID }
	return !ended(s.Installed) && !ended(s.Failed)
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
