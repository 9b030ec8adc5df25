package install_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestMinors goes from one minor version to the next, and back, as docs/operations/upgrade.md says: what packages ask for of one another
// begins with their own minor, so that between the two a configuration asks for more than there is. In the end all is Healthy.
func TestMinors(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Minute)
	defer cancel()
	tool, dir, from := build(ctx, t), t.TempDir(), checkout(t)
	s := &stage{tool: tool, registry: serve(ctx, t, tool) + "/some/path", plane: start(ctx, t)}
	s.kube = s.plane.Client()
	s.apply(ctx, t, activateAll)
	r := s.reads(ctx, t, dir)
	versions := []string{"v0.1.0-rc.1", "v0.2.0-rc.1"}
	for _, v := range versions {
		run(ctx, t, tool, "push", "--registry="+s.registry, "--version="+v, "--root="+from, "--dist="+filepath.Join(dir, v), "--bare", "--arch="+read)
	}
	for _, v := range []string{versions[0], versions[1], versions[0]} {
		r.types(ctx, t, "kubectl apply -f "+v+"/install/policies.yaml -f "+v+"/install/install.yaml\n")
		for _, kind := range []string{"Provider", "Function"} {
			name := "some-path-" + strings.ToLower(kind) + "-baremetal"
			s.await(ctx, t, object("pkg.crossplane.io/v1", kind, "", name), "of "+v, func(u *unstructured.Unstructured) bool {
				return strings.HasSuffix(text(u, "status", "currentIdentifier"), ":"+v)
			})
			s.deployment(ctx, t, kind, name)
		}
		s.pretend(ctx, t)
		for _, kind := range []string{"Provider", "Function", "Configuration"} {
			o := object("pkg.crossplane.io/v1", kind, "", "some-path-"+strings.ToLower(kind)+"-baremetal")
			s.await(ctx, t, o, "Healthy with "+v, func(u *unstructured.Unstructured) bool {
				return strings.HasSuffix(text(u, "status", "currentIdentifier"), ":"+v) && says(healthy())(u) && current(u)
			})
			t.Log(v, kind, conditions(o))
		}
	}
}

// current says that conditions are of what an object is asked for now.
func current(u *unstructured.Unstructured) bool {
	all, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions") // None: not yet.
	for _, c := range all {
		if seen, ok := toMap(c)["observedGeneration"].(int64); !ok || seen != u.GetGeneration() {
			return false
		}
	}
	return len(all) > 0
}
