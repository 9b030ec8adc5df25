package config

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

func TestNetBoxVersion(t *testing.T) {
	c := clustered{clusterConfig("netbox", netboxSpec(from("infra", "netbox")))}
	kube := testKube(t, interceptor.Funcs{}, c.object(), secretAt("infra", "netbox"))
	r := testResolver(kube)
	id := Identity{Ref: refTo(c), UID: c.UID}
	version := func(r *Resolver) string {
		t.Helper()
		rec := &reconciler{Resolver: r, kind: v1alpha1.ClusterProviderConfigKind, now: now}
		if _, err := rec.Reconcile(t.Context(), reconcile.Request{NamespacedName: types.NamespacedName{Name: "netbox"}}); err != nil {
			t.Fatal(err)
		}
		see(t, kube, c)
		if c.status().NetBox == nil {
			return ""
		}
		return c.status().NetBox.Version
	}
	if got := version(r); got != "" {
		t.Errorf("nobody was asked: got version %q", got)
	}
	for range 3 {
		r.SawNetBox(id, "4.6.8")
	}
	if n := len(r.seen[v1alpha1.ClusterProviderConfigKind]); n != 1 {
		t.Errorf("%d wake-ups for one version, want 1", n)
	}
	woken := <-r.seen[v1alpha1.ClusterProviderConfigKind]
	if diff := cmp.Diff("netbox", woken.Object.GetName()); diff != "" {
		t.Errorf("woken: -want, +got:\n%s", diff)
	}
	if got := version(r); got != "4.6.8" {
		t.Errorf("version %q, want 4.6.8", got)
	}
	if got := version(testResolver(kube)); got != "4.6.8" {
		t.Errorf("after a restart: version %q, want what was known", got)
	}
	r.SawNetBox(id, "4.7.0")
	if got := version(r); got != "4.7.0" {
		t.Errorf("after an upgrade: version %q, want 4.7.0", got)
	}
}

// TestVersionNeverBlocks: whoever saw a NetBox doesn't wait for anybody.
func TestVersionNeverBlocks(t *testing.T) {
	r := testResolver(testKube(t, interceptor.Funcs{}))
	for i := range waiting + 10 {
		r.SawNetBox(Identity{Ref: Ref{Kind: v1alpha1.ProviderConfigKind, Namespace: "team-a", Name: "mine"}, UID: types.UID(rune('a' + i))}, "4.6.8")
	}
}

// TestVersionOfBMCs: a config for BMCs has none, whatever its status said.
func TestVersionOfBMCs(t *testing.T) {
	c := clustered{clusterConfig("bmc", redfishSpec(from("infra", "bmc")))}
	c.Status.NetBox = &v1alpha1.NetBoxFacts{Version: "4.6.8"}
	if f := testResolver(testKube(t, interceptor.Funcs{})).facts(c); f != nil {
		t.Errorf("facts: got %+v, want none", f)
	}
}
