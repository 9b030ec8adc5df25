package bootplane

import (
	"context"
	"errors"
	"strings"
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

func pulling(namespace, name, secret string) *v1alpha1.BootProfile {
	p := &v1alpha1.BootProfile{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	if secret != "" {
		p.Spec.PullSecretRef = &v1alpha1.LocalReference{Name: secret}
	}
	return p
}

func registrySecret(config string) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "infra", Name: "registry"},
		Type:       corev1.SecretTypeDockerConfigJson, Data: map[string][]byte{corev1.DockerConfigJsonKey: []byte(config), "other": []byte("x")},
	}
}

func pullKube(t *testing.T, funcs interceptor.Funcs, objects ...client.Object) client.Client {
	t.Helper()
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	return fake.NewClientBuilder().WithScheme(s).WithObjects(objects...).WithInterceptorFuncs(funcs).Build()
}

func TestPullSecrets(t *testing.T) {
	copied := func(config string) *corev1.Secret {
		return (&pullSecrets{namespace: "baremetal-boot"}).copyOf(types.NamespacedName{Namespace: "infra", Name: "registry"}, []byte(config))
	}
	opaque := registrySecret("new")
	opaque.Type = corev1.SecretTypeOpaque
	foreign := copied("new")
	foreign.Annotations = nil
	cases := map[string]struct {
		reason  string
		objects []client.Object
		at      string // "": the Secret itself; else its copy.
		want    string
	}{
		"Copied":     {"one that a profile names", []client.Object{pulling("infra", "p", "registry"), registrySecret("new")}, "", "new"},
		"Rotated":    {"what it says now", []client.Object{pulling("infra", "p", "registry"), registrySecret("new"), copied("old")}, "", "new"},
		"Edited":     {"a copy is what it's a copy of", []client.Object{pulling("infra", "p", "registry"), registrySecret("new"), copied("edited")}, "copy", "new"},
		"Vanished":   {"somebody deleted the copy", []client.Object{pulling("infra", "o", ""), pulling("infra", "p", "registry"), registrySecret("new")}, "copy", "new"},
		"VanishedOf": {"nobody's files are fetched by it any more", []client.Object{pulling("infra", "p", "other"), registrySecret("new")}, "copy", ""},
		"Unnamed":    {"nobody's files are fetched by it", []client.Object{pulling("infra", "p", "other"), pulling("infra", "q", ""), registrySecret("new")}, "", ""},
		"NoLonger":   {"nor any more", []client.Object{pulling("infra", "p", ""), registrySecret("new"), copied("new")}, "", ""},
		"LeftOver":   {"its profile went while nobody looked", []client.Object{registrySecret("new"), copied("new")}, "copy", ""},
		"Deleted":    {"a password that was taken back isn't used", []client.Object{pulling("infra", "p", "registry"), copied("new")}, "", ""},
		"Type":       {"another type may be another's password", []client.Object{pulling("infra", "p", "registry"), opaque, copied("new")}, "", ""},
		"Strangers":  {"a profile of another namespace names its own", []client.Object{pulling("team", "p", "registry"), registrySecret("new")}, "", ""},
		"NotOurs":    {"a Secret that says not of whom it's a copy", []client.Object{foreign}, "copy", "new"},
		"NothingYet": {"nothing is there", []client.Object{pulling("infra", "p", "registry")}, "", ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			kube := pullKube(t, interceptor.Funcs{}, tc.objects...)
			at := types.NamespacedName{Namespace: "infra", Name: "registry"}
			copyAt := types.NamespacedName{Namespace: "baremetal-boot", Name: boot.PullSecretName("infra", "registry")}
			if tc.at != "" {
				at = copyAt
			}
			for range 2 {
				if _, err := (&pullSecrets{kube: kube, namespace: "baremetal-boot"}).Reconcile(t.Context(), reconcile.Request{NamespacedName: at}); err != nil {
					t.Fatal(err)
				}
			}
			got := &corev1.Secret{}
			err := kube.Get(t.Context(), copyAt, got)
			if string(got.Data[corev1.DockerConfigJsonKey]) != tc.want || kerrors.IsNotFound(err) != (tc.want == "") {
				t.Errorf("%s: %v, %v, want %q", tc.reason, got.Data, err, tc.want)
			}
			if tc.want != "" && (len(got.Data) != 1 || got.Type != corev1.SecretTypeDockerConfigJson) {
				t.Errorf("%s: %+v", tc.reason, got)
			}
			all := &corev1.SecretList{}
			if err := kube.List(t.Context(), all, client.InNamespace("baremetal-boot")); err != nil || len(all.Items) > 1 {
				t.Errorf("%s: %d copies, %v", tc.reason, len(all.Items), err)
			}
		})
	}
}

// TestPullSecretsUnknown: not to know what a Secret holds isn't that it's gone.
func TestPullSecretsUnknown(t *testing.T) {
	errBoom := errors.New("boom")
	gone := 0
	kube := pullKube(t, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, at client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			if at.Namespace == "infra" {
				return errBoom
			}
			return c.Get(ctx, at, o, opts...)
		},
		Delete: func(context.Context, client.WithWatch, client.Object, ...client.DeleteOption) error {
			gone++
			return nil
		},
	}, pulling("infra", "p", "registry"))
	r := &pullSecrets{kube: kube, namespace: "baremetal-boot"}
	if _, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "infra", Name: "registry"}}); !errors.Is(err, errBoom) || gone > 0 {
		t.Errorf("%v, deleted %d", err, gone)
	}
	if _, err := (&profiles{kube: kube}).pullReady(t.Context(), pulling("infra", "p", "registry")); !errors.Is(err, errBoom) {
		t.Error(err)
	}
}

// TestPullSecretsWoken: by a Secret that a profile names, by a profile, and by a copy.
func TestPullSecretsWoken(t *testing.T) {
	kube := pullKube(t, interceptor.Funcs{}, pulling("infra", "p", "registry"))
	r := &pullSecrets{kube: kube, namespace: "baremetal-boot"}
	secretAt := func(namespace, name string) client.Object {
		return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	}
	for name, n := range map[string]int{
		"infra/registry": 1, "infra/other": 0, "team/registry": 0, "baremetal-boot/bootd-tokens": 0, "baremetal-boot/" + boot.PullSecretName("a", "b"): 1, "infra/" + boot.PullSecretName("a", "b"): 0,
	} {
		namespace, short, _ := strings.Cut(name, "/")
		if got := r.concerned(t.Context(), secretAt(namespace, short)); len(got) != n {
			t.Errorf("%s wakes %v", name, got)
		}
	}
	if got := pullSecretNamed(t.Context(), pulling("infra", "p", "registry")); len(got) != 1 || got[0].String() != "infra/registry" {
		t.Errorf("%v", got)
	}
	if got := pullSecretNamed(t.Context(), pulling("infra", "p", "")); len(got) != 0 {
		t.Errorf("%v", got)
	}
}

// TestPullReady: a profile says what is wrong with its Secret, and not what it holds.
func TestPullReady(t *testing.T) {
	opaque := registrySecret("hunter2")
	opaque.Type = corev1.SecretTypeOpaque
	cases := map[string]struct {
		objects []client.Object
		reason  xpv2.ConditionReason
	}{
		"Good": {[]client.Object{registrySecret("hunter2")}, ""},
		"Gone": {nil, v1alpha1.ReasonNotFound},
		"Type": {[]client.Object{opaque}, v1alpha1.ReasonInvalid},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c, err := (&profiles{kube: pullKube(t, interceptor.Funcs{}, tc.objects...)}).pullReady(t.Context(), pulling("infra", "p", "registry"))
			if err != nil || (c == nil) != (tc.reason == "") || c != nil && (c.Reason != tc.reason || strings.Contains(c.Message, "hunter2")) {
				t.Errorf("%+v, %v, want %q", c, err, tc.reason)
			}
		})
	}
}
