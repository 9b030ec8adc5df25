package redfishhost

import (
	"context"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
)

// tallies count what hosts' BMCs are asked, and know which of them let us in when
// they were looked at last. They are a prometheus.Collector, and safe for
// concurrent use.
type tallies struct {
	mu sync.Mutex
	// of hosts by name: one that is made anew goes on counting.
	of map[types.NamespacedName]*tally
}

// tally is what is told of one host.
type tally struct {
	uid types.UID
	// looked says that it was looked at, and up that its BMC let us in.
	looked, up bool
	requests   map[redfish.Outcome]int
}

func newTallies() *tallies { return &tallies{of: map[types.NamespacedName]*tally{}} }

// counting returns a context whose requests to a BMC count as a host's.
func (t *tallies) counting(ctx context.Context, name types.NamespacedName, uid types.UID) context.Context {
	t.mu.Lock()
	defer t.mu.Unlock()

	return t.into(ctx, t.host(name, uid))
}

// besides is counting for what is asked beside looks: of a host that is gone by now,
// nothing is told any more.
func (t *tallies) besides(ctx context.Context, name types.NamespacedName, uid types.UID) context.Context {
	t.mu.Lock()
	defer t.mu.Unlock()
	if h := t.of[name]; h != nil && h.uid == uid {
		return t.into(ctx, h)
	}

	return ctx
}

func (t *tallies) into(ctx context.Context, h *tally) context.Context {
	return redfish.WithTally(ctx, func(o redfish.Outcome) {
		t.mu.Lock()
		defer t.mu.Unlock()
		h.requests[o]++
	})
}

// host of a name. Called with the lock held.
func (t *tallies) host(name types.NamespacedName, uid types.UID) *tally {
	h := t.of[name]
	if h == nil {
		h = &tally{requests: map[redfish.Outcome]int{}}
		t.of[name] = h
	}
	h.uid = uid

	return h
}

// look notes whether a look at a host found its BMC and was let in.
func (t *tallies) look(host *v1alpha1.RedfishHost, up bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	h := t.host(nameOfHost(host), host.GetUID())
	h.looked, h.up = true, up
}

// forget a host that is gone, unless another one has its name by now.
func (t *tallies) forget(name types.NamespacedName, uid types.UID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if h := t.of[name]; h != nil && h.uid == uid {
		delete(t.of, name)
	}
}

func nameOfHost(host *v1alpha1.RedfishHost) types.NamespacedName {
	return types.NamespacedName{Namespace: host.GetNamespace(), Name: host.GetName()}
}

// Describe implements prometheus.Collector.
func (t *tallies) Describe(to chan<- *prometheus.Desc) {
	to <- upDesc
	to <- requestsDesc
}

// Collect implements prometheus.Collector. What is told of a host ends with it. No
// request to a BMC waits for who reads it.
func (t *tallies) Collect(to chan<- prometheus.Metric) {
	for _, m := range t.told() {
		to <- m
	}
}

// told is what is told of all hosts.
func (t *tallies) told() []prometheus.Metric {
	t.mu.Lock()
	defer t.mu.Unlock()
	var out []prometheus.Metric
	for name, h := range t.of {
		for outcome, n := range h.requests {
			out = append(out, prometheus.MustNewConstMetric(requestsDesc, prometheus.CounterValue, float64(n), name.Namespace, name.Name, string(outcome)))
		}
		if !h.looked {
			continue
		}
		up := 0.0
		if h.up {
			up = 1
		}
		out = append(out, prometheus.MustNewConstMetric(upDesc, prometheus.GaugeValue, up, name.Namespace, name.Name))
	}

	return out
}
