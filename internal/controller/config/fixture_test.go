package config

import (
	"context"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

func testScheme(t *testing.T) *runtime.Scheme {
	t.Helper()
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// indexer adapts the fake client's builder to client.FieldIndexer, so that tests index as Setup does.
type indexer struct{ *fake.ClientBuilder }

func (i indexer) IndexField(_ context.Context, o client.Object, field string, fn client.IndexerFunc) error {
	i.WithIndex(o, field, fn)
	return nil
}

// testKube is an API server with indexes and status subresources.
func testKube(t *testing.T, funcs interceptor.Funcs, objects ...client.Object) client.Client {
	t.Helper()
	b := fake.NewClientBuilder().WithScheme(testScheme(t)).WithObjects(objects...).WithInterceptorFuncs(funcs).
		WithStatusSubresource(&v1alpha1.ProviderConfig{}, &v1alpha1.ClusterProviderConfig{})
	if err := indexConfigs(t.Context(), indexer{b}); err != nil {
		t.Fatal(err)
	}
	if err := Index(t.Context(), indexer{b}, &v1alpha1.NetBoxIPAddress{}, nil); err != nil {
		t.Fatal(err)
	}
	if err := Index(t.Context(), indexer{b}, &v1alpha1.RedfishHost{}, hostSecrets); err != nil {
		t.Fatal(err)
	}
	return b.Build()
}

func hostSecrets(mg resource.ModernManaged) []types.NamespacedName {
	h, ok := mg.(*v1alpha1.RedfishHost)
	if !ok || h.Spec.ForProvider.CredentialsSecretRef == nil {
		return nil
	}
	return []types.NamespacedName{{Namespace: h.Namespace, Name: h.Spec.ForProvider.CredentialsSecretRef.Name}}
}

func hosts() resource.ManagedList { return &v1alpha1.RedfishHostList{} }

func addresses() resource.ManagedList { return &v1alpha1.NetBoxIPAddressList{} }

func testResolver(kube client.Client) *Resolver {
	r := NewResolver(kube, kube, kube)
	r.AddUsers(hosts)
	r.AddUsers(addresses)
	return r
}

// now is whole seconds, as the API server stores times.
func now() time.Time { return time.Date(2026, 9, 1, 10, 0, 0, 0, time.UTC) }

type mod[T client.Object] func(T)

func with[T client.Object](o T, mods ...mod[T]) T {
	for _, m := range mods {
		m(o)
	}
	return o
}

// deleted marks an object as being deleted, which needs a finalizer.
func deleted[T client.Object](o T) {
	at := metav1.NewTime(now())
	o.SetDeletionTimestamp(&at)
	o.SetFinalizers(append(o.GetFinalizers(), "test.example/keep"))
}

func host(namespace, name string, ref xpv2.ProviderConfigReference, mods ...mod[*v1alpha1.RedfishHost]) *v1alpha1.RedfishHost {
	h := &v1alpha1.RedfishHost{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID("uid-" + namespace + "-" + name)}}
	h.SetProviderConfigReference(&ref)
	return with(h, mods...)
}

func address(namespace, name string, ref xpv2.ProviderConfigReference) *v1alpha1.NetBoxIPAddress {
	a := &v1alpha1.NetBoxIPAddress{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID("uid-" + namespace + "-" + name)}}
	a.SetProviderConfigReference(&ref)
	return a
}

func ownSecret(name string) mod[*v1alpha1.RedfishHost] {
	return func(h *v1alpha1.RedfishHost) {
		h.Spec.ForProvider.CredentialsSecretRef = &v1alpha1.LocalReference{Name: name}
	}
}

func cluster(name string) xpv2.ProviderConfigReference {
	return xpv2.ProviderConfigReference{Kind: v1alpha1.ClusterProviderConfigKind, Name: name}
}

func local(name string) xpv2.ProviderConfigReference {
	return xpv2.ProviderConfigReference{Kind: v1alpha1.ProviderConfigKind, Name: name}
}

func secretAt(namespace, name string, mods ...mod[*corev1.Secret]) *corev1.Secret {
	return with(&corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID("uid-" + name)},
		Data: map[string][]byte{
			"token": []byte("t0ken\n"), "username": []byte("root"), "password": []byte("calvin\n"),
		},
	}, mods...)
}

func from(namespace, name string) v1alpha1.Credentials {
	return v1alpha1.Credentials{
		Source:    xpv2.CredentialsSourceSecret,
		SecretRef: v1alpha1.SecretReference{Namespace: namespace, Name: name},
	}
}

func netboxSpec(c v1alpha1.Credentials) v1alpha1.ProviderConfigSpec {
	return v1alpha1.ProviderConfigSpec{NetBox: &v1alpha1.NetBoxConfig{URL: "https://netbox.example/", Credentials: c}}
}

func redfishSpec(c v1alpha1.Credentials, names ...string) v1alpha1.ProviderConfigSpec {
	s := v1alpha1.ProviderConfigSpec{Redfish: &v1alpha1.RedfishConfig{Credentials: c, AllowedAddresses: []string{"10.0.7.0/24"}}}
	if names != nil {
		s.AllowedNamespaces = &v1alpha1.AllowedNamespaces{From: v1alpha1.AllowedFromNames, Names: names}
	}
	return s
}

func clusterConfig(name string, spec v1alpha1.ProviderConfigSpec, mods ...mod[*v1alpha1.ClusterProviderConfig]) *v1alpha1.ClusterProviderConfig {
	return with(&v1alpha1.ClusterProviderConfig{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("uid-" + name), Generation: 2}, Spec: spec,
	}, mods...)
}

func localConfig(namespace string, spec v1alpha1.ProviderConfigSpec, mods ...mod[*v1alpha1.ProviderConfig]) *v1alpha1.ProviderConfig {
	return with(&v1alpha1.ProviderConfig{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "mine", UID: "uid-mine", Generation: 1}, Spec: spec,
	}, mods...)
}
