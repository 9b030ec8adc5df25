package config

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// TestNetBoxes lists those of all provider configs, whoever uses them.
func TestNetBoxes(t *testing.T) {
	noToken := func(s *corev1.Secret) { s.Data = nil }
	kube := testKube(t, interceptor.Funcs{},
		clusterConfig("unused", netboxSpec(from("infra", "netbox"))),
		clusterConfig("bmc", redfishSpec(from("infra", "netbox"))),
		clusterConfig("no-secret", netboxSpec(from("infra", "gone"))),
		clusterConfig("no-token", netboxSpec(from("infra", "empty"))),
		clusterConfig("no-namespace", netboxSpec(from("", "netbox"))),
		localConfig("team-a", netboxSpec(from("", "netbox"))),
		localConfig("team-b", netboxSpec(from("infra", "netbox"))),
		secretAt("infra", "netbox"), secretAt("infra", "empty", noToken), secretAt("team-a", "netbox"),
	)
	all, err := testResolver(kube).NetBoxes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, k := range all {
		got = append(got, k.String()+" "+k.Namespace+" "+k.Token+" "+k.Config.URL)
		if k.Object == nil || k.Object.GetUID() != k.UID {
			t.Errorf("%s: object %v", k, k.Object)
		}
	}
	slices.Sort(got)
	want := []string{
		`ClusterProviderConfig "unused"  t0ken https://netbox.example/`,
		`ProviderConfig "mine" team-a t0ken https://netbox.example/`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	boom := testKube(t, interceptor.Funcs{List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
		return errors.New("boom")
	}})
	if _, err := testResolver(boom).NetBoxes(t.Context()); err == nil {
		t.Error("a list that fails isn't an empty one")
	}
}
