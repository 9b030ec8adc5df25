package netboxipaddress

import (
	"slices"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/crossplane-contrib/provider-baremetal/internal/controller/netboxlink"
)

// sourceLabels name a source. They are bounded by mostStocks for a provider config, and none is a tenant's to invent: what they say is
// in NetBox.
func sourceLabels() []string { return []string{"config", "kind", "source", "vrf"} }

// A collector shows how full the sources in use were when they were last looked at.
type collector struct {
	// stocks are those of the last manager that was set up in this process.
	stocks     atomic.Pointer[stocks]
	free, size *prometheus.Desc
	waiting    *prometheus.Desc
}

var _ prometheus.Collector = &collector{}

func newCollector() *collector {
	desc := func(name, help string) *prometheus.Desc {
		return prometheus.NewDesc("provider_baremetal_netbox_source_"+name, help, sourceLabels(), nil)
	}
	return &collector{
		free:    desc("free_addresses", "Addresses that are free in a prefix or range that addresses are taken from; at most 1000 are counted in those of unknown size."),
		size:    desc("addresses", "Addresses that a prefix or range can give in all; absent where that's more than can be counted."),
		waiting: desc("waiting", "Resources that wait until a prefix or range has an address to give."),
	}
}

// Describe implements prometheus.Collector.
func (c *collector) Describe(out chan<- *prometheus.Desc) {
	out <- c.free
	out <- c.size
	out <- c.waiting
}

// Collect implements prometheus.Collector.
func (c *collector) Collect(out chan<- prometheus.Metric) {
	s := c.stocks.Load()
	if s == nil {
		return
	}
	for _, l := range s.levels() {
		labels := []string{l.config, l.kind, l.source, l.vrf}
		out <- prometheus.MustNewConstMetric(c.free, prometheus.GaugeValue, float64(l.free), labels...)
		out <- prometheus.MustNewConstMetric(c.waiting, prometheus.GaugeValue, float64(l.waiting), labels...)
		if l.sized {
			out <- prometheus.MustNewConstMetric(c.size, prometheus.GaugeValue, float64(l.size), labels...)
		}
	}
}

// A level is how full a source is.
type level struct {
	config, kind, source, vrf string
	free, size                int64
	sized                     bool
	waiting                   int
}

// levels of all sources that were looked at, each named once: NetBox may have two prefixes that look alike.
func (s *stocks) levels() []level {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []level
	for _, k := range s.shown(mostStocks) {
		l := level{
			config: netboxlink.Name(k.of.Ref), kind: string(k.key.kind), source: k.parent.CIDR(),
			free: max(0, k.usage.Free-k.taken), size: k.usage.Size, sized: k.usage.SizeKnown, waiting: len(k.waiting),
		}
		if v := k.parent.VRF; v != nil {
			l.vrf = v.Name
		}
		i := slices.IndexFunc(out, func(o level) bool {
			return o.config == l.config && o.kind == l.kind && o.source == l.source && o.vrf == l.vrf
		})
		if i < 0 {
			out = append(out, l)
			continue
		}
		out[i].free += l.free
		out[i].size += l.size
		out[i].waiting += l.waiting
	}
	return out
}
