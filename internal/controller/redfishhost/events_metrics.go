package redfishhost

import "github.com/prometheus/client_golang/prometheus"

// Describe implements prometheus.Collector.
func (l *streams) Describe(to chan<- *prometheus.Desc) {
	to <- streamDesc
	to <- eventsDesc
}

// Collect implements prometheus.Collector. Of hosts alone whose BMC is to be
// listened to.
func (l *streams) Collect(to chan<- prometheus.Metric) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.of {
		up := 0.0
		if !s.up.IsZero() {
			up = 1
		}
		for _, name := range s.hosts {
			to <- prometheus.MustNewConstMetric(streamDesc, prometheus.GaugeValue, up, name.Namespace, name.Name)
			to <- prometheus.MustNewConstMetric(eventsDesc, prometheus.CounterValue, float64(s.heard), name.Namespace, name.Name)
		}
	}
}
