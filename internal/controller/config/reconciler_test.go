package config

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/providerconfig"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// seen is what a config shows after a reconcile.
type seen struct {
	Gone        bool
	InUse       bool
	Users       int64
	Ready       corev1.ConditionStatus
	Reason      xpv2.ConditionReason
	Message     string
	Terminating string
	After       time.Duration
}

func see(t *testing.T, kube client.Client, c config) seen {
	t.Helper()
	err := kube.Get(t.Context(), client.ObjectKeyFromObject(c.object()), c.object())
	if kerrors.IsNotFound(err) {
		return seen{Gone: true}
	}
	if err != nil {
		t.Fatal(err)
	}
	ready := c.status().GetCondition(xpv2.TypeReady)
	return seen{
		InUse: meta.FinalizerExists(c.object(), FinalizerInUse), Users: c.status().Users,
		Ready: ready.Status, Reason: ready.Reason, Message: ready.Message,
		Terminating: c.status().GetCondition(providerconfig.TypeTerminating).Message,
	}
}

func TestReconcileConfig(t *testing.T) {
	inUse := func(o client.Object) { o.SetFinalizers(append(o.GetFinalizers(), FinalizerInUse)) }
	dyingC := func(c *v1alpha1.ClusterProviderConfig) { inUse(c); deleted(c); c.Finalizers = []string{FinalizerInUse} }
	dyingL := func(c *v1alpha1.ProviderConfig) { inUse(c); deleted(c); c.Finalizers = []string{FinalizerInUse} }
	available := seen{InUse: true, Ready: corev1.ConditionTrue, Reason: xpv2.ReasonAvailable}
	cases := map[string]struct {
		reason  string
		config  config
		objects []client.Object
		young   bool
		want    seen
	}{
		"Available": {
			reason:  "A config whose credentials are there is ready, whoever uses it.",
			config:  clustered{clusterConfig("netbox", netboxSpec(from("infra", "netbox")))},
			objects: []client.Object{secretAt("infra", "netbox")},
			want:    available,
		},
		"Used": {
			reason:  "Users are counted.",
			config:  clustered{clusterConfig("netbox", netboxSpec(from("infra", "netbox")))},
			objects: []client.Object{secretAt("infra", "netbox"), address("team-a", "x", cluster("netbox")), address("team-b", "x", cluster("netbox"))},
			want:    seen{InUse: true, Users: 2, Ready: corev1.ConditionTrue, Reason: xpv2.ReasonAvailable},
		},
		"SecretMissing": {
			reason: "The owner of a config is told which Secret is missing, and what it must hold.",
			config: clustered{clusterConfig("bmc", redfishSpec(from("infra", "bmc")))},
			want: seen{
				InUse: true, Ready: corev1.ConditionFalse, Reason: v1alpha1.ReasonNotFound,
				Message: `Secret "bmc" in namespace "infra" doesn't exist: create it with keys "username" and "password"`,
			},
		},
		"TokenMissing": {
			reason: "A token has one key.",
			config: namespaced{localConfig("team-a", netboxSpec(from("", "netbox")))},
			want: seen{
				InUse: true, Ready: corev1.ConditionFalse, Reason: v1alpha1.ReasonNotFound,
				Message: `Secret "netbox" in namespace "team-a" doesn't exist: create it with key "token"`,
			},
		},
		"KeyMissing": {
			reason: "The key is the one that the config names.",
			config: namespaced{localConfig("team-a", func() v1alpha1.ProviderConfigSpec {
				s := netboxSpec(from("", "netbox"))
				s.NetBox.Credentials.SecretRef.Key = "api"
				return s
			}())},
			objects: []client.Object{secretAt("team-a", "netbox")},
			want: seen{
				InUse: true, Ready: corev1.ConditionFalse, Reason: v1alpha1.ReasonInvalid,
				Message: `Secret "netbox" in namespace "team-a" has no value for key "api": add it`,
			},
		},
		"ForeignSecret": {
			reason:  "A ProviderConfig that names another namespace's Secret is told so, whether that Secret is there or not.",
			config:  namespaced{localConfig("team-a", netboxSpec(from("infra", "netbox")))},
			objects: []client.Object{secretAt("infra", "netbox")},
			want: seen{
				InUse: true, Ready: corev1.ConditionFalse, Reason: v1alpha1.ReasonNotAllowed,
				Message: `ProviderConfig "mine" takes its credentials from namespace "infra": a ProviderConfig may use Secrets of its own namespace alone`,
			},
		},
		"DeletedUnused": {
			reason: "What nobody uses may go.",
			config: clustered{clusterConfig("netbox", netboxSpec(from("infra", "netbox")), dyingC)},
			want:   seen{Gone: true},
		},
		"DeletedYoung": {
			reason: "Just after the start not all kinds are known, so nobody is believed to be unused.",
			config: clustered{clusterConfig("netbox", netboxSpec(from("infra", "netbox")), dyingC)},
			young:  true,
			want:   seen{InUse: true, Ready: corev1.ConditionUnknown, After: 2 * time.Second},
		},
		"DeletedInUse": {
			reason:  "In a terminating namespace usages go first, so the resources themselves keep their config.",
			config:  namespaced{localConfig("team-a", redfishSpec(from("", "bmc")), dyingL)},
			objects: []client.Object{host("team-a", "h", local("mine"), deleted)},
			want: seen{
				InUse: true, Users: 1, Ready: corev1.ConditionUnknown,
				Terminating: "it goes when its users have gone: RedfishHost team-a/h", After: 2 * time.Second,
			},
		},
		"Gone": {
			reason: "What isn't there needs nothing.",
			want:   seen{Gone: true},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			objects := tc.objects
			c := tc.config
			if c != nil {
				objects = append(objects, c.object())
			} else {
				c = clustered{clusterConfig("gone", v1alpha1.ProviderConfigSpec{})}
			}
			kube := testKube(t, interceptor.Funcs{}, objects...)
			started := now().Add(-time.Hour)
			if tc.young {
				started = now()
			}
			r := &reconciler{Resolver: testResolver(kube), kind: refTo(c).Kind, now: now, started: started}
			result, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: refTo(c).key()})
			if err != nil {
				t.Fatalf("%s\nReconcile(...): %v", tc.reason, err)
			}
			got := see(t, kube, c)
			got.After = result.RequeueAfter
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestStatusIsNotRewritten(t *testing.T) {
	writes := 0
	c := clusterConfig("netbox", netboxSpec(from("infra", "netbox")))
	kube := testKube(t, interceptor.Funcs{
		SubResourcePatch: func(ctx context.Context, k client.Client, sub string, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
			writes++
			return k.SubResource(sub).Patch(ctx, o, p, opts...)
		},
	}, c, secretAt("infra", "netbox"))
	r := &reconciler{Resolver: testResolver(kube), kind: v1alpha1.ClusterProviderConfigKind, now: now, started: now()}
	for range 3 {
		if _, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(c)}); err != nil {
			t.Fatal(err)
		}
	}
	if writes != 1 {
		t.Errorf("the status was written %d times: want once, for nothing changed after that", writes)
	}
}

func TestCredentialsCanNotBeRead(t *testing.T) {
	c := credentialsReady(Ref{Kind: v1alpha1.ClusterProviderConfigKind, Name: "netbox"}, netboxSpec(from("infra", "netbox")),
		client.ObjectKey{Namespace: "infra", Name: "netbox"}, nil, errors.New("boom"))
	if c.Status != corev1.ConditionFalse || c.Message != `the credentials of ClusterProviderConfig "netbox" can't be read now` {
		t.Errorf("%s: %s: a trouble of the API server is no fault of the Secret, and what it said isn't repeated", c.Status, c.Message)
	}
}
