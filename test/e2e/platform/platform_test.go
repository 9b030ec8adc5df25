// Package platform_test proves on a real API server and a real Crossplane that what is installed beside the programs does its work: the
// kinds, the compositions with their function, the rights and the policies. What the provider and bootd would do is written here.
package platform_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-baremetal/cluster/local"
	"github.com/crossplane-contrib/provider-baremetal/cluster/local/proc"
	"github.com/crossplane-contrib/provider-baremetal/cluster/local/programs"
)

const (
	root = "../../.."

	// tenantNamespace is where most of this happens.
	tenantNamespace = "team-a"
)

func TestPlatform(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 45*time.Minute)
	defer cancel()
	plane, ports := install(ctx, t)
	t.Run("Examples", func(t *testing.T) { testExamples(ctx, t, plane) })
	t.Run("Policies", func(t *testing.T) { testPolicies(ctx, t, plane) })
	t.Run("Composition", func(t *testing.T) { testComposition(ctx, t, plane, ports) })
}

// install starts a control plane with everything that a user installs but the programs, and the examples' namespaces.
func install(ctx context.Context, t *testing.T) (*local.Plane, *proc.Ports) {
	t.Helper()
	say := func(line string) { t.Log(line) }
	finder, err := programs.Default(say)
	if err != nil {
		t.Fatal(err)
	}
	ports, err := proc.NewPorts(filepath.Join(finder.Cache, "ports"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(ports.Close)
	plane, err := local.Start(ctx, local.Options{StateDir: filepath.Join(t.TempDir(), "plane"), Programs: finder, Ports: ports, Say: say})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(plane.Stop)

	crds := apply(ctx, t, plane, "package/provider/crds")
	apply(ctx, t, plane, "package/manifests", "examples/demo/00-namespaces.yaml")
	xrds := apply(ctx, t, plane, "package/configuration", "package/configuration-v2")
	for _, o := range append(crds, xrds...) {
		if o.GetKind() == "Composition" {
			continue
		}
		if err := plane.Established(ctx, o); err != nil {
			t.Fatal(err)
		}
	}
	names := make([]string, 0, len(crds))
	for _, c := range crds {
		names = append(names, c.GetName())
	}
	if err := plane.ProviderServiceAccount(ctx, "provider-baremetal", names, nil); err != nil {
		t.Fatal(err)
	}
	return plane, ports
}

// apply applies files and folders as the administrator.
func apply(ctx context.Context, t *testing.T, plane *local.Plane, paths ...string) []*unstructured.Unstructured {
	t.Helper()
	full := make([]string, 0, len(paths))
	for _, p := range paths {
		full = append(full, filepath.Join(root, p))
	}
	objects, err := local.Load(full...)
	if err != nil {
		t.Fatal(err)
	}
	if err := plane.Apply(ctx, objects...); err != nil {
		t.Fatal(err)
	}
	return objects
}
