package netbox_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// page is a file of the repository.
func page(t *testing.T, path ...string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(append([]string{"..", "..", ".."}, path...)...))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestBeginExample: what a new user applies is all that the first address needs, of each NetBox, and all that the other examples build upon.
func TestBeginExample(t *testing.T) {
	have := map[string]string{}
	first := &v1alpha1.NetBoxIPAddress{}
	for doc := range bytes.SplitSeq(page(t, "examples", "netbox", "begin.yaml"), []byte("\n---\n")) {
		var o struct {
			Kind     string
			Metadata struct{ Namespace, Name string }
		}
		if err := yaml.Unmarshal(doc, &o); err != nil {
			t.Fatal(err)
		}
		have[o.Kind] = strings.TrimPrefix(o.Metadata.Namespace+"/"+o.Metadata.Name, "/")
		if o.Kind == "NetBoxIPAddress" {
			if err := yaml.UnmarshalStrict(doc, first); err != nil {
				t.Fatal(err)
			}
		}
	}
	for kind, name := range map[string]string{"Namespace": "infra", "Secret": "crossplane-system/netbox", "ClusterProviderConfig": "netbox", "NetBoxIPAddress": "infra/first"} { //nolint:gosec // Names, and no password.
		if have[kind] != name {
			t.Errorf("%s %q, want %q", kind, have[kind], name)
		}
	}
	for _, v := range versions() {
		l := newLab(t, v)
		l.netbox.AddCIDR("10.77.0.0/24")
		l.apply("first", as(first))
		l.still(l.settle("first", ready))
	}
}

// TestWebhookPath: the steps of the documentation post the webhook to where the provider config of their example is told.
func TestWebhookPath(t *testing.T) {
	docs := page(t, "docs", "netbox.md")
	var config string
	for doc := range bytes.SplitSeq(page(t, "examples", "netbox", "webhook.yaml"), []byte("\n---\n")) {
		pc := &v1alpha1.ClusterProviderConfig{}
		if err := yaml.Unmarshal(doc, pc); err == nil && pc.Kind == "ClusterProviderConfig" {
			config = pc.GetName()
		}
	}
	urls := regexp.MustCompile(`"payload_url": "[^"]*(/netbox/webhook/[^"]*)"`).FindAllSubmatch(docs, -1)
	if len(urls) == 0 || config == "" {
		t.Fatal("there's no webhook to compare")
	}
	for _, u := range urls {
		if got, want := string(u[1]), "/netbox/webhook/"+config; got != want {
			t.Errorf("docs/netbox.md has NetBox tell %s; the example's config is told at %s", got, want)
		}
	}
}
