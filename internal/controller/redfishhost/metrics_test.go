package redfishhost

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
)

// gathered are the values of metrics by name and labels.
func gathered(t *testing.T, c prometheus.Collector) map[string]float64 {
	t.Helper()
	r := prometheus.NewPedanticRegistry()
	r.MustRegister(c)
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			key := f.GetName()
			for _, l := range m.GetLabel() {
				key += " " + l.GetValue()
			}
			out[key] = m.GetGauge().GetValue() + m.GetCounter().GetValue()
		}
	}

	return out
}

// TestTallies: what a host's BMC was asked is counted by how that ended, as long as there's the host, and nobody else's.
func TestTallies(t *testing.T) {
	srv := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/redfish/v1/" {
			w.WriteHeader(http.StatusUnauthorized)

			return
		}
		_, _ = w.Write([]byte(`{"Systems":{"@odata.id":"/redfish/v1/Systems"}}`))
	}))
	t.Cleanup(srv.Close)
	made := func(name, uid string) *v1alpha1.RedfishHost {
		return &v1alpha1.RedfishHost{ObjectMeta: metav1.ObjectMeta{Namespace: "infra", Name: name, UID: types.UID(uid)}}
	}
	c := newTallies()
	a, b := made("a", "1"), made("b", "2")
	log := func(ctx context.Context) {
		_, err := redfish.Connect(ctx, redfish.Config{
			Address: srv.URL, Username: "u", Password: "p", Auth: redfish.AuthSession, TLS: redfish.TLS{Verify: redfish.VerifyNone},
			Guard: redfish.Guard{Allowed: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, AllowLoopback: true},
		})
		if !redfish.IsUnauthorized(err) {
			t.Fatalf("Connect(...): %v", err)
		}
	}
	log(c.counting(t.Context(), nameOfHost(a), a.GetUID()))
	c.look(a, false)
	log(c.counting(t.Context(), nameOfHost(b), b.GetUID()))
	c.look(b, true)
	if diff := cmp.Diff(map[string]float64{
		"provider_baremetal_host_bmc_up a infra": 0, "provider_baremetal_host_bmc_up b infra": 1,
		"provider_baremetal_host_bmc_requests_total a infra Answered": 1, "provider_baremetal_host_bmc_requests_total a infra Refused": 1,
		"provider_baremetal_host_bmc_requests_total b infra Answered": 1, "provider_baremetal_host_bmc_requests_total b infra Refused": 1,
	}, gathered(t, c)); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
	c.look(made("b", "3"), true)
	c.forget(nameOfHost(a), a.GetUID())
	c.forget(nameOfHost(b), b.GetUID())
	if got := gathered(t, c); len(got) != 3 || got["provider_baremetal_host_bmc_up b infra"] != 1 {
		t.Errorf("of hosts that are gone, but for one that was made anew: %v", got)
	}
	log(c.besides(t.Context(), nameOfHost(a), a.GetUID()))
	if got := gathered(t, c); len(got) != 3 {
		t.Errorf("an inventory was read of a host that is gone: %v", got)
	}
}
