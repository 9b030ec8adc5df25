package oci

import (
	"encoding/json"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// serve starts a registry, and gives its host.
func serve(t *testing.T, h http.Handler) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return strings.TrimPrefix(s.URL, "http://")
}

func memory(o ...registry.Option) http.Handler {
	return registry.New(append(o, registry.Logger(log.New(io.Discard, "", 0)))...)
}

// artifact for two architectures, with attachments, whose program is what's said.
func artifact(t *testing.T, repository, program string) Artifact {
	t.Helper()
	a := Artifact{Repository: repository, Tag: "v1.0.0"}
	labels := map[string]string{"org.opencontainers.image.title": "thing"}
	var images []v1.Image
	for _, arch := range []string{"amd64", "arm64"} {
		img, err := Image{
			Arch: arch, Entrypoint: []string{"/bin/thing"}, User: "65532:65532", Env: []string{"A=b"}, Labels: labels,
			Layers: []Files{
				{Files: []File{{Path: "bin/thing", Mode: 0o755, Data: []byte(program + arch)}}},
				{
					Files: []File{{Path: "package.yaml", Mode: 0o644, Data: []byte("a: b")}}, Annotations: map[string]string{"layer": "base"},
					Labels: func(digest string) map[string]string { return map[string]string{"layer:" + digest: "base"} },
				},
			},
		}.Build()
		if err != nil {
			t.Fatal(err)
		}
		at, err := Attachment(img, SPDX, []byte(`{"spdxVersion":"SPDX-2.3"}`))
		if err != nil {
			t.Fatal(err)
		}
		images, a.Attachments = append(images, img), append(a.Attachments, at)
	}
	var err error
	if a.Index, err = Index(labels, images...); err != nil {
		t.Fatal(err)
	}
	return a
}

// TestPush reads back what was pushed, from registries that list referrers and from those that don't.
func TestPush(t *testing.T) {
	for title, handler := range map[string]http.Handler{"Referrers": memory(registry.WithReferrersSupport(true)), "NoReferrers": memory()} {
		t.Run(title, func(t *testing.T) {
			a := artifact(t, serve(t, handler)+"/path/thing", "1")
			if _, err := a.Push(t.Context(), true, nil); err != nil {
				t.Fatal(err)
			}
			ref, err := name.ParseReference(a.Reference(), name.StrictValidation)
			if err != nil {
				t.Fatal(err)
			}
			idx, err := remote.Index(ref)
			if err != nil {
				t.Fatal(err)
			}
			m, err := idx.IndexManifest()
			if err != nil {
				t.Fatal(err)
			}
			for i, arch := range []string{"amd64", "arm64"} {
				d := m.Manifests[i]
				if d.Platform == nil || d.Platform.String() != "linux/"+arch {
					t.Errorf("image %d is for %v, want linux/%s", i, d.Platform, arch)
				}
				checkImage(t, ref.Context().Digest(d.Digest.String()), arch)
			}
		})
	}
}

func checkImage(t *testing.T, ref name.Digest, arch string) {
	t.Helper()
	img, err := remote.Image(ref)
	if err != nil {
		t.Fatal(err)
	}
	m, err := img.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	if got := m.Layers[1].Annotations["layer"]; got != "base" {
		t.Errorf("the annotation of a layer is %q", got)
	}
	c, err := img.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	want := v1.Config{
		Entrypoint: []string{"/bin/thing"}, User: "65532:65532", WorkingDir: "/", Env: []string{"PATH=/usr/local/bin", "A=b"},
		Labels: map[string]string{"org.opencontainers.image.title": "thing", "layer:" + m.Layers[1].Digest.String(): "base"},
	}
	if diff := cmp.Diff(want, c.Config); diff != "" || c.Architecture != arch || c.OS != "linux" || len(c.RootFS.DiffIDs) != 2 {
		t.Errorf("configuration for %s/%s with %d layers, -want +got:\n%s", c.OS, c.Architecture, len(c.RootFS.DiffIDs), diff)
	}
	about, err := remote.Referrers(ref)
	if err != nil {
		t.Fatal(err)
	}
	am, err := about.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	if len(am.Manifests) != 1 || am.Manifests[0].ArtifactType != SPDX {
		t.Fatalf("want one bill of materials, got %+v", am.Manifests)
	}
	bom, err := remote.Image(ref.Context().Digest(am.Manifests[0].Digest.String()))
	if err != nil {
		t.Fatal(err)
	}
	ls, err := bom.Layers()
	if err != nil {
		t.Fatal(err)
	}
	r, err := ls[0].Compressed()
	if err != nil {
		t.Fatal(err)
	}
	var doc map[string]string
	if err := json.NewDecoder(r).Decode(&doc); err != nil || doc["spdxVersion"] != "SPDX-2.3" {
		t.Errorf("the bill of materials is %v, %v", doc, err)
	}
}

func TestPushAgain(t *testing.T) {
	host := serve(t, memory())
	if _, err := artifact(t, host+"/thing", "1").Push(t.Context(), true, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := artifact(t, host+"/thing", "1").Push(t.Context(), true, nil); err != nil {
		t.Errorf("the same again is fine: %v", err)
	}
	if _, err := artifact(t, host+"/thing", "2").Push(t.Context(), true, nil); err == nil || !strings.Contains(err.Error(), "a release isn't changed") {
		t.Errorf("a release was overwritten: %v", err)
	}
	first, err := artifact(t, host+"/thing", "1").Digest()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []v1.Hash{first, {}} { // The second time it's the same already.
		if before, err := artifact(t, host+"/thing", "2").Push(t.Context(), false, nil); err != nil || before != want {
			t.Errorf("what isn't a release may change: %v; it says that the tag was %s's, want %s", err, before, want)
		}
	}
}

func TestPushRefused(t *testing.T) {
	cases := map[string]struct {
		reason string
		status int
		want   string
	}{
		"Unknown":   {"whoever hasn't logged in is told how", http.StatusUnauthorized, "log in to it first"},
		"Forbidden": {"whoever may not write is told so", http.StatusForbidden, "doesn't let you write there"},
		"Missing":   {"some registries have the repositories that somebody made, and no others", http.StatusNotFound, "make one for each name in digests.txt first"},
	}
	for title, tc := range cases {
		t.Run(title, func(t *testing.T) {
			host := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/v2/" {
					return
				}
				w.WriteHeader(tc.status)
			}))
			for _, released := range []bool{true, false} {
				_, err := artifact(t, host+"/thing", "1").Push(t.Context(), released, nil)
				if err == nil || !strings.Contains(err.Error(), tc.want) {
					t.Errorf("%s: want an error with %q, got %v", tc.reason, tc.want, err)
				}
			}
		})
	}
}

// TestWrite reads a folder back, and a folder of two builds.
func TestWrite(t *testing.T) {
	dir := t.TempDir()
	for range 2 {
		a := artifact(t, "registry.invalid/thing", "1")
		if err := a.Write(dir); err != nil {
			t.Fatal(err)
		}
		idx, err := layout.ImageIndexFromPath(dir)
		if err != nil {
			t.Fatal(err)
		}
		m, err := idx.IndexManifest()
		if err != nil {
			t.Fatal(err)
		}
		d, err := a.Digest()
		if err != nil {
			t.Fatal(err)
		}
		if len(m.Manifests) != 3 || m.Manifests[0].Digest != d || m.Manifests[0].Annotations["org.opencontainers.image.ref.name"] != "v1.0.0" {
			t.Errorf("want the artifact %s and two attachments, got %+v", d, m.Manifests)
		}
	}
}

// TestDocument pushes and reads what isn't a container.
func TestDocument(t *testing.T) {
	img, err := Document([]byte(`{"name":"a"}`), "application/config", []byte("content"), "application/content", map[string]string{"a": "b"})
	if err != nil {
		t.Fatal(err)
	}
	a := Artifact{Repository: serve(t, memory()) + "/charts/thing", Tag: "1.0.0", Image: img}
	if _, err := a.Push(t.Context(), true, nil); err != nil {
		t.Fatal(err)
	}
	ref, err := name.ParseReference(a.Reference())
	if err != nil {
		t.Fatal(err)
	}
	got, err := remote.Image(ref)
	if err != nil {
		t.Fatal(err)
	}
	m, err := got.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	c, err := got.RawConfigFile()
	if err != nil || string(c) != `{"name":"a"}` || m.Config.MediaType != "application/config" || m.Layers[0].MediaType != "application/content" || m.Annotations["a"] != "b" {
		t.Errorf("got %q, %v, %+v", c, err, m)
	}
}
