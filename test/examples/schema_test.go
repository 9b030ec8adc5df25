package examples_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/xcrd"
	xv1 "github.com/crossplane/crossplane/apis/v2/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"sigs.k8s.io/yaml"
)

// root is the repository's root as seen from this folder.
const root = "../.."

// A kind validates documents as an API server would at admission, with nothing but its CRD.
type kind struct {
	structural *schema.Structural
	openapi    validation.SchemaValidator
	rules      *cel.Validator
}

// validate returns what an API server would refuse the document with; old is nil for a creation. An unknown field is refused too,
// as kubectl asks for.
func (k *kind) validate(doc, old *unstructured.Unstructured) []string {
	obj := doc.DeepCopy().Object
	unknown := pruning.PruneWithOptions(obj, k.structural, true, schema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})
	var out []string
	for _, path := range unknown {
		out = append(out, fmt.Sprintf("unknown field %q", path))
	}
	defaulting.Default(obj, k.structural)
	var before any
	errs := validation.ValidateCustomResource(nil, obj, k.openapi)
	if old != nil {
		was := old.DeepCopy().Object
		defaulting.Default(was, k.structural)
		before = was
		errs = validation.ValidateCustomResourceUpdate(nil, obj, was, k.openapi)
	}
	errs = append(errs, listtype.ValidateListSetsAndMaps(field.NewPath(""), k.structural, obj)...)
	if k.rules != nil && len(errs) == 0 {
		errs, _ = k.rules.Validate(context.Background(), field.NewPath(""), k.structural, obj, before, celconfig.RuntimeCELCostBudget)
	}
	for _, err := range errs {
		out = append(out, err.Error())
	}
	return out
}

// compiled holds what kinds returned first: rules take a while to compile, and nothing changes them.
var compiled map[kschema.GroupVersionKind]*kind

// kinds reads every CRD of the provider, and derives the composites' as Crossplane does.
func kinds(t *testing.T) map[kschema.GroupVersionKind]*kind {
	t.Helper()
	if compiled != nil {
		return compiled
	}
	out := map[kschema.GroupVersionKind]*kind{}
	for name, crd := range definitions(t) {
		for _, v := range crd.Spec.Versions {
			k, err := newKind(v)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			out[kschema.GroupVersionKind{Group: crd.Spec.Group, Version: v.Name, Kind: crd.Spec.Names.Kind}] = k
		}
	}
	compiled = out
	return out
}

// definitions returns every CRD, by file name and kind.
func definitions(t *testing.T) map[string]*extv1.CustomResourceDefinition {
	t.Helper()
	out := map[string]*extv1.CustomResourceDefinition{}
	for _, path := range glob(t, "package/provider/crds/*.yaml") {
		crd := &extv1.CustomResourceDefinition{}
		load(t, path, crd)
		out[filepath.Base(path)] = crd
	}
	for _, path := range append(glob(t, "package/configuration/zz_*.yaml"), glob(t, "package/configuration-v2/zz_*.yaml")...) {
		// Both versions of an XRD share their fields, so that the older type reads both.
		xrd := &xv1.CompositeResourceDefinition{}
		load(t, path, xrd)
		crd, err := xcrd.ForCompositeResource(xrd)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		out[filepath.Base(path)] = crd
		if xrd.Spec.ClaimNames == nil {
			continue
		}
		claim, err := xcrd.ForCompositeResourceClaim(xrd)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		out[filepath.Base(path)+" (claim)"] = claim
	}
	return out
}

// newKind prepares the validators of one version.
func newKind(v extv1.CustomResourceDefinitionVersion) (*kind, error) {
	props := &apiextensions.JSONSchemaProps{}
	if err := extv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(v.Schema.OpenAPIV3Schema, props, nil); err != nil {
		return nil, fmt.Errorf("cannot convert schema: %w", err)
	}
	structural, err := schema.NewStructural(props)
	if err != nil {
		return nil, fmt.Errorf("schema isn't structural: %w", err)
	}
	openapi, _, err := validation.NewSchemaValidator(props)
	if err != nil {
		return nil, fmt.Errorf("cannot make a validator: %w", err)
	}
	return &kind{structural: structural, openapi: openapi, rules: cel.NewValidator(structural, true, celconfig.PerCallLimit)}, nil
}

// documents reads the YAML documents of a file.
func documents(t *testing.T, path string) []*unstructured.Unstructured {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out []*unstructured.Unstructured
	for i, part := range strings.Split("\n"+string(raw), "\n---\n") {
		u := &unstructured.Unstructured{Object: decode(t, fmt.Sprintf("%s, document %d", path, i+1), part)}
		if len(u.Object) > 0 {
			out = append(out, u)
		}
	}
	return out
}

// decode reads YAML strictly, with whole numbers as integers, as an API server does.
func decode(t *testing.T, what, doc string) map[string]any {
	t.Helper()
	raw, err := yaml.YAMLToJSONStrict([]byte(doc))
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	out := map[string]any{}
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	return out
}

// load decodes a file of one document strictly.
func load(t *testing.T, path string, into metav1.Object) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.UnmarshalStrict(raw, into); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// glob returns the files of the repository that match, of which there must be one at least.
func glob(t *testing.T, pattern string) []string {
	t.Helper()
	out, err := filepath.Glob(filepath.Join(root, pattern))
	if err != nil || len(out) == 0 {
		t.Fatalf("no file matches %q: %v", pattern, err)
	}
	return out
}
