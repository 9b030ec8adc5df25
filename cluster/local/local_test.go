package local

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-baremetal/cluster/local/proc"
	"github.com/crossplane-contrib/provider-baremetal/cluster/local/programs"
)

// TestPlane starts one control plane and looks at everything that others rely on.
func TestPlane(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 45*time.Minute)
	defer cancel()
	p := startPlane(t, ctx)

	t.Run("Kubeconfig", func(t *testing.T) { testKubeconfig(t, p) })
	t.Run("ProviderServiceAccount", func(t *testing.T) { testProviderRights(t, p) })
	t.Run("RegisterFunction", func(t *testing.T) { testFunction(t, p) })
	t.Run("Unpermitted", func(t *testing.T) { testNobody(t, p) })
	t.Run("RBACManager", func(t *testing.T) { testRBACManager(t, p) })
	t.Run("SnapshotAndRestore", func(t *testing.T) { testRestore(t, p) })
	t.Run("Outage", func(t *testing.T) { testOutage(t, p) })
	t.Run("Stop", func(t *testing.T) { testStop(t, p) })
}

func startPlane(t *testing.T, ctx context.Context) *Plane { //nolint:revive // A helper's first argument is its test.
	t.Helper()
	finder, err := programs.Default(func(s string) { t.Log(s) })
	if err != nil {
		t.Fatal(err)
	}
	ports, err := proc.NewPorts(filepath.Join(finder.Cache, "ports"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(ports.Close)
	start := time.Now()
	p, err := Start(ctx, Options{StateDir: filepath.Join(t.TempDir(), "plane"), Programs: finder, Ports: ports, Say: func(s string) { t.Log(s) }})
	if err != nil {
		t.Fatalf("Start: %v", err)
	}
	t.Cleanup(p.Stop)
	t.Logf("ready after %s", time.Since(start).Round(100*time.Millisecond))
	return p
}

func testKubeconfig(t *testing.T, p *Plane) {
	t.Helper()
	cfg, err := clientcmd.BuildConfigFromFlags("", p.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	c, err := newClient(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Get(t.Context(), client.ObjectKey{Name: CrossplaneNamespace}, &corev1.Namespace{}); err != nil {
		t.Errorf("the kubeconfig file doesn't give access: %v", err)
	}
}

func testProviderRights(t *testing.T, p *Plane) {
	t.Helper()
	if err := p.ProviderServiceAccount(t.Context(), "provider-x", []string{"widgets.example.org"}, nil); err != nil {
		t.Fatal(err)
	}
	cfg, err := p.ServiceAccountConfig(t.Context(), CrossplaneNamespace, "provider-x")
	if err != nil {
		t.Fatal(err)
	}
	c, err := newClient(cfg)
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		reason string
		attr   authorizationv1.ResourceAttributes
		want   bool
	}{
		"Create": {
			reason: "A provider creates its own kinds.",
			attr:   authorizationv1.ResourceAttributes{Verb: "create", Group: "example.org", Resource: "widgets", Namespace: "x"},
			want:   true,
		},
		"Delete": {
			reason: "The RBAC manager gives a provider no right to delete its kinds.",
			attr:   authorizationv1.ResourceAttributes{Verb: "delete", Group: "example.org", Resource: "widgets", Namespace: "x"},
		},
		"Secrets": {
			reason: "Connection details are Secrets.",
			attr:   authorizationv1.ResourceAttributes{Verb: "delete", Resource: "secrets", Namespace: "x"},
			want:   true,
		},
		"Namespaces": {
			reason: "A provider may not look at namespaces.",
			attr:   authorizationv1.ResourceAttributes{Verb: "get", Resource: "namespaces", Name: "x"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &tc.attr}}
			if err := c.Create(t.Context(), r); err != nil {
				t.Fatal(err)
			}
			if r.Status.Allowed != tc.want {
				t.Errorf("%s\nallowed: want %t, got %t", tc.reason, tc.want, r.Status.Allowed)
			}
		})
	}
}

func testFunction(t *testing.T, p *Plane) {
	t.Helper()
	dir := t.TempDir()
	if err := p.FunctionCertificate(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	for _, f := range []string{"tls.crt", "tls.key", "ca.crt"} {
		if _, err := os.Stat(filepath.Join(dir, f)); err != nil {
			t.Error(err)
		}
	}
	// Twice: a component that comes back on another port registers again.
	for _, endpoint := range []string{"127.0.0.1:1", "127.0.0.1:2"} {
		if err := p.RegisterFunction(t.Context(), "function-x", endpoint); err != nil {
			t.Fatal(err)
		}
		u := object("pkg.crossplane.io/v1", "FunctionRevision", "", "function-x-local")
		if err := p.Client().Get(t.Context(), client.ObjectKeyFromObject(u), u); err != nil {
			t.Fatal(err)
		}
		if got, _, _ := unstructured.NestedString(u.Object, "status", "endpoint"); got != endpoint {
			t.Errorf("endpoint: want %q, got %q", endpoint, got)
		}
	}
}

func testNobody(t *testing.T, p *Plane) {
	t.Helper()
	cfg, err := p.UserConfig("tenant", "tenants")
	if err != nil {
		t.Fatal(err)
	}
	c, err := newClient(cfg)
	if err != nil {
		t.Fatal(err)
	}
	err = c.List(t.Context(), &corev1.SecretList{}, client.InNamespace("default"))
	if !kerrors.IsForbidden(err) {
		t.Errorf("a user without rights lists Secrets: want forbidden, got %v", err)
	}
}

// testRBACManager holds ProviderRules against what Crossplane's RBAC manager really makes of a provider's revision.
func testRBACManager(t *testing.T, p *Plane) {
	t.Helper()
	const name, crd = "provider-rules", "widgets.example.org"
	rev := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "pkg.crossplane.io/v1",
		"kind":       "ProviderRevision",
		"metadata":   map[string]any{"name": name},
		"spec":       map[string]any{"desiredState": "Inactive", "image": "local.invalid/x:dev", "revision": int64(1)},
	}}
	if err := p.Apply(t.Context(), rev); err != nil {
		t.Fatal(err)
	}
	pr, err := proc.Start(proc.Command{
		Name: "rbac-manager",
		Path: p.set.Path[programs.Crossplane],
		Args: []string{"rbac", "start"},
		Env:  []string{"KUBECONFIG=" + p.Kubeconfig()},
		Log:  p.log("rbac-manager"),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer pr.Kill()
	before := rev.DeepCopy()
	rev.Object["status"] = map[string]any{
		"capabilities": []any{SafeStart},
		"objectRefs":   []any{map[string]any{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "name": crd}},
	}
	if err := p.Client().Status().Patch(t.Context(), rev, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	role := &rbacv1.ClusterRole{}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	err = pr.Await(ctx, func(ctx context.Context) error {
		return p.Client().Get(ctx, client.ObjectKey{Name: "crossplane:provider:" + name + ":system"}, role)
	})
	if errors.Is(err, proc.ErrExited) && strings.Contains(proc.Tail(pr.Log(), 50), "8080") {
		t.Skip("skipped: port 8080, which Crossplane's RBAC manager can't do without, is taken on this machine")
	}
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(role.Rules, ProviderRules([]string{crd}, []string{SafeStart})); diff != "" {
		t.Errorf("ProviderRules: -rbac manager's, +ours:\n%s", diff)
	}
}

func testRestore(t *testing.T, p *Plane) {
	t.Helper()
	cm := func(name string) *corev1.ConfigMap {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	}
	if err := p.Client().Create(t.Context(), cm("before")); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "snapshot")
	if err := p.Snapshot(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	if err := p.Client().Create(t.Context(), cm("after")); err != nil {
		t.Fatal(err)
	}
	if err := p.Restore(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	if err := p.Client().Get(t.Context(), client.ObjectKeyFromObject(cm("before")), &corev1.ConfigMap{}); err != nil {
		t.Errorf("what was there before the snapshot is gone: %v", err)
	}
	if err := p.Client().Get(t.Context(), client.ObjectKeyFromObject(cm("after")), &corev1.ConfigMap{}); !kerrors.IsNotFound(err) {
		t.Errorf("what was created after the snapshot: want not found, got %v", err)
	}
}

func testOutage(t *testing.T, p *Plane) {
	t.Helper()
	end, err := p.Outage()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Client().Get(t.Context(), client.ObjectKey{Name: "default"}, &corev1.Namespace{}); err == nil {
		t.Error("the API answers during an outage")
	}
	if err := end(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := p.Client().Get(t.Context(), client.ObjectKey{Name: "default"}, &corev1.Namespace{}); err != nil {
		t.Errorf("the API doesn't answer after an outage: %v", err)
	}
	if err := p.Failed(); err != nil {
		t.Errorf("something didn't survive an outage: %v", err)
	}
}

func testStop(t *testing.T, p *Plane) {
	t.Helper()
	var pids []int
	for _, name := range []string{programs.Etcd, programs.APIServer, programs.Controllers, programs.Crossplane} {
		pids = append(pids, p.Process(name).PID())
	}
	p.Stop()
	for _, pid := range pids {
		if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
			t.Errorf("process %d is still there: %v", pid, err)
		}
	}
}

func object(apiVersion, kind, namespace, name string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetAPIVersion(apiVersion)
	u.SetKind(kind)
	u.SetNamespace(namespace)
	u.SetName(name)
	return u
}
