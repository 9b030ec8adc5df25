package platform_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	function "github.com/crossplane/function-sdk-go"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-baremetal/cluster/local"
	"github.com/crossplane-contrib/provider-baremetal/cluster/local/proc"
	"github.com/crossplane-contrib/provider-baremetal/internal/composition"
)

const (
	ours     = "baremetal.m.crossplane.io"
	claims   = "platform.baremetal.crossplane.io"
	modern   = "platform.baremetal.m.crossplane.io"
	patience = 30 * time.Second
)

// A stage is a control plane on which the function composes the demo's claims.
type stage struct {
	kube, provider client.Client
}

// testComposition follows the demo's claims through Crossplane, with the provider's and bootd's words written here.
func testComposition(ctx context.Context, t *testing.T, plane *local.Plane, ports *proc.Ports) {
	t.Helper()
	serve(ctx, t, plane, ports)
	cfg, err := plane.ServiceAccountConfig(ctx, local.CrossplaneNamespace, "provider-baremetal")
	must(t, err)
	provider, err := client.New(cfg, client.Options{})
	must(t, err)
	s := &stage{kube: plane.Client(), provider: provider}
	apply(ctx, t, plane, "examples/demo", "examples/v2/baremetalnode.yaml")

	t.Run("Pool", func(t *testing.T) { s.pool(ctx, t) })
	t.Run("Claims", func(t *testing.T) { s.composed(ctx, t) })
	t.Run("Namespaced", func(t *testing.T) {
		s.await(ctx, t, modern, "BareMetalNode", tenantNamespace, "ledger-v2", "message Pending", at("Pending", "status", "phase"))
		s.await(ctx, t, ours, "HostClaim", tenantNamespace, "ledger-v2", "its host", at("r7-u17", "spec", "hostRef", "name"))
	})
	t.Run("Ready", func(t *testing.T) { s.ready(ctx, t) })
	t.Run("Raised", func(t *testing.T) { s.raised(ctx, t) })
	t.Run("Deleted", func(t *testing.T) { s.deleted(ctx, t) })
}

// serve runs the function, with a certificate that Crossplane trusts, until the process ends.
func serve(ctx context.Context, t *testing.T, plane *local.Plane, ports *proc.Ports) {
	t.Helper()
	certs := t.TempDir()
	must(t, plane.FunctionCertificate(ctx, certs))
	port, err := ports.Next()
	must(t, err)
	address := fmt.Sprintf("127.0.0.1:%d", port)
	go func() {
		err := function.Serve(composition.New(logging.NewNopLogger()), function.Listen("tcp", address),
			function.MTLSCertificates(certs), function.WithMetricsServer(""))
		t.Log("the function ended:", err)
	}()
	must(t, plane.RegisterFunction(ctx, "function-baremetal", address))
}

// pool: the rack's hosts and network are there, in the pool's namespace, untouched.
func (s *stage) pool(ctx context.Context, t *testing.T) {
	t.Helper()
	for _, name := range []string{"r7-u12", "r7-u13", "r7-u14", "r7-u15"} {
		s.await(ctx, t, ours, "RedfishHost", "infra", name, "its topology", func(u *unstructured.Unstructured) bool {
			return u.GetLabels()["topology.baremetal.crossplane.io/rack"] == "r7"
		})
	}
	s.await(ctx, t, ours, "BootNetwork", "infra", "rack-7", "its domain", at("rack7.example", "spec", "domain"))
	s.await(ctx, t, claims, "RackPool", "infra", "rack-7", "its count", at(int64(4), "status", "hosts"))
}

// composed: each claim's parts are there, in its own namespace, under its own name.
func (s *stage) composed(ctx context.Context, t *testing.T) {
	t.Helper()
	for _, claim := range []string{"team-a/web-1", "team-a/web-2", "team-b/db-1", "team-b/db-2"} {
		ns, name, _ := strings.Cut(claim, "/")
		s.await(ctx, t, ours, "HostClaim", ns, name, "its entry", at(name, "spec", "bootEntryRef", "name"))
		s.await(ctx, t, ours, "BootEntry", ns, name, "its generation", at(int64(1), "spec", "forProvider", "install", "generation"))
		s.await(ctx, t, ours, "NetBoxIPAddress", ns, name+"-boot-ipv4", "its name", at(name+".rack7.example", "spec", "forProvider", "dnsName"))
	}
	s.await(ctx, t, ours, "NetBoxIPAddress", "team-a", "web-2-boot-ipv4", "its mask", at("10.77.0.40/24", "spec", "forProvider", "address"))
	s.await(ctx, t, claims, "BareMetalNode", "team-a", "web-1", "its condition", func(u *unstructured.Unstructured) bool {
		return condition(u, "HostBound") == "False/WaitingForHost"
	})
}

// ready: what the provider and bootd tell reaches the claim.
func (s *stage) ready(ctx context.Context, t *testing.T) {
	t.Helper()
	const now = `"lastTransitionTime":"2026-08-01T10:43:06Z"`
	yes := func(types ...string) string {
		out := make([]string, 0, len(types))
		for _, ct := range types {
			out = append(out, `{"type":"`+ct+`","status":"True","reason":"Available",`+now+`}`)
		}
		return "[" + strings.Join(out, ",") + "]"
	}
	must(t, patch("HostClaim", "web-1", `{"spec":{"bound":{"kind":"RedfishHost","namespace":"infra","name":"r7-u12","uid":"u","serial":"R7U12"}},
		"metadata":{"finalizers":["baremetal.m.crossplane.io/release"]}}`)(ctx, s.provider))
	must(t, status("NetBoxIPAddress", "web-1-boot-ipv4", `{"status":{"conditions":`+yes("Ready", "Synced")+`,"atProvider":{"address":"10.77.0.11/24"}}}`)(ctx, s.provider))
	must(t, status("BootEntry", "web-1", `{"status":{"conditions":`+yes("Planned", "Served", "Installed", "Booted", "Current")+`,"atProvider":{
		"installedGeneration":1,"installed":{"generation":1,"planDigest":"sha256:aa"},"plan":{"digest":"sha256:aa","hostUID":"u","entryUID":"e","bound":true,
		"macs":["52:54:00:00:07:12"],"mode":"Install","method":"DiskImage","installGeneration":1,"otherwise":"LocalDisk","artifacts":[],
		"network":{"namespace":"infra","name":"rack-7","address":"10.77.0.11/24"}}}}}`)(ctx, s.provider))
	must(t, status("HostClaim", "web-1", `{"status":{"phase":"Ready","reason":"Available","message":"runs","conditions":`+yes("Ready", "HostBound", "Reachable", "HostHealthy")+`}}`)(ctx, s.provider))

	node := s.await(ctx, t, claims, "BareMetalNode", "team-a", "web-1", "Ready", func(u *unstructured.Unstructured) bool {
		return strings.HasPrefix(condition(u, "Ready"), "True") && strings.HasPrefix(condition(u, "Installed"), "True")
	})
	for path, want := range map[string]string{"phase": "Ready", "providerID": "baremetal://infra/r7-u12", "message": "runs"} {
		if got, _, _ := unstructured.NestedString(node.Object, "status", path); got != want {
			t.Errorf("status.%s is %q, not %q", path, got, want)
		}
	}
}

// raised: a raised installGeneration reaches the BootEntry, and the claim isn't Ready any more.
func (s *stage) raised(ctx context.Context, t *testing.T) {
	t.Helper()
	u := object(claims, "BareMetalNode", "team-a", "web-1")
	must(t, s.kube.Patch(ctx, u, client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"installGeneration":2}}`))))
	s.await(ctx, t, ours, "BootEntry", "team-a", "web-1", "generation 2", at(int64(2), "spec", "forProvider", "install", "generation"))
	s.await(ctx, t, claims, "BareMetalNode", "team-a", "web-1", "not Ready", func(u *unstructured.Unstructured) bool {
		return strings.HasPrefix(condition(u, "Ready"), "False")
	})
	lowered := s.kube.Patch(ctx, u, client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"installGeneration":1}}`)))
	if lowered == nil || !strings.Contains(lowered.Error(), "installGeneration never falls") {
		t.Errorf("lowering the generation: %v", lowered)
	}
}

// deleted: a claim stays visible until its machine is released, and takes everything with it then.
func (s *stage) deleted(ctx context.Context, t *testing.T) {
	t.Helper()
	must(t, s.kube.Delete(ctx, object(claims, "BareMetalNode", "team-a", "web-1")))
	s.await(ctx, t, ours, "HostClaim", "team-a", "web-1", "on its way out", func(u *unstructured.Unstructured) bool { return u.GetDeletionTimestamp() != nil })
	if err := s.kube.Get(ctx, client.ObjectKey{Namespace: "team-a", Name: "web-1"}, object(claims, "BareMetalNode", "", "")); err != nil {
		t.Errorf("the claim went before its machine was released: %v", err)
	}
	must(t, patch("HostClaim", "web-1", `{"metadata":{"finalizers":[]}}`)(ctx, s.provider))
	s.gone(ctx, t, ours, "HostClaim", "web-1")
	s.gone(ctx, t, ours, "BootEntry", "web-1")
	s.gone(ctx, t, ours, "NetBoxIPAddress", "web-1-boot-ipv4")
	s.gone(ctx, t, claims, "BareMetalNode", "web-1")
}

// await returns an object once it is as wanted.
func (s *stage) await(ctx context.Context, t *testing.T, group, kind, ns, name, what string, ok func(*unstructured.Unstructured) bool) *unstructured.Unstructured {
	t.Helper()
	var last string
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		u := object(group, kind, ns, name)
		err := s.kube.Get(ctx, client.ObjectKeyFromObject(u), u)
		if err == nil && ok(u) {
			return u
		}
		last = fmt.Sprintf("%v %v", err, u.Object["status"])
	}
	t.Fatalf("%s %s/%s doesn't have %s: %s", kind, ns, name, what, last)
	return nil
}

// gone waits until an object of team-a doesn't exist any more.
func (s *stage) gone(ctx context.Context, t *testing.T, group, kind, name string) {
	t.Helper()
	u := object(group, kind, "team-a", name)
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if err := s.kube.Get(ctx, client.ObjectKeyFromObject(u), u); kerrors.IsNotFound(err) {
			return
		}
	}
	t.Errorf("%s %q is still there, with finalizers %v", kind, name, u.GetFinalizers())
}

// object is an empty object of a kind.
func object(group, kind, ns, name string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetAPIVersion(group + "/v1alpha1")
	u.SetKind(kind)
	u.SetNamespace(ns)
	u.SetName(name)
	return u
}

// at says whether a field has a value.
func at(want any, path ...string) func(*unstructured.Unstructured) bool {
	return func(u *unstructured.Unstructured) bool {
		got, _, _ := unstructured.NestedFieldNoCopy(u.Object, path...)
		return got == want
	}
}

// condition is STATUS/REASON of a condition; "/" where there is none.
func condition(u *unstructured.Unstructured, ct string) string {
	all, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
	for _, c := range all {
		if m, ok := c.(map[string]any); ok && m["type"] == ct {
			return fmt.Sprintf("%v/%v", m["status"], m["reason"])
		}
	}
	return "/"
}
