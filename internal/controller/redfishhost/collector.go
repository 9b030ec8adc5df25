package redfishhost

import (
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"
)

var (
	hostLabels  = []string{"namespace", "name"}                                                                                                                                                                       //nolint:gochecknoglobals // It doesn't change.
	powerDesc   = prometheus.NewDesc("provider_baremetal_host_power_watts", "What a machine took when its inventory was read.", hostLabels, nil)                                                                      //nolint:gochecknoglobals // It doesn't change.
	heatDesc    = prometheus.NewDesc("provider_baremetal_host_temperature_celsius", "Temperatures of a machine when its inventory was read, of eight sensors at most.", []string{"namespace", "name", "sensor"}, nil) //nolint:gochecknoglobals // It doesn't change.
	readAtDesc  = prometheus.NewDesc("provider_baremetal_host_inventory_timestamp_seconds", "When a machine's inventory was read.", hostLabels, nil)                                                                  //nolint:gochecknoglobals // It doesn't change.
	readForDesc = prometheus.NewDesc("provider_baremetal_host_inventory_requests", "Requests that the last inventory of a machine took.", hostLabels, nil)                                                            //nolint:gochecknoglobals // It doesn't change.
)

// Describe implements prometheus.Collector.
func (i *inventories) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{powerDesc, heatDesc, readAtDesc, readForDesc} {
		to <- d
	}
}

// Collect implements prometheus.Collector. What changes all the time about a
// machine is told here, and never in its status. It ends with the host.
func (i *inventories) Collect(to chan<- prometheus.Metric) {
	i.mu.Lock()
	read := map[types.NamespacedName]inventoryOf{}
	for _, d := range i.of {
		// A host may be made anew under the name of one that was orphaned.
		if d.read && !d.seen.Before(read[d.name].seen) {
			read[d.name] = *d
		}
	}
	i.mu.Unlock()
	for _, d := range read {
		gauge := func(desc *prometheus.Desc, value float64, more ...string) {
			to <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, append([]string{d.name.Namespace, d.name.Name}, more...)...)
		}
		gauge(readAtDesc, float64(d.at.Unix()))
		gauge(readForDesc, float64(d.Requests))
		if d.Readings.Watts > 0 {
			gauge(powerDesc, d.Readings.Watts)
		}
		for _, t := range d.Readings.Temperatures {
			gauge(heatDesc, t.Celsius, t.Sensor)
		}
	}
}
