package bootd

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/artifacts"
)

// cacheMetrics are those of kernels and images.
func cacheMetrics(c *artifacts.Cache) []prometheus.Collector {
	opts := func(name, help string) prometheus.Opts {
		return prometheus.Opts{Namespace: "bootd", Name: name, Help: help}
	}
	gauge := func(name, help string, f func(artifacts.Report) int64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts(opts(name, help)), func() float64 { return float64(f(c.Report())) })
	}
	counter := func(name, help string, f func(artifacts.Counts) int64) prometheus.Collector {
		return prometheus.NewCounterFunc(prometheus.CounterOpts(opts(name, help)), func() float64 { return float64(f(c.Counts())) })
	}
	return []prometheus.Collector{
		gauge("cache_limit_bytes", "What kernels, initrds and images may take on the disk.", func(r artifacts.Report) int64 { return r.Limit }),
		gauge("cache_unavailable_files", "Files that a plan or a profile names and that can't be had.", unavailable),
		counter("cache_downloads_total", "Files that were fetched.", func(n artifacts.Counts) int64 { return n.Downloads }),
		counter("cache_failures_total", "Downloads that failed.", func(n artifacts.Counts) int64 { return n.Failures }),
		counter("cache_resumed_total", "Downloads that broke off and went on by themselves.", func(n artifacts.Counts) int64 { return n.Resumed }),
		counter("cache_evictions_total", "Files that were removed for others.", func(n artifacts.Counts) int64 { return n.Evictions }),
		counter("cache_damaged_total", "Files that weren't what was fetched any more.", func(n artifacts.Counts) int64 { return n.Damaged }),
	}
}

// unavailable counts what can't be had. What there's only no room for yet isn't among it.
func unavailable(r artifacts.Report) (n int64) {
	for _, f := range r.Failed {
		if f.Reason != artifacts.ReasonLater {
			n++
		}
	}
	return n
}
