package programs

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"
)

// weighty are the modules that take long to compile, by how their paths begin.
func weighty() []string {
	return []string{
		"k8s.io/", "sigs.k8s.io/", "google.golang.org/", "golang.org/x/", "go.opentelemetry.io/", "go.etcd.io/",
		"github.com/prometheus/", "github.com/google/", "github.com/go-openapi/", "github.com/aws/",
	}
}

// TestSharedModulesHaveOneVersion holds what keeps a first build short: what several of our modules are built of is compiled once,
// which it is only where all ask for the same version of it. Crossplane's own choice of k8s.io is everybody's.
func TestSharedModulesHaveOneVersion(t *testing.T) {
	first := map[string]string{}
	versions := map[string]string{}
	for _, dir := range []string{
		"../controlplane", "../../..", "../../../tools/lint", "../../../tools/packages", "../../node/tools", "../../../tools/helm", "../../node/crank",
		"../../../tools/uptest",
	} {
		for path, version := range required(t, dir) {
			if !slices.ContainsFunc(weighty(), func(w string) bool { return strings.HasPrefix(path, w) }) {
				continue
			}
			if was, ok := versions[path]; ok && was != version {
				t.Errorf("%s is %s in %s and %s in %s, and would be compiled twice: go get %[1]s@... in one of them", path, was, first[path], version, dir)
				continue
			}
			first[path], versions[path] = dir, version
		}
	}
}

// required lists a module's requirements and the versions that it gets, by path.
func required(t *testing.T, dir string) map[string]string {
	t.Helper()
	name := filepath.Join(dir, "go.mod")
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	f, err := modfile.Parse(name, b, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, r := range f.Require {
		got[r.Mod.Path] = r.Mod.Version
	}
	for _, r := range f.Replace {
		if _, ok := got[r.Old.Path]; ok && r.New.Version != "" && (r.Old.Version == "" || r.Old.Version == got[r.Old.Path]) {
			got[r.Old.Path] = r.New.Version
		}
	}
	return got
}
