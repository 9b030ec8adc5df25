package redfishhost

import (
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"
)

// Describe implements prometheus.Collector.
func (l *streams) Describe(to chan<- *prometheus.Desc) {
	to <- streamDesc
	to <- eventsDesc
}

// Collect implements prometheus.Collector. Of hosts alone whose BMC is to be
// listened to, and of each name once: a host may have been made anew under the name
// of one that nobody told us is gone, and a series that is told twice costs all
// metrics of the process. No look waits for who reads them.
func (l *streams) Collect(to chan<- prometheus.Metric) {
	for name, t := range l.told() {
		to <- prometheus.MustNewConstMetric(streamDesc, prometheus.GaugeValue, t.up, name.Namespace, name.Name)
		to <- prometheus.MustNewConstMetric(eventsDesc, prometheus.CounterValue, t.heard, name.Namespace, name.Name)
	}
}

// streamTold is what is told of a host's stream.
type streamTold struct{ up, heard float64 }

// told is that by the hosts' names.
func (l *streams) told() map[types.NamespacedName]streamTold {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := map[types.NamespacedName]streamTold{}
	for _, s := range l.of {
		up := 0.0
		if !s.up.IsZero() {
			up = 1
		}
		for _, name := range s.hosts {
			was := all[name]
			all[name] = streamTold{max(was.up, up), max(was.heard, float64(s.heard))}
		}
	}

	return all
}
