package install_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// second is another version of everything, which is beside the first one in its registry.
const second = "v0.1.0-rc.2"

// read is the architecture whose image Crossplane reads a package from, on any machine.
const read = "amd64"

// wrongs are where packages are that can't be installed. newer has one for a Crossplane that is newer than the one here: there's no older
// Crossplane here to refuse ours, and a constraint that isn't met is the same to it either way.
type wrongs struct{ newer, foreign, other, closed, partial string }

func publishWrong(ctx context.Context, t *testing.T, tool, registry string) wrongs {
	t.Helper()
	host, _, _ := strings.Cut(registry, "/")
	w := wrongs{newer: host + "/newer", foreign: host + "/foreign", other: host + "/other"}
	pushAs := func(version, to, root, arch string) {
		t.Helper()
		run(ctx, t, tool, "push", "--registry="+to, "--version="+version, "--root="+root, "--dist="+t.TempDir(), "--bare", "--arch="+arch)
	}
	push := func(to, root, arch string) { pushAs(version, to, root, arch) }
	pushAs(second, registry, checkout(t), read)
	newer := checkout(t)
	meta := filepath.Join(newer, "package", "provider", "crossplane.yaml")
	b, err := os.ReadFile(meta)
	must(t, err)
	must(t, os.WriteFile(meta, []byte(strings.ReplaceAll(string(b), ">=v2.0.0-0", ">=v99.0.0")), 0o600)) //nolint:gosec // The test's own copy.
	push(w.newer, newer, read)
	push(w.other, checkout(t), read)
	push(w.foreign, checkout(t), "arm64")

	closed := httptest.NewServer(&gate{to: before(t, host)})
	t.Cleanup(closed.Close)
	w.closed = strings.TrimPrefix(closed.URL, "http://") + "/closed"

	var hidden atomic.Bool
	partial := httptest.NewServer(lacking(t, host, &hidden))
	t.Cleanup(partial.Close)
	w.partial = strings.TrimPrefix(partial.URL, "http://") + "/partial"
	push(w.partial, checkout(t), read)
	hidden.Store(true)
	return w
}

// lacking stands before a registry, which has no function once hidden is set.
func lacking(t *testing.T, host string, hidden *atomic.Bool) http.Handler {
	t.Helper()
	proxy := before(t, host)
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
