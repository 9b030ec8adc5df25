package xpkg

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const configuration = `
apiVersion: meta.pkg.crossplane.io/v1
kind: Configuration
metadata:
  name: configuration-test
spec:
  dependsOn:
    - apiVersion: pkg.crossplane.io/v1
      kind: Function
      package: function-test # A comment.
`

const composition = `
apiVersion: apiextensions.crossplane.io/v1
kind: Composition
metadata:
  name: things
spec:
  pipeline:
    - step: first
      functionRef:
        name: function-test
`

const example = "# What this shows.\napiVersion: a/v1\nkind: Thing\nmetadata:\n  name: one\n"

func TestRead(t *testing.T) {
	root := folder(t, map[string]string{
		"crossplane.yaml": configuration, "composition.yaml": composition, "README.md": "# Read me\n", "notes.txt": "kind: Nothing\n",
		"../icon.svg": "<svg/>", "../one.yaml": example,
	})
	got, err := Release{Registry: "registry.example/path", Version: "v0.3.2"}.Read(Source{
		Dir: root, Icon: filepath.Join(root, "..", "icon.svg"), Examples: []string{filepath.Join(root, "..", "one.yaml")},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := &Package{
		Name: "configuration-test", Kind: "Configuration", Examples: []byte("---\n" + example),
		Stream: []byte(`---
apiVersion: meta.pkg.crossplane.io/v1
kind: Configuration
metadata:
  annotations:
    meta.crossplane.io/iconURI: data:image/svg+xml;base64,PHN2Zy8+
    meta.crossplane.io/readme: |
      # Read me
  name: configuration-test
spec:
  dependsOn:
  - apiVersion: pkg.crossplane.io/v1
    kind: Function
    package: registry.example/path/function-test
    version: '>=v0.3.0 <v1.0.0'
---
apiVersion: apiextensions.crossplane.io/v1
kind: Composition
metadata:
  name: things
spec:
  pipeline:
  - functionRef:
      name: path-function-test
    step: first
`),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	var layers []map[string]string
	for _, l := range got.Layers() {
		layers = append(layers, map[string]string{"path": l.Files[0].Path, "annotation": l.Annotations["io.crossplane.xpkg"], "label": l.Labels("sha256:1")["io.crossplane.xpkg:sha256:1"]})
	}
	wantLayers := []map[string]string{
		{"path": "package.yaml", "annotation": "base", "label": "base"},
		{"path": ".up/examples.yaml", "annotation": "upbound", "label": "upbound"},
	}
	if diff := cmp.Diff(wantLayers, layers); diff != "" {
		t.Errorf("layers, -want +got:\n%s", diff)
	}
}

func TestReadRefuses(t *testing.T) {
	const thing = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: one\n"
	cases := map[string]struct {
		reason  string
		files   map[string]string
		version string
		want    string
	}{
		"NoPackage":   {reason: "a folder that isn't one", files: map[string]string{"a.yaml": thing}, want: "crossplane.yaml"},
		"TwoPackages": {reason: "which one?", files: map[string]string{"crossplane.yaml": configuration + "---\n" + configuration}, want: "has 2 documents"},
		"OtherKinds":  {reason: "Crossplane would refuse it at installation", files: map[string]string{"crossplane.yaml": configuration, "a.yaml": thing}, want: `a Configuration can't bring ConfigMap "one"`},
		"NoKind":      {reason: "not an object", files: map[string]string{"crossplane.yaml": configuration, "a.yaml": "a: b\n"}, want: "has no kind"},
		"Twice":       {reason: "a key that's there twice means something else to each reader", files: map[string]string{"crossplane.yaml": configuration, "a.yaml": "kind: a\nkind: b\n"}, want: "already set"},
		"Elsewhere": {
			reason: "a registry in the source is one that nobody changes",
			files:  map[string]string{"crossplane.yaml": strings.Replace(configuration, "function-test", "registry.example/function-test", 1)}, want: "give the name of a package of ours alone",
		},
		"Version": {reason: "a range needs one", files: map[string]string{"crossplane.yaml": configuration}, version: "latest", want: `"latest"`},
		"Kind":    {reason: "not a package", files: map[string]string{"crossplane.yaml": thing}, want: `no packages of kind "ConfigMap"`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if tc.version == "" {
				tc.version = "v0.1.0"
			}
			_, err := Release{Registry: "registry.example", Version: tc.version}.Read(Source{Dir: folder(t, tc.files)})
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s: want an error with %q, got %v", tc.reason, tc.want, err)
			}
		})
	}
}

// folder writes files, and gives the folder they're in.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "package")
	for name, data := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
