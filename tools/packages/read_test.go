package main

import (
	"archive/tar"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"sigs.k8s.io/yaml"
)

func parse(t *testing.T, ref string) name.Reference {
	t.Helper()
	r, err := name.ParseReference(ref, name.StrictValidation)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func pull(t *testing.T, ref string) v1.Image {
	t.Helper()
	img, err := remote.Image(parse(t, ref))
	if err != nil {
		t.Fatal(err)
	}
	return img
}

func checkRuntime(t *testing.T, ref string, r runtime, want []string) {
	t.Helper()
	idx, err := remote.Index(parse(t, ref))
	if err != nil {
		t.Fatal(err)
	}
	m, err := idx.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Manifests) != 2 {
		t.Fatalf("want images for two architectures, got %+v", m.Manifests)
	}
	for _, d := range m.Manifests {
		img, err := idx.Image(d.Digest)
		if err != nil {
			t.Fatal(err)
		}
		c, err := img.ConfigFile()
		if err != nil {
			t.Fatal(err)
		}
		if c.Config.User != r.user || c.Config.Entrypoint[0] != "/"+r.program() || c.Architecture != d.Platform.Architecture {
			t.Errorf("it runs %v as %q on %s", c.Config.Entrypoint, c.Config.User, c.Architecture)
		}
		if got := slices.Contains(c.Config.Env, "LEADER_ELECTION=true"); got != (r.name == providerName) {
			t.Errorf("whether it elects a leader: %t", got)
		}
		labels := c.Config.Labels
		// Nothing of Debian's is in it here, so there's no licence but ours: TestLicences has more.
		if labels["org.opencontainers.image.version"] != "v0.1.0" || labels["org.opencontainers.image.revision"] != "abc" || labels["org.opencontainers.image.licenses"] != ours {
			t.Errorf("its labels are %v", labels)
		}
		if diff := cmp.Diff(want, regular(t, img)); diff != "" {
			t.Errorf("files, -want +got:\n%s", diff)
		}
		about, err := remote.Referrers(parse(t, ref).Context().Digest(d.Digest.String()))
		if err != nil {
			t.Fatal(err)
		}
		if am, err := about.IndexManifest(); err != nil || len(am.Manifests) != 1 {
			t.Errorf("want one bill of materials, got %+v, %v", am, err)
		}
	}
}

// regular files of an image, sorted. Whatever else is there but folders is an error.
func regular(t *testing.T, img v1.Image) []string {
	t.Helper()
	r := mutate.Extract(img)
	defer r.Close()
	var out []string
	for tr := tar.NewReader(r); ; {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			slices.Sort(out)
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		switch h.Typeflag {
		case tar.TypeReg:
			out = append(out, h.Name)
		case tar.TypeDir:
		default:
			t.Errorf("%s is neither file nor folder", h.Name)
		}
	}
}

type doc struct {
	APIVersion, Kind string

	Metadata struct {
		Name        string
		Annotations map[string]string
	}
	Spec struct {
		Capabilities []string
		DependsOn    []struct{ Kind, Package, Version string }
		Pipeline     []struct{ FunctionRef struct{ Name string } }
		Names        struct{ Kind string }
	}
}

// stream gives the documents of a package as Crossplane finds them: in the layer with that annotation.
func stream(t *testing.T, ref, annotation string) []doc {
	t.Helper()
	img := pull(t, ref)
	m, err := img.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range m.Layers {
		if d.Annotations["io.crossplane.xpkg"] != annotation {
			continue
		}
		l, err := img.LayerByDigest(d.Digest)
		if err != nil {
			t.Fatal(err)
		}
		r, err := l.Uncompressed()
		if err != nil {
			t.Fatal(err)
		}
		return documents(t, r)
	}
	t.Fatalf("%s has no layer %q", ref, annotation)
	return nil
}

func documents(t *testing.T, archive io.Reader) []doc {
	t.Helper()
	var out []doc
	tr := tar.NewReader(archive)
	for {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		b, err := io.ReadAll(tr)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, parts(t, b)...)
	}
}

// parts are the documents of a file.
func parts(t *testing.T, file []byte) []doc {
	t.Helper()
	var out []doc
	for part := range strings.SplitSeq("\n"+string(file), "\n---\n") {
		var d doc
		if err := yaml.Unmarshal([]byte(part), &d); err != nil {
			t.Fatal(err)
		}
		if d.Kind != "" {
			out = append(out, d)
		}
	}
	return out
}

func checkProvider(t *testing.T, registry string) {
	t.Helper()
	docs := stream(t, registry+"/provider-baremetal:v0.1.0", "base")
	meta := docs[0]
	if meta.Kind != "Provider" || !slices.Contains(meta.Spec.Capabilities, "safe-start") {
		t.Errorf("got %+v", meta)
	}
	for _, a := range []string{"maintainer", "source", "license", "description", "readme", "iconURI"} {
		if meta.Metadata.Annotations["meta.crossplane.io/"+a] == "" {
			t.Errorf("it doesn't say its %s", a)
		}
	}
	crds, err := filepath.Glob("../../package/provider/crds/*.yaml")
	if err != nil || len(crds) != len(docs)-1 {
		t.Errorf("want %d CRDs, got %d (%v)", len(crds), len(docs)-1, err)
	}
	var all []string
	for _, d := range stream(t, registry+"/provider-baremetal:v0.1.0", "upbound") {
		all = append(all, d.Kind+"/"+d.Metadata.Name)
	}
	for _, want := range exemplified(t, "kinds", "netbox") {
		if !slices.Contains(all, want) {
			t.Errorf("%s isn't among its examples", want)
		}
	}
}

// exemplified are the objects of the provider's kinds in folders of examples, as KIND/NAME.
func exemplified(t *testing.T, folders ...string) []string {
	t.Helper()
	var out []string
	for _, folder := range folders {
		files, err := filepath.Glob("../../examples/" + folder + "/*.yaml")
		if err != nil || len(files) < 10 {
			t.Fatalf("there are no more than %d examples in %s (%v)", len(files), folder, err)
		}
		for _, f := range files {
			b, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range parts(t, b) {
				if strings.HasPrefix(d.APIVersion, "baremetal.") {
					out = append(out, d.Kind+"/"+d.Metadata.Name)
				}
			}
		}
	}
	return out
}

func checkConfiguration(t *testing.T, registry, configuration, composite string) {
	t.Helper()
	docs := stream(t, registry+"/"+configuration+":v0.1.0", "base")
	deps := map[string]string{}
	for _, d := range docs[0].Spec.DependsOn {
		deps[d.Kind] = d.Package + " " + d.Version
	}
	want := map[string]string{
		"Provider": registry + "/provider-baremetal >=v0.1.0 <v1.0.0",
		"Function": registry + "/function-baremetal >=v0.1.0 <v1.0.0",
	}
	if diff := cmp.Diff(want, deps); diff != "" {
		t.Errorf("dependencies, -want +got:\n%s", diff)
	}
	compositions, found := 0, false
	for _, d := range docs {
		found = found || d.Spec.Names.Kind == composite
		for _, s := range d.Spec.Pipeline {
			compositions++
			if s.FunctionRef.Name != "some-path-function-baremetal" {
				t.Errorf("composition %s asks for %q", d.Metadata.Name, s.FunctionRef.Name)
			}
		}
	}
	if compositions != 2 || !found {
		t.Errorf("want two compositions and %s, got %+v", composite, docs)
	}
	if got := stream(t, registry+"/"+configuration+":v0.1.0", "upbound"); len(got) < 2 {
		t.Errorf("want examples, got %+v", got)
	}
}
