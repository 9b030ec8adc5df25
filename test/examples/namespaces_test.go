package examples_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestBootdsNamespace holds that the examples, which people apply after bootd's manifests, leave its namespace as these have it.
func TestBootdsNamespace(t *testing.T) {
	find := func(path string) *unstructured.Unstructured {
		for _, doc := range documents(t, path) {
			if doc.GetKind() == "Namespace" && doc.GetName() == "baremetal-boot" {
				return doc
			}
		}
		t.Fatalf("%s has no namespace of bootd", path)
		return nil
	}
	want, got := find(root+"/package/manifests/bootd.yaml"), find(root+"/examples/demo/00-namespaces.yaml")
	if diff := cmp.Diff(want.GetLabels(), got.GetLabels()); diff != "" {
		t.Errorf("labels, -bootd's manifests +examples:\n%s", diff)
	}
}
