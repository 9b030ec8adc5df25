// Package examples_test proves that every YAML file that people are shown is what the generated schemas accept.
package examples_test

import (
	"context"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	extvalidation "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// TestDefinitions validates the CRDs themselves: their structure, and that each rule compiles and keeps to its budget.
func TestDefinitions(t *testing.T) {
	for name, crd := range definitions(t) {
		t.Run(name, func(t *testing.T) {
			crd.SetOwnerReferences(nil) // A derived CRD's owner is an XRD, which has no UID in a file.
			extv1.SetDefaults_CustomResourceDefinition(crd)
			extv1.SetDefaults_CustomResourceDefinitionSpec(&crd.Spec)
			crd.Status = extv1.CustomResourceDefinitionStatus{StoredVersions: []string{crd.Spec.Versions[0].Name}}
			in := &apiextensions.CustomResourceDefinition{}
			if err := extv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(crd, in, nil); err != nil {
				t.Fatal(err)
			}
			for _, err := range extvalidation.ValidateCustomResourceDefinition(context.Background(), in) {
				t.Error(err)
			}
		})
	}
}

// TestExamples decodes every document under examples strictly and validates it.
func TestExamples(t *testing.T) {
	ks := kinds(t)
	seen := map[string]bool{}
	for _, path := range examples(t) {
		for _, doc := range documents(t, path) {
			gvk := doc.GroupVersionKind()
			seen[gvk.Kind] = true
			t.Run(strings.TrimPrefix(path, root+"/")+"/"+gvk.Kind+"/"+doc.GetName(), func(t *testing.T) {
				if gvk.Group == "" {
					core(t, doc)
					return
				}
				k, ok := ks[gvk]
				if !ok {
					t.Fatalf("no schema of %s", gvk)
				}
				for _, problem := range k.validate(doc, nil) {
					t.Error(problem)
				}
			})
		}
	}
	for _, want := range []string{
		"BareMetalNode", "BootEntry", "BootNetwork", "BootProfile", "ClusterProviderConfig", "HostClaim",
		"NetBoxIPAddress", "ProviderConfig", "RackPool", "RedfishHost",
	} {
		if !seen[want] {
			t.Errorf("kind %s has no example", want)
		}
	}
}

// core decodes a document of Kubernetes' own kinds strictly.
func core(t *testing.T, doc *unstructured.Unstructured) {
	t.Helper()
	into, ok := map[string]metav1.Object{"Namespace": &corev1.Namespace{}, "Secret": &corev1.Secret{}}[doc.GetKind()]
	if !ok {
		t.Fatalf("kind %s isn't expected among the examples", doc.GetKind())
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(doc.Object, into, true); err != nil {
		t.Error(err)
	}
}

// examples lists the files.
func examples(t *testing.T) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(filepath.Join(root, "examples"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && d.Name() == "install" {
			return fs.SkipDir // Crossplane's own kinds: test/e2e/install has them judged by an API server.
		}
		if err == nil && !d.IsDir() && filepath.Ext(path) == ".yaml" {
			out = append(out, path)
		}
		return err
	})
	if err != nil || len(out) == 0 {
		t.Fatalf("cannot list the examples: %d found, %v", len(out), err)
	}
	return out
}
