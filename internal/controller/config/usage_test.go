package config

import (
	"context"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

func usages(t *testing.T, kube client.Client) []v1alpha1.ProviderConfigUsage {
	t.Helper()
	l := &v1alpha1.ProviderConfigUsageList{}
	if err := kube.List(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	return l.Items
}

func TestTrack(t *testing.T) {
	yes := true
	recorded := func(ref xpv2.ProviderConfigReference, owners ...metav1.OwnerReference) *v1alpha1.ProviderConfigUsage {
		u := &v1alpha1.ProviderConfigUsage{ObjectMeta: metav1.ObjectMeta{
			Namespace: "team-a", Name: "uid-team-a-h", OwnerReferences: owners,
			Labels: map[string]string{xpv2.LabelKeyProviderKind: ref.Kind, xpv2.LabelKeyProviderName: ref.Name},
		}}
		u.ProviderConfigReference = ref
		u.ResourceReference = xpv2.TypedReference{APIVersion: v1alpha1.GroupVersion.String(), Kind: v1alpha1.RedfishHostKind, Name: "h"}
		return u
	}
	owner := metav1.OwnerReference{
		APIVersion: v1alpha1.GroupVersion.String(), Kind: v1alpha1.RedfishHostKind, Name: "h", UID: "uid-team-a-h",
		Controller: &yes, BlockOwnerDeletion: &yes,
	}
	cases := map[string]struct {
		reason string
		before []client.Object
		host   *v1alpha1.RedfishHost
		want   []v1alpha1.ProviderConfigUsage
	}{
		"New": {
			reason: "A use is recorded under the resource's UID, and goes with the resource.",
			host:   host("team-a", "h", local("mine")),
			want:   []v1alpha1.ProviderConfigUsage{*recorded(local("mine"), owner)},
		},
		"Known": {
			reason: "What is recorded isn't written again.",
			before: []client.Object{recorded(local("mine"), owner)},
			host:   host("team-a", "h", local("mine")),
			want:   []v1alpha1.ProviderConfigUsage{*recorded(local("mine"), owner)},
		},
		"Moved": {
			reason: "A resource that names another config uses the old one no longer.",
			before: []client.Object{recorded(cluster("bmc"), owner)},
			host:   host("team-a", "h", local("mine")),
			want:   []v1alpha1.ProviderConfigUsage{*recorded(local("mine"), owner)},
		},
		"OwnerStripped": {
			reason: "A restore that lost the owner is mended, or the record would outlive the resource.",
			before: []client.Object{recorded(local("mine"))},
			host:   host("team-a", "h", local("mine")),
			want:   []v1alpha1.ProviderConfigUsage{*recorded(local("mine"), owner)},
		},
		"Deleted": {
			reason: "A resource that is being deleted records nothing: in a terminating namespace it couldn't.",
			host:   host("team-a", "h", local("mine"), deleted),
		},
		"NotAllowed": {
			reason: "A namespace that may not use a config doesn't become its user.",
			host:   host("team-a", "h", cluster("bmc")),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			writes := 0
			kube := testKube(t, interceptor.Funcs{
				Update: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.UpdateOption) error {
					writes++
					return c.Update(ctx, o, opts...)
				},
			}, append(tc.before, localConfig("team-a", redfishSpec(from("", "bmc"))),
				clusterConfig("bmc", redfishSpec(from("infra", "bmc"))))...)
			r := testResolver(kube)
			_, _, _ = r.resolve(t.Context(), tc.host, redfish) // Whether it's allowed is another test's.
			got := usages(t, kube)
			ignore := cmpopts.IgnoreFields(metav1.ObjectMeta{}, "ResourceVersion")
			if diff := cmp.Diff(tc.want, got, ignore, cmpopts.EquateEmpty(), cmpopts.IgnoreTypes(metav1.TypeMeta{})); diff != "" {
				t.Errorf("%s\nusages: -want, +got:\n%s", tc.reason, diff)
			}
			if name == "Known" && writes != 0 {
				t.Errorf("%s: %d writes", tc.reason, writes)
			}
		})
	}
}

func TestTrackRaces(t *testing.T) {
	kube := testKube(t, interceptor.Funcs{}, localConfig("team-a", redfishSpec(from("", "bmc"))))
	mg := host("team-a", "h", local("mine"))
	ref := Ref{Kind: v1alpha1.ProviderConfigKind, Namespace: "team-a", Name: "mine"}
	if err := testResolver(kube).track(t.Context(), mg, ref); err != nil {
		t.Fatal(err)
	}
	lagging := testKube(t, interceptor.Funcs{
		Create: func(ctx context.Context, _ client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			return kube.Create(ctx, o, opts...) // The API server has what this cache doesn't show yet.
		},
	})
	if err := testResolver(lagging).track(t.Context(), mg, ref); err != nil {
		t.Errorf("a record that the cache doesn't show yet is what was wanted: %v", err)
	}
}

func TestUsers(t *testing.T) {
	owned := func(namespace, uid string, ref xpv2.ProviderConfigReference) *v1alpha1.ProviderConfigUsage {
		u := &v1alpha1.ProviderConfigUsage{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: uid}}
		u.ProviderConfigReference = ref
		yes := true
		if uid != "stripped" {
			u.OwnerReferences = []metav1.OwnerReference{{Kind: "RedfishHost", Name: strings.TrimPrefix(uid, "uid-"), UID: types.UID(uid), Controller: &yes}}
		}
		return u
	}
	kube := testKube(t, interceptor.Funcs{},
		owned("team-a", "uid-team-a-h", cluster("bmc")), // Counted once with the host of that UID.
		owned("team-a", "uid-other", cluster("bmc")),
		owned("team-a", "stripped", cluster("bmc")),
		owned("team-b", "uid-b", cluster("bmc")),     // Not allowed.
		owned("team-a", "uid-local", local("bmc")),   // The ProviderConfig of the same name.
		owned("team-a", "uid-mine", local("mine")),   // Another config.
		host("team-a", "h", cluster("bmc")),          //
		host("team-a", "early", cluster("bmc")),      // Its usage is gone: its namespace is terminating.
		host("team-b", "stranger", cluster("bmc")),   // Not allowed.
		address("team-a", "another", local("other")), // Another config.
	)
	got, err := testResolver(kube).users(t.Context(), clustered{clusterConfig("bmc", redfishSpec(from("infra", "bmc"), "team-a"))})
	if err != nil {
		t.Fatal(err)
	}
	want := []user{{"team-a", "RedfishHost", "early"}, {"team-a", "RedfishHost", "h"}, {"team-a", "RedfishHost", "other"}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(user{})); diff != "" {
		t.Errorf("users: -want, +got:\n%s", diff)
	}
}

func TestSentence(t *testing.T) {
	users := []user{{"infra", "NetBoxIPAddress", "old-vip"}, {"infra", "RedfishHost", "r7-u12"}, {"team-a", "RedfishHost", "mine"}, {"team-b", "RedfishHost", "mine"}}
	cases := map[string]struct {
		reason, want string
		users        []user
	}{
		"One":   {"Whoever wants it gone is told who keeps it.", "NetBoxIPAddress infra/old-vip", users[:1]},
		"Three": {"All of a few are named.", "NetBoxIPAddress infra/old-vip, RedfishHost infra/r7-u12, RedfishHost team-a/mine", users[:3]},
		"Many":  {"Of many the first, and how many more.", "NetBoxIPAddress infra/old-vip, RedfishHost infra/r7-u12, RedfishHost team-a/mine and 1 more", users},
		"None":  {"Nobody is nobody.", "", nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := sentence(tc.users); got != tc.want {
				t.Errorf("%s\nsentence(...) = %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

func TestMaps(t *testing.T) {
	kube := testKube(t, interceptor.Funcs{},
		clusterConfig("bmc", redfishSpec(from("infra", "bmc"), "team-a")),
		localConfig("team-a", redfishSpec(from("", "bmc"))),
		localConfig("team-b", redfishSpec(from("", "bmc"))),
		host("team-a", "by-cluster", cluster("bmc")),
		host("team-a", "by-local", local("mine")),
		host("team-a", "by-own", cluster("other"), ownSecret("bmc")),
		host("team-b", "b", local("mine")),
		address("team-a", "a", local("mine")),
	)
	r := testResolver(kube)
	type wake func(list func() resource.ManagedList) []string
	names := func(fn func(context.Context, client.Object) []types.NamespacedName, o client.Object) []string {
		var out []string
		for _, n := range fn(t.Context(), o) {
			out = append(out, n.String())
		}
		return out
	}
	bySecret := func(o client.Object) wake {
		return func(list func() resource.ManagedList) []string {
			return names(func(ctx context.Context, o client.Object) []types.NamespacedName {
				var out []types.NamespacedName
				for _, q := range r.BySecret(list)(ctx, o) {
					out = append(out, q.NamespacedName)
				}
				return out
			}, o)
		}
	}
	byConfig := func(o client.Object) wake {
		return func(list func() resource.ManagedList) []string {
			return names(func(ctx context.Context, o client.Object) []types.NamespacedName {
				var out []types.NamespacedName
				for _, q := range r.ByConfig(list)(ctx, o) {
					out = append(out, q.NamespacedName)
				}
				return out
			}, o)
		}
	}
	cases := map[string]struct {
		reason string
		wake   wake
		list   func() resource.ManagedList
		want   []string
	}{
		"SecretOfNamespace": {
			reason: "A Secret wakes the hosts that name it, and those whose ProviderConfig does.",
			wake:   bySecret(secretAt("team-a", "bmc")), list: hosts,
			want: []string{"team-a/by-own", "team-a/by-local"},
		},
		"SecretOfKind": {
			reason: "Each kind is woken by its own controller.",
			wake:   bySecret(secretAt("team-a", "bmc")), list: addresses,
			want: []string{"team-a/a"},
		},
		"SecretOfCluster": {
			reason: "A Secret wakes the hosts of all namespaces whose ClusterProviderConfig names it.",
			wake:   bySecret(secretAt("infra", "bmc")), list: hosts,
			want: []string{"team-a/by-cluster"},
		},
		"SecretOfNobody": {
			reason: "A cluster has many Secrets.",
			wake:   bySecret(secretAt("team-a", "helm")), list: hosts,
		},
		"Config": {
			reason: "A config wakes those that name it: the ProviderConfig of another namespace is another one.",
			wake:   byConfig(localConfig("team-a", v1alpha1.ProviderConfigSpec{})), list: hosts,
			want: []string{"team-a/by-local"},
		},
		"NoConfig": {
			reason: "Only configs are configs.",
			wake:   byConfig(secretAt("team-a", "mine")), list: hosts,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, tc.wake(tc.list)); diff != "" {
				t.Errorf("%s\nwoken: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestStripUsage: what a cache keeps of a usage is what is read of it, and a usage that is written again is whole.
func TestStripUsage(t *testing.T) {
	mg := host("team-a", "h", local("mine"))
	ref, err := refOf(mg)
	if err != nil {
		t.Fatal(err)
	}
	to := &xpv2.TypedReference{APIVersion: v1alpha1.GroupVersion.String(), Kind: v1alpha1.RedfishHostKind, Name: "h", UID: mg.GetUID()}
	whole := usage(mg, to, ref)
	whole.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "provider"}}
	o, err := StripUsage(whole.DeepCopy())
	if err != nil {
		t.Fatal(err)
	}
	stripped, ok := o.(*v1alpha1.ProviderConfigUsage)
	if !ok || !metav1.IsControlledBy(stripped, mg) || stripped.ProviderConfigReference != whole.ProviderConfigReference || stripped.Namespace != "team-a" || stripped.Labels != nil || stripped.ManagedFields != nil {
		t.Errorf("%+v is kept of %+v", o, whole)
	}
	whole.ManagedFields, whole.ProviderConfigReference.Name = nil, "former"
	kube := testKube(t, interceptor.Funcs{}, whole)
	got := &v1alpha1.ProviderConfigUsage{}
	if err := kube.Get(t.Context(), client.ObjectKeyFromObject(whole), got); err != nil {
		t.Fatal(err)
	}
	_, _ = StripUsage(got)
	if err := testResolver(kube).keepTracked(t.Context(), mg, ref, got, nil); err != nil {
		t.Fatal(err)
	}
	want := usage(mg, to, ref)
	if diff := cmp.Diff([]v1alpha1.ProviderConfigUsage{*want}, usages(t, kube), cmpopts.IgnoreFields(metav1.ObjectMeta{}, "ResourceVersion"), cmpopts.IgnoreTypes(metav1.TypeMeta{})); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
	if o, err := StripUsage("a tombstone"); o != "a tombstone" || err != nil {
		t.Errorf("what is no usage is %v, %v", o, err)
	}
}
