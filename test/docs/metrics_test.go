package docs

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/statemetrics"
	"github.com/prometheus/client_golang/prometheus"
	_ "sigs.k8s.io/controller-runtime" // Its metrics.
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// metric is how pages write one: in backquotes, perhaps with labels.
var metric = regexp.MustCompile("`((?:bootd|provider_baremetal|crossplane_managed|controller_runtime|workqueue|rest_client|leader_election)_[a-z0-9_]+)[`{]")

// TestMetricsExist holds that a metric which a page names is one that is served, and that a page names each of the provider's own.
func TestMetricsExist(t *testing.T) {
	own := ownMetrics(t)
	served := slices.Concat(bootdMetrics(t), providerMetrics(t), own)
	found, told := 0, map[string]bool{}
	for name, p := range pages(t) {
		for _, m := range metric.FindAllStringSubmatch(p.Text, -1) {
			found++
			told[m[1]] = true
			if !slices.Contains(served, histogram.ReplaceAllString(m[1], "")) && !slices.Contains(served, m[1]) {
				t.Errorf("%s names metric %s, which nobody serves", name, m[1])
			}
		}
	}
	for _, m := range own {
		if !told[m] {
			t.Errorf("the provider serves %s, and no page says what it's for", m)
		}
	}
	if found < 10 {
		t.Errorf("only %d metrics are named: are they still written in backquotes?", found)
	}
}

// histogram is what Prometheus adds to the name of one.
var histogram = regexp.MustCompile(`_(bucket|sum|count)$`)

// bootdMetrics are the names in bootd's own registry, from its source: nobody outside bootd makes one.
func bootdMetrics(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, "internal", "bootd", "metrics*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?:counter|gauge)\("([a-z0-9_]+)"|Name: "([a-z0-9_]+)"`).FindAllStringSubmatch(string(b), -1) {
			out = append(out, "bootd_"+m[1]+m[2])
		}
	}
	if len(out) < 5 {
		t.Fatalf("bootd's metrics aren't understood any more: %v", out)
	}
	return out
}

// ownMetrics are the provider's own, from its source.
func ownMetrics(t *testing.T) (out []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, "internal", "controller", "*", "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(f, "_test.go") {
			continue
		}
		for _, m := range regexp.MustCompile(`Name:\s+"(provider_baremetal_[a-z_]+)",`).FindAllStringSubmatch(string(b), -1) {
			out = append(out, m[1])
		}
		// Those of a file with one beginning have the rest of their names where they are made.
		if begin := regexp.MustCompile(`"(provider_baremetal_[a-z_]+_)" ?\+`).FindStringSubmatch(string(b)); begin != nil {
			for _, m := range regexp.MustCompile(`\b(?:counter|desc)\("([a-z_]+)"`).FindAllStringSubmatch(string(b), -1) {
				out = append(out, begin[1]+m[1])
			}
		}
	}
	if len(out) < 11 {
		t.Fatalf("the provider's metrics aren't understood any more: %v", out)
	}
	return out
}

// providerMetrics are those of crossplane-runtime and controller-runtime, which the provider serves.
func providerMetrics(t *testing.T) []string {
	t.Helper()
	all := []prometheus.Collector{managed.NewMRMetricRecorder(), statemetrics.NewMRStateMetrics()}
	if c, ok := metrics.Registry.(prometheus.Collector); ok {
		all = append(all, c)
	}
	names := map[string]bool{}
	name := regexp.MustCompile(`fqName: "([^"]+)"`)
	for _, c := range all {
		ch := make(chan *prometheus.Desc)
		go func() {
			c.Describe(ch)
			close(ch)
		}()
		for d := range ch {
			if m := name.FindStringSubmatch(d.String()); m != nil {
				names[m[1]] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}
