package config

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// laggard is a cache of metadata that goes on showing what it once saw.
type laggard struct {
	client.Reader

	seen map[client.ObjectKey]metav1.ObjectMeta
}

func (l laggard) Get(ctx context.Context, k client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	m, ok := o.(*metav1.PartialObjectMetadata)
	if !ok {
		return l.Reader.Get(ctx, k, o, opts...)
	}
	if was, ok := l.seen[k]; ok {
		m.ObjectMeta = was
		return nil
	}
	err := l.Reader.Get(ctx, k, o, opts...)
	l.seen[k] = m.ObjectMeta
	return err
}

// TestForget: a Secret that we wrote is used as it's now, whatever the cache of metadata knows of it.
func TestForget(t *testing.T) {
	kube := testKube(t, interceptor.Funcs{}, localConfig("team-a", redfishSpec(from("", "bmc"))), secretAt("team-a", "bmc"), secretAt("team-a", "own"))
	r := testResolver(kube)
	r.meta = laggard{kube, map[client.ObjectKey]metav1.ObjectMeta{}}
	h := host("team-a", "h", local("mine"), ownSecret("own"))
	at := types.NamespacedName{Namespace: "team-a", Name: "own"}
	for range 2 { // The first look puts our finalizer on it.
		if _, err := r.Redfish(t.Context(), h, h.Spec.ForProvider.CredentialsSecretRef); err != nil {
			t.Fatal(err)
		}
		s := &corev1.Secret{}
		if err := kube.Get(t.Context(), at, s); err != nil {
			t.Fatal(err)
		}
		s.Data["password"], s.Data["password-next"] = []byte("one"), []byte("two\n")
		if err := kube.Update(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		r.Forget(at)
		got, err := r.Redfish(t.Context(), h, h.Spec.ForProvider.CredentialsSecretRef)
		if err != nil || got.Password != "one" || got.PasswordNext != "two" || got.SecretVersion != VersionOf(s) {
			t.Errorf("after our own write: next is there: %t, its version: %t; %v", got.PasswordNext == "two", got.SecretVersion == VersionOf(s), err)
		}
	}
	pool, err := r.Redfish(t.Context(), host("team-a", "h", local("mine")), nil)
	if err != nil || pool.PasswordNext != "" {
		t.Errorf("the provider config's Secret isn't rotated: %v", err)
	}
}
