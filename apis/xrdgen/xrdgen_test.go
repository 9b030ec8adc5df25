package main

import (
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	platform "github.com/crossplane-contrib/provider-baremetal/apis/platform/v1alpha1"
)

// TestWidget generates both flavours of a kind.
func TestWidget(t *testing.T) {
	files := generate(t, "./testdata/widgets")
	schema := map[string]any{"openAPIV3Schema": map[string]any{
		"type":        "object",
		"description": "A Widget is a kind.",
		"required":    []any{"spec"},
		"properties": map[string]any{
			"spec": map[string]any{
				"type": "object", "description": "A WidgetSpec has a size.", "required": []any{"size"},
				"properties": map[string]any{"size": map[string]any{"type": "integer", "format": "int32", "description": "Size in widths."}},
			},
			"status": map[string]any{
				"type": "object", "description": "A WidgetStatus has a phase.",
				"properties": map[string]any{"phase": map[string]any{"type": "string", "description": "Phase of it."}},
			},
		},
		"x-kubernetes-validations": []any{map[string]any{"rule": "self.spec.size < 100", "message": "too big"}},
	}}
	versions := []any{map[string]any{
		"name": "v1alpha1", "served": true, "referenceable": true, "schema": schema,
		"additionalPrinterColumns": []any{map[string]any{"name": "SIZE", "type": "integer", "jsonPath": ".spec.size"}},
	}}
	names := map[string]any{
		"kind": "Widget", "listKind": "WidgetList", "plural": "widgets", "singular": "widget", "shortNames": []any{"wd"},
	}
	want := map[string]map[string]any{
		"configuration/zz_xwidgets.yaml": {
			"apiVersion": "apiextensions.crossplane.io/v1",
			"kind":       "CompositeResourceDefinition",
			"metadata":   map[string]any{"name": "xwidgets.platform.baremetal.crossplane.io"},
			"spec": map[string]any{
				"group":                        "platform.baremetal.crossplane.io",
				"scope":                        "LegacyCluster",
				"names":                        map[string]any{"kind": "XWidget", "listKind": "XWidgetList", "plural": "xwidgets", "singular": "xwidget"},
				"claimNames":                   names,
				"defaultCompositeDeletePolicy": "Foreground",
				"defaultCompositionRef":        map[string]any{"name": "xwidgets.platform.baremetal.crossplane.io"},
				"versions":                     versions,
			},
		},
		"configuration-v2/zz_widgets.yaml": {
			"apiVersion": "apiextensions.crossplane.io/v2",
			"kind":       "CompositeResourceDefinition",
			"metadata":   map[string]any{"name": "widgets.platform.baremetal.m.crossplane.io"},
			"spec": map[string]any{
				"group":                 "platform.baremetal.m.crossplane.io",
				"scope":                 "Namespaced",
				"names":                 names,
				"defaultCompositionRef": map[string]any{"name": "widgets.platform.baremetal.m.crossplane.io"},
				"versions":              versions,
			},
		},
	}
	got := map[string]map[string]any{}
	for path, raw := range files {
		doc := map[string]any{}
		if err := yaml.UnmarshalStrict(raw, &doc); err != nil {
			t.Fatal(err)
		}
		got[path] = doc
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("XRDs (-want +got):\n%s", diff)
	}
}

// TestUpToDate proves that the XRDs in package/ are what the generator writes: that nobody forgot, and that it is deterministic.
func TestUpToDate(t *testing.T) {
	files := generate(t, "../platform/v1alpha1")
	if len(files) != 4 {
		t.Errorf("%d XRDs were generated, not two kinds in two flavours", len(files))
	}
	for path, want := range files {
		got, err := os.ReadFile(filepath.Join("..", "..", "package", path))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("package/%s isn't what make generate writes (-generated +file):\n%s", path, diff)
		}
	}
}

// TestNames proves that the generator and the Go types agree on groups and prefix: the generator can't import what it generates for.
func TestNames(t *testing.T) {
	if groupNamespaced != platform.GroupNamespaced {
		t.Errorf("the group of the v2 flavour is %q here and %q there", groupNamespaced, platform.GroupNamespaced)
	}
	if got := compositePrefix; got != "x" || platform.CompositePrefix != "X" {
		t.Errorf("the prefix of composites is %q here and %q there", got, platform.CompositePrefix)
	}
}

// TestLoadErrors proves that a package without kinds, or that doesn't exist, is an error and no empty answer.
func TestLoadErrors(t *testing.T) {
	for _, pattern := range []string{"strings", "./nowhere"} {
		if got, err := load(pattern); err == nil {
			t.Errorf("load(%q) returned %d kinds and no error", pattern, len(got))
		}
	}
}

// generate returns every XRD of a package's kinds, by path.
func generate(t *testing.T, pattern string) map[string][]byte {
	t.Helper()
	kinds, err := load(pattern)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]byte{}
	for _, k := range kinds {
		files, err := render(k)
		if err != nil {
			t.Fatal(err)
		}
		maps.Copy(out, files)
	}
	return out
}
