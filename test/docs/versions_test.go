package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestTriedVersions holds that the README and the page on installing name the Crossplane and the Kubernetes that the tests run: those that the
// local control plane is built of.
func TestTriedVersions(t *testing.T) {
	b, err := os.ReadFile(filepath.Join(root, "cluster", "local", "controlplane", "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	for name, module := range map[string]string{"Crossplane": "github.com/crossplane/crossplane/v2", "Kubernetes": "k8s.io/kubernetes"} {
		m := regexp.MustCompile(`(?m)^\s*` + regexp.QuoteMeta(module) + ` v(\S+)`).FindSubmatch(b)
		if m == nil {
			t.Fatalf("the local control plane isn't built of %s any more", module)
		}
		for _, page := range []string{"README.md", "docs/operations/install.md"} {
			text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(page)))
			if err != nil {
				t.Fatal(err)
			}
			if want := name + " " + string(m[1]); !strings.Contains(strings.Join(strings.Fields(string(text)), " "), want) {
				t.Errorf("%s doesn't say that it was tried with %s", page, want)
			}
		}
	}
}
