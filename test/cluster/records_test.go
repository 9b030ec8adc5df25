package cluster_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-baremetal/cluster/local"
	"github.com/crossplane-contrib/provider-baremetal/test/cluster/stage"
	"github.com/crossplane-contrib/provider-baremetal/test/lab"
)

// A record is what an object remembers of a machine.
type record struct {
	UID         string
	Annotations map[string]string
	// Fields are those that a tenant or a machine goes by.
	Fields map[string]any
}

// grant is taken away once it was used: nobody has one here, and one that appears is an install.
const grant = "spec.grant"

// remembered fields, by kind. Others may be said in another way by another version.
func remembered() map[string][]string {
	return map[string][]string{
		"BareMetalNode":   {"status.phase", "status.host.name", "status.addresses", "status.installed"},
		"HostClaim":       {"spec.bound"},
		"RedfishHost":     {"spec.claimRef", "spec.forProvider.power", "status.atProvider.power", "status.atProvider.poweredOnAt"},
		"BootSession":     {grant, "status.consumed", "status.installed"},
		"BootEntry":       {"status.atProvider.installed", "status.atProvider.installedGeneration"},
		"NetBoxIPAddress": {"status.atProvider.id", "status.atProvider.address"},
	}
}

// records of all objects, by kind and name. What no object of a kind has would be compared in vain, and fails the test, but for a grant.
func records(t *testing.T, s *stage.Stage) map[string]record {
	t.Helper()
	out := map[string]record{}
	for kind, fields := range remembered() {
		all := &unstructured.UnstructuredList{}
		all.SetAPIVersion(lab.Baremetal)
		if kind == "BareMetalNode" {
			all.SetAPIVersion(lab.Platform)
		}
		all.SetKind(kind + "List")
		must(t, s.Client().List(t.Context(), all))
		found := map[string]bool{}
		for i := range all.Items {
			o := &all.Items[i]
			r := recordOf(o, fields)
			for field := range r.Fields {
				found[field] = true
			}
			out[kind+" "+client.ObjectKeyFromObject(o).String()] = r
		}
		for _, field := range fields {
			if found[field] == (field == grant) {
				t.Errorf("of %d objects of kind %s one has %s: %t, and what is compared is to be there", len(all.Items), kind, field, found[field])
			}
		}
	}
	return out
}

// usedUp is what a journal keeps of a boot for once: an older version until the next one, a newer one until it was used.
var usedUp = regexp.MustCompile(`"override":"[A-Za-z]+",?`)

func recordOf(o *unstructured.Unstructured, fields []string) record {
	r := record{UID: string(o.GetUID()), Annotations: map[string]string{}, Fields: map[string]any{}}
	for k, v := range o.GetAnnotations() {
		if strings.HasPrefix(k, "baremetal.m.crossplane.io/") || k == "crossplane.io/external-name" {
			r.Annotations[k] = usedUp.ReplaceAllString(v, "")
		}
	}
	for _, field := range fields {
		v, found, err := unstructured.NestedFieldCopy(o.Object, strings.Split(field, ".")...)
		if found && err == nil {
			r.Fields[field] = v
		}
	}
	return r
}

// TestRemembered holds that there are such fields.
func TestRemembered(t *testing.T) {
	kinds, err := local.Load("../../package/provider/crds", "../../package/configuration")
	must(t, err)
	seen := map[string]bool{}
	for _, u := range kinds {
		kind := lab.StringOf(u, "spec", "names", "kind")
		if claim := lab.StringOf(u, "spec", "claimNames", "kind"); claim != "" {
			kind = claim
		}
		fields, ok := remembered()[kind]
		if !ok {
			continue
		}
		seen[kind] = true
		versions, _, err := unstructured.NestedSlice(u.Object, "spec", "versions")
		must(t, err)
		for _, field := range fields {
			if !slices.ContainsFunc(versions, func(v any) bool { return hasField(v, field) }) {
				t.Errorf("a %s has no field %s", kind, field)
			}
		}
	}
	for kind := range remembered() {
		if !seen[kind] {
			t.Errorf("there's no kind %s", kind)
		}
	}
}

// hasField says whether a version of a kind has a field, by its schema.
func hasField(version any, field string) bool {
	v, ok := version.(map[string]any)
	if !ok {
		return false
	}
	path := []string{"schema", "openAPIV3Schema"}
	for name := range strings.SplitSeq(field, ".") {
		path = append(path, "properties", name)
	}
	_, found, err := unstructured.NestedMap(v, path...)
	return found && err == nil
}
