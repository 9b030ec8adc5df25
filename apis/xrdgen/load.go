package main

import (
	"fmt"
	"sort"

	"golang.org/x/tools/go/packages"
	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-tools/pkg/crd"
	crdmarkers "sigs.k8s.io/controller-tools/pkg/crd/markers"
	"sigs.k8s.io/controller-tools/pkg/loader"
	"sigs.k8s.io/controller-tools/pkg/markers"
)

// load returns one CRD a kind of the package that pattern names, as controller-gen would write it, ordered by kind.
func load(pattern string) ([]extv1.CustomResourceDefinition, error) {
	roots, err := loader.LoadRoots(pattern)
	if err != nil {
		return nil, fmt.Errorf("cannot load packages %q: %w", pattern, err)
	}
	registry := &markers.Registry{}
	if err := crdmarkers.Register(registry); err != nil {
		return nil, fmt.Errorf("cannot register the markers of controller-gen: %w", err)
	}
	parser := &crd.Parser{Collector: &markers.Collector{Registry: registry}, Checker: &loader.TypeChecker{}}
	crd.AddKnownTypes(parser)
	for _, root := range roots {
		parser.NeedPackage(root)
	}
	metav1Pkg := crd.FindMetav1(roots)
	if metav1Pkg == nil {
		return nil, fmt.Errorf("packages %q hold no kind", pattern)
	}

	groupKinds := crd.FindKubeKinds(parser, metav1Pkg)
	sort.Slice(groupKinds, func(i, j int) bool { return groupKinds[i].Kind < groupKinds[j].Kind })
	var out []extv1.CustomResourceDefinition
	for _, gk := range groupKinds {
		parser.NeedCRDFor(gk, nil)
		out = append(out, parser.CustomResourceDefinitions[gk])
	}
	// The type checker sees function bodies of nothing but the roots: its errors are those of a partial view.
	if loader.PrintErrors(roots, packages.TypeError) {
		return nil, fmt.Errorf("packages %q have errors, listed above", pattern)
	}
	return out, nil
}
