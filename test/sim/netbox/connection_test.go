package netbox_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	netboxclient "github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/config"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/netboxlink"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/netbox"
)

// configured reads a file of examples/netbox that has one ClusterProviderConfig and one address.
func configured(t *testing.T, name string) (*v1alpha1.ClusterProviderConfig, *v1alpha1.NetBoxIPAddress) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "..", "examples", "netbox", name))
	if err != nil {
		t.Fatal(err)
	}
	docs := bytes.Split(b, []byte("\n---\n"))
	if len(docs) != 2 {
		t.Fatalf("%s has %d documents", name, len(docs))
	}
	pc, mg := &v1alpha1.ClusterProviderConfig{}, &v1alpha1.NetBoxIPAddress{}
	for i, into := range []any{pc, mg} {
		if err := yaml.UnmarshalStrict(docs[i], into); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	return pc, mg
}

// TestConnectionExample applies the example of a NetBox behind a proxy to each version: by the one way that leads there.
func TestConnectionExample(t *testing.T) {
	for _, v := range versions() {
		t.Run(v, func(t *testing.T) {
			l := newLab(t, v)
			l.netbox.AddExampleWorld()
			l.netbox.AddCIDR("10.77.0.0/24")
			front, err := netbox.NewFront(l.netbox, "far.example", "netbox")
			if err != nil {
				t.Fatal(err)
			}
			proxy := httptest.NewServer(front)
			t.Cleanup(func() {
				_ = front.Close()
				proxy.Close()
			})
			pc, mg := configured(t, "connection.yaml")
			l.config.Config = *pc.Spec.NetBox.DeepCopy()
			s := netboxlink.Settings(l.config, clusterID)
			if s.URL != "https://far.example/netbox/" || s.Timeout != 40*time.Second || s.RequestsPerSecond != 50 || s.MarkerField != "house_claim" || s.ReleaseField != "house_released" {
				t.Errorf("settings: %+v", s)
			}
			l.config.Config.ProxyURL, l.config.Config.TLS.CABundle = proxy.URL, front.CA
			l.apply(mg.GetName(), as(mg))
			kept := l.settle(mg.GetName(), ready)
			kept.Spec.ForProvider.Release = &v1alpha1.ReleasePolicy{Policy: v1alpha1.ReleaseKeep}
			if err := l.kube.Update(t.Context(), kept); err != nil {
				t.Fatal(err)
			}
			if n := l.netbox.Markers("house_claim")[clusterID+"/team-a/from-afar/uid-from-afar"]; n != 1 {
				t.Errorf("%d records: %+v", n, l.netbox.Addresses())
			}
			made, refused := front.Passed()
			if made == 0 || refused != 0 {
				t.Errorf("%d tunnels, %d refused", made, refused)
			}
			l.delete(mg.GetName())
			l.settle(mg.GetName(), gone)
			if a := l.netbox.Addresses(); len(a) != 1 || !strings.HasPrefix(fmt.Sprint(a[0].CustomFields["house_released"]), clusterID+"/team-a/from-afar/") {
				t.Errorf("kept: %+v", a)
			}
			l.config.Config.TLS.CABundle = pc.Spec.NetBox.TLS.CABundle // Which signed nothing here.
			l.apply("stranger", as(mg))
			l.settle("stranger", because(v1alpha1.ReasonUntrustedCertificate))
		})
	}
}

// TestObservabilityExample: what the example promises can be seen; TestWarnsByExample has the warning.
func TestObservabilityExample(t *testing.T) {
	l := newLab(t, "4.6.8")
	l.netbox.AddExampleWorld()
	pc, mg := configured(t, "observability.yaml")
	registry, spans := prometheus.NewRegistry(), tracetest.NewSpanRecorder()
	m, err := netboxlink.NewMetrics(registry)
	if err != nil {
		t.Fatal(err)
	}
	l.config.Ref = config.Ref{Kind: v1alpha1.ClusterProviderConfigKind, Name: pc.GetName()}
	l.config.Config = *pc.Spec.NetBox
	l.config.Config.URL = l.netbox.URL()
	l.config.Config.MarkerField = field // As the API server fills it in.
	tracer := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans)).Tracer("test")
	l.watch = []netboxclient.Option{netboxclient.WithMeter(m.Call), netboxclient.WithTracer(tracer)}
	l.restart()
	for _, name := range []string{mg.GetName(), "second"} {
		l.apply(name, as(mg))
		l.settle(name, ready)
	}
	l.apply("third", as(mg))
	l.settle("third", because(v1alpha1.ReasonExhausted))
	l.delete(mg.GetName())
	l.settle(mg.GetName(), gone)
	if got := fmt.Sprint(l.told); !strings.Contains(got, "Released: ") {
		t.Errorf("told: %s", got)
	}
	for name, want := range map[string]float64{"allocations_total Made": 2, "allocations_total Full": 1} {
		if got := counted(t, registry, "ClusterProviderConfig/netbox-watched", name); got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	posted := 0
	for _, s := range spans.Ended() {
		if s.Name() == "NetBox POST ipam/prefixes/{id}/available-ips/" {
			posted++
		}
		if strings.Contains(fmt.Sprint(s.Name(), s.Attributes()), "2001:db8") || strings.Contains(fmt.Sprint(s.Attributes()), secret) {
			t.Errorf("a span says too much: %s %v", s.Name(), s.Attributes())
		}
	}
	if posted != l.posts() || posted != 3 {
		t.Errorf("%d spans of %d POSTs", posted, l.posts())
	}
}

// counted is one counter, by "NAME RESULT", of a provider config.
func counted(t *testing.T, g prometheus.Gatherer, of, what string) float64 {
	t.Helper()
	name, result, _ := strings.Cut(what, " ")
	families, err := g.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() != "provider_baremetal_netbox_"+name {
			continue
		}
		for _, m := range f.GetMetric() {
			labels := map[string]string{}
			for _, l := range m.GetLabel() {
				labels[l.GetName()] = l.GetValue()
			}
			if labels["config"] == of && labels["result"] == result {
				return m.GetCounter().GetValue()
			}
		}
	}
	return 0
}

// TestCosts holds the table of docs/netbox.md: how many requests an address takes, and leaves taking.
func TestCosts(t *testing.T) {
	for v, looks := range map[string]int{"4.4.10": 2, "4.6.8": 1} {
		t.Run(v, func(t *testing.T) {
			l := newLab(t, v)
			l.netbox.AddMarkerField(field)
			l.netbox.AddCIDR("10.81.0.0/20")
			l.maxAge = 2 * time.Minute
			l.restart()
			from := func(mg *v1alpha1.NetBoxIPAddress) {
				mg.Spec.ForProvider.From = []v1alpha1.AddressSource{{Prefix: &v1alpha1.PrefixSource{CIDR: "10.81.0.0/20"}}}
			}
			made := func(name string, change func(*v1alpha1.NetBoxIPAddress)) int {
				before := len(l.netbox.Requests())
				l.apply(name, change)
				l.settle(name, ready)
				return len(l.netbox.Requests()) - before
			}
			made("web-1", from) // Which finds the source, the field and the version.
			for i := range 20 {
				if n := made(fmt.Sprintf("more-%d", i), from); n != 1 {
					t.Errorf("address %d took %d requests", i, n)
				}
			}
			made("fixed-1", fixedAt("10.81.0.200/20"))
			if n := made("fixed-2", fixedAt("10.81.0.201/20")); n > 5 {
				t.Errorf("a fixed one took %d requests", n)
			}
			steady(t, l)
			before := len(l.netbox.Requests())
			l.edit(func(p *v1alpha1.NetBoxIPAddressParameters) { p.Description = new("another") })
			rackLab{l}.rest()
			var patches, others int
			for _, r := range l.netbox.Requests()[before:] {
				if r.Method == http.MethodPatch {
					patches++
				} else {
					others++
				}
			}
			if patches != 1 || others != looks {
				t.Errorf("a change took %d PATCHes and %d others, want 1 and %d", patches, others, looks)
			}
		})
	}
}

func fixedAt(address string) func(*v1alpha1.NetBoxIPAddress) {
	return func(mg *v1alpha1.NetBoxIPAddress) {
		mg.Spec.ForProvider.From, mg.Spec.ForProvider.Address = nil, address
	}
}

// steady holds that all addresses together cost one request a look.
func steady(t *testing.T, l *lab) {
	t.Helper()
	for range 3 {
		l.now = l.now.Add(3 * time.Minute)
		before := len(l.netbox.Requests())
		for i := range 20 {
			l.once(fmt.Sprintf("more-%d", i))
		}
		if all := l.netbox.Requests()[before:]; len(all) != 1 || all[0].Path != "/api/ipam/ip-addresses/" {
			t.Errorf("a look took %d requests: %+v", len(all), all)
		}
	}
}
