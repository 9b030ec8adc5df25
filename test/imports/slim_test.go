package imports

import (
	"slices"
	"strings"
	"testing"
)

// TestSlim: bootd, as it ships, links no package that registers all of Kubernetes' kinds, nor any that brings those that do. Their code and
// what they make at the start were the half of its memory (docs/adr/0047).
func TestSlim(t *testing.T) {
	never := []string{
		"k8s.io/client-go/kubernetes", "k8s.io/client-go/informers", "k8s.io/client-go/discovery", "k8s.io/kube-openapi/pkg/util/proto",
		"sigs.k8s.io/controller-runtime/pkg/client", "sigs.k8s.io/controller-runtime/pkg/manager", "github.com/crossplane/crossplane-runtime",
		"net/http/pprof", // It makes the runtime keep profiles.
	}
	found := false
	for _, p := range list(t, "-tags=bootd", module+"cmd/bootd") {
		found = found || p.ImportPath == module+"cmd/bootd"
		if below(p.ImportPath, never) {
			t.Errorf("bootd links %s", p.ImportPath)
		}
		for _, kind := range p.Imports {
			if group, ok := strings.CutPrefix(kind, "k8s.io/api/"); ok && !slices.Contains([]string{"core/v1"}, group) {
				t.Errorf("%s imports %s: bootd reads Secrets, and no other kind of Kubernetes", p.ImportPath, kind)
			}
		}
	}
	if !found {
		t.Error("bootd wasn't listed")
	}
}
