package redfishhost

import (
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"
)

// Descriptions of what is told of a machine.
var (
	powerDesc    = desc("power_watts", "What a machine took when its inventory was read.")                                                   //nolint:gochecknoglobals // It doesn't change.
	heatDesc     = desc("temperature_celsius", "Temperatures of a machine when its inventory was read, of eight sensors at most.", "sensor") //nolint:gochecknoglobals // It doesn't change.
	readAtDesc   = desc("inventory_timestamp_seconds", "When a machine's inventory was read.")                                               //nolint:gochecknoglobals // It doesn't change.
	readForDesc  = desc("inventory_requests", "Requests that the last inventory of a machine took.")                                         //nolint:gochecknoglobals // It doesn't change.
	upDesc       = desc("bmc_up", "Whether the last look at a host found its BMC and was let in.")                                           //nolint:gochecknoglobals // It doesn't change.
	requestsDesc = desc("bmc_requests_total", "Requests to a host's BMC, by how they ended.", "result")                                      //nolint:gochecknoglobals // It doesn't change.
	streamDesc   = desc("bmc_event_stream", "Whether a host's BMC is listened to.")                                                          //nolint:gochecknoglobals // It doesn't change.
	eventsDesc   = desc("bmc_events_total", "Events that a host's BMC has told of.")                                                         //nolint:gochecknoglobals // It doesn't change.
)

func desc(name, help string, more ...string) *prometheus.Desc {
	return prometheus.NewDesc("provider_baremetal_host_"+name, help, append([]string{"namespace", "name"}, more...), nil)
}

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
