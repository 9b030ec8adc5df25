package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	goruntime "runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// checkout is a copy of another one, with three programs that build in no time.
func checkout(t *testing.T, from string) string {
	t.Helper()
	dir := t.TempDir()
	for _, folder := range []string{"package", "examples"} {
		if err := os.CopyFS(filepath.Join(dir, folder), os.DirFS(filepath.Join(from, folder))); err != nil {
			t.Fatal(err)
		}
	}
	licence, err := os.ReadFile(filepath.Join(from, "LICENSE"))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{"go.mod": "module example.org/programs\n\ngo 1.26.0\n", "LICENSE": string(licence),
		"tools/packages/go.mod": "module example.org/programs/tools/packages\n\ngo 1.26.0\n", "tools/packages/main.go": "package main\n\nfunc main() {}\n"}
	for _, p := range []string{"provider", "function", "bootd"} {
		files["cmd/"+p+"/main.go"] = "package main\n\nvar version string\n\nfunc main() { println(version) }\n"
	}
	for path, data := range files {
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// flags of a build of such a checkout, without what has to be downloaded.
func flags(t *testing.T, version string) common {
	t.Helper()
	return common{
		Root: checkout(t, "../.."), Dist: t.TempDir(), Cache: t.TempDir(), Version: version, Arch: []string{"amd64", "arm64"}, Revision: "abc", Bare: true,
	}
}

// serve starts a registry.
func serve(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(handler())
	t.Cleanup(s.Close)
	return strings.TrimPrefix(s.URL, "http://")
}

// bare makes the tests independent of Debian's mirror: nothing is found in this PATH but go, and git where there is one.
func bare(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	for _, program := range []string{"go", "git"} {
		for _, dirs := range filepath.SplitList(os.Getenv("PATH")) {
			if path := filepath.Join(dirs, program); isFile(path) {
				if err := os.Symlink(path, filepath.Join(dir, program)); err != nil {
					t.Fatal(err)
				}
				break
			}
		}
	}
	t.Setenv("PATH", dir)
}

func isFile(path string) bool {
	i, err := os.Stat(path) //nolint:gosec // A folder of the test.
	return err == nil && !i.IsDir()
}

// TestReproducible builds twice, from two folders, for both architectures.
func TestReproducible(t *testing.T) {
	bare(t)
	var digests []string
	first := flags(t, "v0.1.0")
	second := first
	second.Root, second.Dist, second.Cache = checkout(t, first.Root), t.TempDir(), t.TempDir()
	for _, f := range []common{first, second} {
		if err := (&buildCmd{common: f, Registry: nowhere}).Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(filepath.Join(f.Dist, "digests.txt"))
		if err != nil {
			t.Fatal(err)
		}
		digests = append(digests, string(b))
		if isFile(filepath.Join(f.Dist, "install", "install.yaml")) {
			t.Error("there are manifests of a registry that isn't one")
		}
	}
	if diff := cmp.Diff(digests[0], digests[1]); diff != "" || strings.Count(digests[0], "sha256:") != 6 {
		t.Errorf("two builds differ, or aren't six: -first +second:\n%s\n%s", diff, digests[0])
	}
}

// TestPush reads back what was pushed, as Crossplane, a node and Helm do.
func TestPush(t *testing.T) {
	bare(t)
	registry := serve(t) + "/some/path"
	f := flags(t, "v0.1.0")
	if err := (&pushCmd{common: f, Registry: registry}).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	files := []string{"etc/group", "etc/passwd", "usr/share/doc/provider-baremetal/LICENSE"}
	for _, r := range runtimes() {
		t.Run(r.name, func(t *testing.T) {
			want := append(slices.Clone(files), r.program())
			if r.source != "" {
				want = append(want, "package.yaml", ".up/examples.yaml")
			}
			slices.Sort(want)
			checkRuntime(t, registry+"/"+r.name+":v0.1.0", r, want)
		})
	}
	t.Run("Provider", func(t *testing.T) { checkProvider(t, registry) })
	t.Run("Manifests", func(t *testing.T) {
		b, err := os.ReadFile(filepath.Join(f.Dist, "install", "install.yaml"))
		if err != nil || !strings.Contains(string(b), "package: "+registry+"/function-baremetal:v0.1.0") {
			t.Errorf("no manifest names what was pushed: %v", err)
		}
	})
	for n, composite := range map[string]string{"configuration-baremetal": "XBareMetalNode", "configuration-baremetal-v2": "BareMetalNode"} {
		t.Run(n, func(t *testing.T) { checkConfiguration(t, registry, n, composite) })
	}
	t.Run("Chart", func(t *testing.T) {
		m, err := pull(t, registry+"/"+chartName+":0.1.0").Manifest()
		if err != nil {
			t.Fatal(err)
		}
		if m.Config.MediaType != "application/vnd.cncf.helm.config.v1+json" || m.Layers[0].MediaType != "application/vnd.cncf.helm.chart.content.v1.tar+gzip" {
			t.Errorf("it isn't a chart: %+v", m)
		}
	})
}

// TestPushFlat pushes to a registry that has NAMESPACE/REPOSITORY and nothing deeper, as Docker Hub does.
func TestPushFlat(t *testing.T) {
	bare(t)
	all, deep := handler(), regexp.MustCompile(`^/v2/[^/]+/[^/]+/.+/(blobs|manifests|referrers|tags)/`)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if deep.MatchString(r.URL.Path) {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		all.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	host, f := strings.TrimPrefix(s.URL, "http://"), flags(t, "v0.1.0")
	f.Arch = []string{"amd64"}
	if err := (&pushCmd{common: f, Registry: host + "/some/path"}).Run(t.Context()); err == nil || !strings.Contains(err.Error(), "(401)") {
		t.Fatalf("it's as flat as it should be if it refuses this: %v", err)
	}
	if err := (&pushCmd{common: f, Registry: host + "/namespace"}).Run(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestPushVia pushes to a registry whose name means nothing here, as that of a cluster with a network of its own doesn't.
func TestPushVia(t *testing.T) {
	bare(t)
	here := serve(t)
	f := flags(t, "v0.1.0")
	f.Arch = []string{"amd64"}
	if err := (&pushCmd{common: f, Registry: "10.255.255.1:5000/some/path", Via: here}).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, d := range stream(t, here+"/some/path/configuration-baremetal:v0.1.0", "base")[0].Spec.DependsOn {
		if !strings.HasPrefix(d.Package, "10.255.255.1:5000/some/path/") {
			t.Errorf("it depends on %s, where it isn't installed from", d.Package)
		}
	}
}

func TestRelease(t *testing.T) {
	bare(t)
	f, changelog := flags(t, "v0.1.0"), filepath.Join(t.TempDir(), "CHANGELOG.md")
	if err := os.WriteFile(changelog, []byte("# Changelog\n\n## Unreleased\n\n* News.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	registry := serve(t) + "/path"
	for range 2 { // It may be tried again.
		if err := (&releaseCmd{common: f, Registry: registry, Push: true, Changelog: changelog}).Run(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	dir := filepath.Join(f.Dist, "release", "v0.1.0")
	var got []string
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		got = append(got, e.Name())
	}
	want := []string{
		"NOTES.md", "SHA256SUMS", "baremetal-bootd-amd64.spdx.json", "baremetal-bootd-arm64.spdx.json", "baremetal-bootd-chart-0.1.0.tgz", "bootd.yaml",
		"configuration-baremetal-v2.xpkg", "configuration-baremetal.xpkg", "digests.txt", "function-baremetal-amd64.spdx.json",
		"function-baremetal-amd64.xpkg", "function-baremetal-arm64.spdx.json", "function-baremetal-arm64.xpkg", "install.yaml", "netbox-webhook.yaml", "network.yaml", "oci.tar",
		"packages-linux-amd64", "packages-linux-arm64", "podmonitor.yaml", "policies.yaml",
		"provider-baremetal-amd64.spdx.json", "provider-baremetal-amd64.xpkg", "provider-baremetal-arm64.spdx.json", "provider-baremetal-arm64.xpkg",
		"redfish-events.yaml", "usages-v2.yaml",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	for file, words := range map[string]string{
		"install.yaml": "package: " + registry + "/function-baremetal:v0.1.0", "policies.yaml": ":path-provider-baremetal'",
		"bootd.yaml": "image: " + registry + "/baremetal-bootd@sha256:", "NOTES.md": "* News.\n\nBuilt by " + goruntime.Version() + " from commit abc.",
	} {
		b, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil || !strings.Contains(string(b), words) {
			t.Errorf("%s has no %q (%v)", file, words, err)
		}
	}
	t.Run("Mirror", func(t *testing.T) { checkMirror(t, dir, registry) })
	b, err := os.ReadFile(changelog)
	if diff := cmp.Diff("# Changelog\n\n## Unreleased\n\n## v0.1.0\n\n* News.\n", string(b)); diff != "" || err != nil {
		t.Errorf("changelog: %v, -want +got:\n%s", err, diff)
	}
}

func TestRefused(t *testing.T) {
	bare(t)
	cases := map[string]struct {
		reason, registry, version, want string
		strict                          bool
	}{
		"NoHost":   {reason: "it'd go to a registry that nobody named", registry: "crossplane-contrib", version: "v0.1.0", want: "as HOST/PATH"},
		"Scheme":   {reason: "a registry isn't a URL", registry: "https://registry.example/path", version: "v0.1.0", want: "as HOST/PATH"},
		"Long":     {reason: "two packages would have one name", registry: "registry.example/" + strings.Repeat("a", 37), version: "v0.1.0", want: "1 characters too long"},
		"Version":  {reason: "Crossplane wouldn't find it", registry: nowhere, version: "0.1", want: `version "0.1" isn't one like v0.1.0`},
		"NoDebian": {reason: "no machine boots from such an image", registry: nowhere, version: "v0.1.0", want: "there's no apt-get or no dpkg-deb here", strict: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := flags(t, tc.version)
			f.Bare = !tc.strict
			err := (&buildCmd{common: f, Registry: tc.registry}).Run(context.Background())
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s: want an error with %q, got %v", tc.reason, tc.want, err)
			}
		})
	}
}

// TestUndotted: what Crossplane's API refuses is said before anything is pushed there.
func TestUndotted(t *testing.T) {
	cases := map[string]struct {
		reason, registry string
		warned           bool
	}{
		"Name":      {"A name of DNS has dots.", "registry.example/me", false},
		"Address":   {"So has an address.", "192.0.2.10:5000/me", false},
		"Localhost": {"What most people try first.", "localhost:5000/me", true},
		"Port":      {"A dot behind the name is none in it.", "registry:5000/a.b", true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := undotted(tc.registry); (got != "") != tc.warned {
				t.Errorf("%s\nundotted(%q): %q", tc.reason, tc.registry, got)
			}
		})
	}
}
