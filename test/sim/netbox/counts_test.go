package netbox_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/test/sim/netbox"
)

// counted are the counters of a lab whose names begin so, by name and last label.
func (l *lab) counted(names ...string) map[string]float64 {
	l.t.Helper()
	families, err := l.registry.Gather()
	if err != nil {
		l.t.Fatal(err)
	}
	out := map[string]float64{}
	for _, f := range families {
		name := strings.TrimPrefix(f.GetName(), "provider_baremetal_netbox_")
		for _, wanted := range names {
			if name != wanted {
				continue
			}
			for _, m := range f.GetMetric() {
				labels := m.GetLabel()
				out[name+" "+labels[len(labels)-1].GetValue()] += m.GetCounter().GetValue()
			}
		}
	}
	return out
}

// TestCounts: an address that failed and is asked for again is a retry, whatever it failed of; one that was found to be made isn't.
func TestCounts(t *testing.T) {
	const config = "ClusterProviderConfig/netbox"
	cases := map[string]struct {
		fault netbox.FaultKind
		want  map[string]float64
	}{
		"EOFAfter":    {netbox.FaultEOFAfter, map[string]float64{"allocations_total UnknownOutcome": 1}},
		"Disconnect":  {netbox.FaultDisconnect, map[string]float64{"allocations_total UnknownOutcome": 1, "allocations_total Made": 1, "retries_total " + config: 1}},
		"ServerError": {netbox.FaultServerErrorJSON, map[string]float64{"allocations_total UnknownOutcome": 1, "allocations_total Made": 1, "retries_total " + config: 1}},
		"Hang":        {netbox.FaultHang, map[string]float64{"allocations_total UnknownOutcome": 1, "allocations_total Made": 1, "retries_total " + config: 1}},
		"ReadOnly":    {netbox.FaultReadOnlyToken, map[string]float64{"allocations_total Forbidden": 1, "allocations_total Made": 1, "retries_total " + config: 1}},
		"Full":        {netbox.FaultFull, map[string]float64{"allocations_total Full": 1, "allocations_total Made": 1}},
		"Dropped":     {netbox.FaultDropFields, map[string]float64{"allocations_total MarkerField": 1, "allocations_total Made": 1, "retries_total " + config: 1}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, "4.6.8")
			l.netbox.AddMarkerField(field)
			l.meets(tc.fault, hasty)
			l.netbox.Inject(netbox.Fault{Kind: tc.fault, Method: "POST", Path: "/available-ips/", Times: 1})
			l.apply("web-1")
			for range 8 {
				l.once("web-1")
				l.now = l.now.Add(time.Minute)
			}
			l.settle("web-1", ready)
			if diff := cmp.Diff(tc.want, l.counted("allocations_total", "retries_total", "conflicts_total")); diff != "" {
				t.Errorf("-want, +got:\n%s", diff)
			}
		})
	}
}
