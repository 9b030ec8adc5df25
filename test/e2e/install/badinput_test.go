package install_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-baremetal/cluster/local"
)

// badInput installs what can't be installed, and holds that each package says why, and that none of its programs is run.
func (s *stage) badInput(ctx context.Context, t *testing.T) {
	t.Helper()
	wrong := publishWrong(ctx, t, s.tool, s.registry)
	host, _, _ := strings.Cut(wrong.closed, "/")
	s.apply(ctx, t, `
apiVersion: v1
kind: Secret
metadata: {namespace: crossplane-system, name: registry}
type: kubernetes.io/dockerconfigjson
stringData: {.dockerconfigjson: '{"auths": {"`+host+`": {"username": "me", "password": "wrong"}}}'}
`)
	for name, tc := range map[string]struct {
		reason, kind, spec string
		want               []string
	}{
		"not-there": {
			"The version isn't in the registry.", "Provider", `package: "REGISTRY/provider-baremetal:v9.9.9"`,
			[]string{"Installed False", "cannot resolve", "MANIFEST_UNKNOWN"},
		},
		"crossplane": {
			"It's for a Crossplane that this one isn't.", "Provider", `package: "` + wrong.newer + `/provider-baremetal:` + version + `"`,
			[]string{"Healthy False", "incompatible Crossplane version"},
		},
		"architecture": {
			"There's no image for this machine.", "Provider", `package: "` + wrong.foreign + `/provider-baremetal:` + version + `"`,
			[]string{"Installed False", "no child with platform"},
		},
		"password": {
			"The registry asks for a password, and is given another.", "Provider",
			`package: "` + wrong.closed + `/provider-baremetal:` + version + `"` + "\n  packagePullSecrets: [{name: registry}]",
			[]string{"Installed False", "UNAUTHORIZED"},
		},
		"same-twice": {
			"The same package is installed by another name.", "Provider", `package: "REGISTRY/provider-baremetal:VERSION"`,
			[]string{"Healthy False", "packages in the lock", "/provider-baremetal already exists"},
		},
		"second-provider": {
			"There's another provider with these kinds.", "Provider", `package: "` + wrong.other + `/provider-baremetal:` + version + `"`,
			[]string{"Healthy False", "cannot establish control of object", "is already controlled by"},
		},
		"second-xrds": {
			"There's another configuration with these composites.", "Configuration",
			`package: "` + wrong.other + `/configuration-baremetal:` + version + `"` + "\n  skipDependencyResolution: true",
			[]string{"Healthy False", "cannot establish control of object", "is already controlled by"},
		},
		"no-function": {
			"The function that its compositions need isn't in its registry.", "Configuration", `package: "` + wrong.partial + `/configuration-baremetal:` + version + `"`,
			[]string{"Healthy False", "missing dependencies", "/partial/function-baremetal"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s.apply(ctx, t, "apiVersion: pkg.crossplane.io/v1\nkind: "+tc.kind+"\nmetadata: {name: "+name+"}\nspec:\n  "+tc.spec+"\n")
			o := object("pkg.crossplane.io/v1", tc.kind, "", name)
			t.Cleanup(func() { must(t, client.IgnoreNotFound(s.kube.Delete(context.WithoutCancel(ctx), o))) })
			s.await(ctx, t, o, tc.reason+" It's to say "+strings.Join(tc.want, ", "), func(u *unstructured.Unstructured) bool {
				said := conditions(u)
				for _, w := range tc.want {
					if !strings.Contains(said, w) {
						return false
					}
				}
				return true
			})
			if name == "no-function" {
				s.await(ctx, t, object("pkg.crossplane.io/v1beta1", "Lock", "", "lock"), "the Lock is to say why", func(u *unstructured.Unstructured) bool {
					return strings.Contains(conditions(u), "Resolved False") && strings.Contains(conditions(u), "NAME_UNKNOWN")
				})
			}
			t.Log(conditions(o))
			if revision := text(o, "status", "currentRevision"); revision != "" && tc.kind == "Provider" {
				s.absent(ctx, t, object("apps/v1", "Deployment", local.CrossplaneNamespace, revision))
			}
		})
	}
}

// conditions of an object, one a line.
func conditions(u *unstructured.Unstructured) string {
	var out strings.Builder
	all, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions") // None: nothing said yet.
	for _, c := range all {
		m := &unstructured.Unstructured{Object: toMap(c)}
		out.WriteString(text(m, "type") + " " + text(m, "status") + " " + text(m, "reason") + " " + text(m, "message") + "\n")
	}
	return out.String()
}

// wrongs are where packages are that can't be installed.
type wrongs struct{ newer, foreign, other, closed, partial string }

func publishWrong(ctx context.Context, t *testing.T, tool, registry string) wrongs {
	t.Helper()
	host, _, _ := strings.Cut(registry, "/")
	w := wrongs{newer: host + "/newer", foreign: host + "/foreign", other: host + "/other"}
	push := func(to, root, arch string) {
		t.Helper()
		run(ctx, t, tool, "push", "--registry="+to, "--version="+version, "--root="+root, "--dist="+t.TempDir(), "--bare", "--arch="+arch)
	}
	newer := checkout(t)
	meta := filepath.Join(newer, "package", "provider", "crossplane.yaml")
	b, err := os.ReadFile(meta)
	must(t, err)
	must(t, os.WriteFile(meta, []byte(strings.ReplaceAll(string(b), ">=v2.0.0-0", ">=v99.0.0")), 0o600)) //nolint:gosec // The test's own copy.
	push(w.newer, newer, runtime.GOARCH)
	push(w.other, checkout(t), runtime.GOARCH)
	push(w.foreign, checkout(t), map[string]string{"amd64": "arm64", "arm64": "amd64"}[runtime.GOARCH])

	closed := httptest.NewServer(http.HandlerFunc(shut))
	t.Cleanup(closed.Close)
	w.closed = strings.TrimPrefix(closed.URL, "http://") + "/closed"

	var hidden atomic.Bool
	partial := httptest.NewServer(lacking(t, host, &hidden))
	t.Cleanup(partial.Close)
	w.partial = strings.TrimPrefix(partial.URL, "http://") + "/partial"
	push(w.partial, checkout(t), runtime.GOARCH)
	hidden.Store(true)
	return w
}

// shut is a registry to which nobody has the password.
func shut(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("WWW-Authenticate", `Basic realm="registry"`)
	refuse(w, http.StatusUnauthorized, "UNAUTHORIZED", "authentication required")
}

// lacking stands before a registry, which has no function once hidden is set.
func lacking(t *testing.T, host string, hidden *atomic.Bool) http.Handler {
	t.Helper()
	to, err := url.Parse("http://" + host)
	must(t, err)
	proxy := httputil.NewSingleHostReverseProxy(to)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if hidden.Load() && strings.Contains(r.URL.Path, "function-baremetal") {
			refuse(w, http.StatusNotFound, "NAME_UNKNOWN", "repository name not known to registry")
			return
		}
		proxy.ServeHTTP(w, r)
	})
}

// refuse answers as registries do.
func refuse(w http.ResponseWriter, status int, code, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, `{"errors":[{"code":%q,"message":%q}]}`, code, message) // A client that has gone hears nothing.
}
