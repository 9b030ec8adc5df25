package install_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-baremetal/cluster/local"
)

// Who may have what is in the registry with a password.
const (
	user     = "robot"
	password = "opensesame"
)

// A gate stands before a registry, and lets those through who have the password.
type gate struct {
	to http.Handler
	// wrong is how many came with another one.
	wrong atomic.Int64
}

func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name, word, said := r.BasicAuth()
	if said && name == user && word == password {
		g.to.ServeHTTP(w, r)
		return
	}
	if said {
		g.wrong.Add(1)
	}
	w.Header().Set("WWW-Authenticate", `Basic realm="registry"`)
	refuse(w, http.StatusUnauthorized, "UNAUTHORIZED", "authentication required")
}

// before gives what passes everything on to a registry.
func before(t *testing.T, host string) http.Handler {
	t.Helper()
	to, err := url.Parse("http://" + host)
	must(t, err)
	return httputil.NewSingleHostReverseProxy(to)
}

// login is the Secret of a registry's password, as "kubectl create secret docker-registry" makes it.
func (s *stage) login(ctx context.Context, t *testing.T, name, host, word string) {
	t.Helper()
	s.apply(ctx, t, `
apiVersion: v1
kind: Secret
metadata: {namespace: crossplane-system, name: `+name+`}
type: kubernetes.io/dockerconfigjson
stringData: {.dockerconfigjson: '{"auths": {"`+host+`": {"username": "`+user+`", "password": "`+word+`"}}}'}
`)
}

// TestPassword installs a configuration from a registry with a password. Its own packagePullSecrets don't do for what it depends on, an
// ImageConfig's Secret does, for what is run too. Beside the release that is installed there's a pre-release, which nothing of it pulls.
func TestPassword(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Minute)
	defer cancel()
	const release, later = "v0.2.0", "v0.3.0-rc.1"
	tool := build(ctx, t)
	open := serve(ctx, t, tool)
	g := &gate{to: before(t, open)}
	server := httptest.NewServer(g)
	t.Cleanup(server.Close)
	host, from := strings.TrimPrefix(server.URL, "http://"), checkout(t)
	for _, v := range []string{release, later} {
		run(ctx, t, tool, "push", "--registry="+host+"/closed", "--via="+open, "--version="+v, "--root="+from, "--dist="+t.TempDir(), "--bare")
	}
	s := &stage{tool: tool, registry: host + "/closed", plane: start(ctx, t)}
	s.kube = s.plane.Client()

	s.login(ctx, t, "one", host, password)
	s.login(ctx, t, "all", host, "wrong")
	s.apply(ctx, t, `
apiVersion: pkg.crossplane.io/v1
kind: Configuration
metadata: {name: closed-configuration-baremetal}
spec: {package: "REGISTRY/configuration-baremetal:`+release+`", packagePullSecrets: [{name: one}]}
`)
	lock := object("pkg.crossplane.io/v1beta1", "Lock", "", "lock")
	refused := says([]string{"Resolved False", "UNAUTHORIZED"})
	s.await(ctx, t, lock, "a dependency that can't be had with a package's own Secret", refused)
	if n := g.wrong.Load(); n != 0 {
		t.Errorf("%d requests had a wrong password before anybody was given one", n)
	}

	s.apply(ctx, t, `
apiVersion: pkg.crossplane.io/v1beta1
kind: ImageConfig
metadata: {name: registry}
spec:
  matchImages: [{type: Prefix, prefix: REGISTRY/}]
  registry: {authentication: {pullSecretRef: {name: all}}}
`)
	s.await(ctx, t, lock, "a dependency that is asked for with the wrong password", func(u *unstructured.Unstructured) bool { return g.wrong.Load() > 0 && refused(u) })

	s.login(ctx, t, "all", host, password)
	s.await(ctx, t, object("pkg.crossplane.io/v1", "Configuration", "", "closed-configuration-baremetal"), "Healthy", says(healthy()))
	s.pulled(ctx, t, "closed", release, host+"/closed")
	for _, kind := range []string{"Provider", "Function"} {
		d := s.deployment(ctx, t, kind, "closed-"+strings.ToLower(kind)+"-baremetal")
		secrets, _, err := unstructured.NestedSlice(d.Object, "spec", "template", "spec", "imagePullSecrets")
		must(t, err)
		if !slices.ContainsFunc(secrets, func(v any) bool { return toMap(v)["name"] == "all" }) {
			t.Errorf("a node that runs the %s is given the Secrets %v", kind, secrets)
		}
	}
}

// pulled holds that provider and function were pulled by dependency, in that version, and that their images are of that registry.
func (s *stage) pulled(ctx context.Context, t *testing.T, path, version, from string) {
	t.Helper()
	for _, kind := range []string{"Provider", "Function"} {
		name := strings.ToLower(kind) + "-baremetal"
		p := object("pkg.crossplane.io/v1", kind, "", path+"-"+name)
		s.await(ctx, t, p, "pulled and installed", says([]string{"Installed True"}))
		if got, want := text(p, "spec", "package"), s.registry+"/"+name+":"+version; got != want {
			t.Errorf("%s was pulled, want %s", got, want)
		}
		containers, _, err := unstructured.NestedSlice(s.deployment(ctx, t, kind, path+"-"+name).Object, "spec", "template", "spec", "containers")
		must(t, err)
		if got, want := toMap(containers[0])["image"], from+"/"+name+":"+version; got != want {
			t.Errorf("%s runs %v, want %s", kind, got, want)
		}
	}
}

// deployment of a package's current revision.
func (s *stage) deployment(ctx context.Context, t *testing.T, kind, name string) *unstructured.Unstructured {
	t.Helper()
	d := object("apps/v1", "Deployment", local.CrossplaneNamespace, s.revision(ctx, t, kind, name))
	s.await(ctx, t, d, "a Deployment", exists)
	return d
}

// TestMirrorByAnotherName installs packages that name a registry which isn't there, from one that is, as docs/operations/air-gapped.md says.
func TestMirrorByAnotherName(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Minute)
	defer cancel()
	const made = "10.255.255.1:5000/away" // Nobody is there.
	tool, dist := build(ctx, t), t.TempDir()
	host := serve(ctx, t, tool)
	run(ctx, t, tool, "push", "--registry="+made, "--via="+host, "--version="+version, "--root="+checkout(t), "--dist="+dist, "--bare")
	s := &stage{tool: tool, registry: made, plane: start(ctx, t)}
	s.kube = s.plane.Client()
	fill := strings.NewReplacer("HOST/PATH", host+"/away", "registry.example/crossplane-contrib", made)
	page, err := os.ReadFile(filepath.Join(root, "docs", "operations", "air-gapped.md"))
	must(t, err)
	_, config, _ := strings.Cut(string(page), "## A mirror under another name")
	_, config, _ = strings.Cut(config, "<<'EOT'\n")
	config, _, ok := strings.Cut(config, "\nEOT\n")
	if !ok {
		t.Fatal("air-gapped.md gives kubectl no ImageConfig")
	}
	run(ctx, t, "bash", "-euc", "cd "+filepath.Join(dist, "install")+"\n"+fill.Replace(block(t, "air-gapped.md", rewriteBlock)))
	bootd, err := os.ReadFile(filepath.Join(dist, "install", "bootd.yaml"))
	must(t, err)
	_, image, _ := strings.Cut(string(bootd), "image: ")
	image, _, _ = strings.Cut(image, "\n")
	if got := manifest(t, image); !strings.HasSuffix(image, "@"+got) {
		t.Errorf("bootd's manifest names %s, which isn't in the mirror", image)
	}
	s.apply(ctx, t, fill.Replace(config))
	s.apply(ctx, t, `
apiVersion: pkg.crossplane.io/v1
kind: Configuration
metadata: {name: away-configuration-baremetal}
spec: {package: REGISTRY/configuration-baremetal:VERSION}
`)
	s.await(ctx, t, object("pkg.crossplane.io/v1", "Configuration", "", "away-configuration-baremetal"), "Healthy", says(healthy()))
	s.pulled(ctx, t, "away", version, host+"/away")
}
