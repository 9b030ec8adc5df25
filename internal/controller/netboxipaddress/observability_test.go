package netboxipaddress

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// TestWarnsByExample: the threshold of examples/netbox/observability.yaml is when its provider config is warned.
func TestWarnsByExample(t *testing.T) {
	b, err := os.ReadFile("../../../examples/netbox/observability.yaml")
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := bytes.Cut(b, []byte("\n---\n"))
	pc := &v1alpha1.ClusterProviderConfig{}
	if err := yaml.UnmarshalStrict(first, pc); err != nil {
		t.Fatal(err)
	}
	f := newFake()
	f.prefixes[0] = inPrefix(1, "10.77.0.0/28") // 14 addresses, of which a quarter is 4, rounded up.
	h := newHarness(f)
	h.cfg.Name, h.cfg.Config.WarnBelow = pc.GetName(), pc.Spec.NetBox.WarnBelow
	k := &keeper{connector: h.Connector, unused: time.Hour, log: logging.NewNopLogger()}
	for i := range 10 {
		if len(h.warned) != 0 {
			t.Errorf("warned when %d were taken: %q", i, h.warned)
		}
		mg := newAddress(numbered(i), params(func(p *v1alpha1.NetBoxIPAddressParameters) { p.From = from("10.77.0.0/28") }))
		e := h.connect(t, mg)
		if _, err := e.Observe(t.Context(), mg); err != nil {
			t.Fatal(err)
		}
		if _, err := e.Create(t.Context(), mg); err != nil {
			t.Fatal(err)
		}
		h.now = h.now.Add(time.Second)
		k.settle(t.Context())
	}
	if len(h.warned) != 1 || !strings.Contains(h.warned[0], "netbox-watched: ") || !strings.Contains(h.warned[0], "4 of 14 addresses are free, and warnBelow is 25%") {
		t.Errorf("warned: %q", h.warned)
	}
}
