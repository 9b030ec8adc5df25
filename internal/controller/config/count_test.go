package config

import (
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// TestCountsApart: the users of a config that has thousands aren't counted at each look, and are counted again once a while has passed.
func TestCountsApart(t *testing.T) {
	c := clusterConfig("netbox", netboxSpec(from("infra", "netbox")))
	c.UID = "uid-netbox"
	kube := testKube(t, interceptor.Funcs{}, c, secretAt("infra", "netbox"))
	at := now()
	r := &reconciler{Resolver: testResolver(kube), kind: v1alpha1.ClusterProviderConfigKind, now: func() time.Time { return at }, started: now()}
	cases := []struct {
		reason string
		change func()
		users  int64
		after  time.Duration
	}{
		{"one that few use is counted each time", func() {}, 0, 0},
		{"a count of five thousand holds, and who came since is counted when it's over", func() {
			r.counts.keep(c.UID, count{5000, at.Add(5000 * countsApart)})
		}, 5000, 5 * time.Second},
		{"it holds for the rest of its time", func() { at = at.Add(2 * time.Second) }, 5000, 3 * time.Second},
		{"then all are counted", func() { at = at.Add(3 * time.Second) }, 0, 0},
		{"and nothing is remembered of what is gone", func() { r.counts.forget(c.UID) }, 0, 0},
	}
	for _, tc := range cases {
		tc.change()
		result, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(c)})
		if err != nil {
			t.Fatal(err)
		}
		got := &v1alpha1.ClusterProviderConfig{}
		if err := kube.Get(t.Context(), client.ObjectKeyFromObject(c), got); err != nil {
			t.Fatal(err)
		}
		if got.Status.Users != tc.users || result.RequeueAfter != tc.after {
			t.Errorf("%s: %d users, again after %s; want %d, %s", tc.reason, got.Status.Users, result.RequeueAfter, tc.users, tc.after)
		}
	}
}

func TestSooner(t *testing.T) {
	for _, tc := range []struct{ a, b, want time.Duration }{{0, 0, 0}, {1, 0, 1}, {0, 1, 1}, {2, 1, 1}, {1, 2, 1}} {
		if got := sooner(tc.a, tc.b); got != tc.want {
			t.Errorf("of %d and %d it's %d, want %d", tc.a, tc.b, got, tc.want)
		}
	}
}
