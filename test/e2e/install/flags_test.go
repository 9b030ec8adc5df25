package install_test

import (
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-baremetal/cluster/local"
)

// TestFlags asks the programs whether they know the flags that the manifests give them.
func TestFlags(t *testing.T) {
	bin := t.TempDir()
	run(t.Context(), t, "go", "build", "-C", root, "-o", bin+"/", "./cmd/provider", "./cmd/function", "./cmd/bootd")
	for file, path := range map[string][]string{
		root + "/examples/install/runtime.yaml": {"spec", "deploymentTemplate", "spec", "template", "spec", "containers"},
		root + "/package/bootd/bootd.yaml":      {"spec", "template", "spec", "containers"},
		uncommented(t, "install.md", "https"):   {"spec", "template", "spec", "containers"},
	} {
		objects, err := local.Load(filepath.FromSlash(file))
		must(t, err)
		for _, o := range objects {
			containers, _, err := unstructured.NestedSlice(o.Object, path...)
			must(t, err)
			for _, c := range containers {
				args, _, err := unstructured.NestedStringSlice(toMap(c), "args")
				must(t, err)
				program, _, _ := strings.Cut(o.GetName(), "-")
				out, err := command(t, filepath.Join(bin, program), append(args, "--version")...)
				if err != nil || strings.TrimSpace(out) != "dev" {
					t.Errorf("%s of %s %v: %v, %s", program, file, args, err, out)
				}
			}
		}
	}
}

func toMap(v any) map[string]any {
	m, _ := v.(map[string]any) // What isn't a mapping has nothing in it.
	return m
}
