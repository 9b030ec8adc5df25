package bootentry

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

func copied(name, entry string) *corev1.Secret {
	namespace, of, _ := strings.Cut(entry, "/")
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
		Namespace: "boot", Name: name, Labels: map[string]string{labelEntryUID: name, labelEntry: entryHash(namespace, of)}, Annotations: map[string]string{annotationEntry: entry},
	}}
}

// TestCopiesGo deletes an entry: what was copied for it goes, also what an entry of before a restore left, and nobody else's.
func TestCopiesGo(t *testing.T) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	entry := world().entry
	entry.DeletionTimestamp = &metav1.Time{Time: noon}
	kube := fake.NewClientBuilder().WithScheme(scheme).WithObjects(
		copied("own", "team-a/web-1"), copied("earlier", "team-a/web-1"), copied("other", "team-b/web-1"),
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "boot", Name: "bootd-tokens"}},
	).Build()
	e := &external{&connector{kube: kube, cached: kube, live: kube, bootNamespace: "boot", now: func() time.Time { return noon }}}
	for _, exists := range []bool{true, false} {
		o, err := e.Observe(t.Context(), entry)
		if err != nil || o.ResourceExists != exists {
			t.Fatalf("Observe(...) = %t, %v, want %t", o.ResourceExists, err, exists)
		}
		if _, err := e.Delete(t.Context(), entry); err != nil {
			t.Fatal(err)
		}
	}
	left, names := &corev1.SecretList{}, []string{}
	if err := kube.List(t.Context(), left, client.InNamespace("boot")); err != nil {
		t.Fatal(err)
	}
	for _, s := range left.Items {
		names = append(names, s.Name)
	}
	if diff := cmp.Diff([]string{"bootd-tokens", "other"}, names); diff != "" {
		t.Errorf("-want left, +got:\n%s", diff)
	}
}

// TestDeleteClosesFirst deletes an entry whose grant wasn't used yet, such as an operator's raw one, which no claim releases: nothing
// is granted any more before anything else goes.
func TestDeleteClosesFirst(t *testing.T) {
	in := world(granted)
	e, kube := clientOf(t, in, interceptor.Funcs{})
	own := copied("own", "team-a/web-1")
	own.Namespace = "baremetal-boot"
	if err := kube.Create(t.Context(), own); err != nil {
		t.Fatal(err)
	}
	in.entry.DeletionTimestamp = &metav1.Time{Time: noon}
	type state struct{ Exists, Granted, Revoked, Copied bool }
	look := func() (s state) {
		o, err := e.Observe(t.Context(), in.entry)
		if err != nil {
			t.Fatal(err)
		}
		session := &v1alpha1.BootSession{}
		if err := kube.Get(t.Context(), client.ObjectKeyFromObject(in.session), session); err != nil {
			t.Fatal(err)
		}
		err = kube.Get(t.Context(), client.ObjectKeyFromObject(own), &corev1.Secret{})
		return state{Exists: o.ResourceExists, Granted: session.Spec.Grant != nil, Revoked: session.Spec.Revocation != nil, Copied: err == nil}
	}
	got := []state{look()}
	for range 2 {
		if _, err := e.Delete(t.Context(), in.entry); err != nil {
			t.Fatal(err)
		}
		got = append(got, look())
	}
	want := []state{{Exists: true, Granted: true, Copied: true}, {Exists: true, Revoked: true, Copied: true}, {Revoked: true}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("after each Delete: -want, +got:\n%s", diff)
	}
}

// TestNetworkDataFilledIn: what a tenant can't know when the Secret is written, the address from NetBox, is filled in as it's given: so an
// edit of the network changes neither the copy that bootd has nor its digest.
func TestNetworkDataFilledIn(t *testing.T) {
	in := world()
	in.profile.Spec.UserDataFormat = v1alpha1.UserDataCloudInit
	in.entry.Spec.ForProvider.NetworkDataSecretRef = &v1alpha1.LocalKeyReference{Name: "web-1", Key: "net"}
	in.secrets = map[string]*corev1.Secret{"web-1": {Data: map[string][]byte{"net": []byte("version: 2 # {{ .ip }}\n")}}}
	plan, prob := resolve(in)
	if prob != nil {
		t.Fatal(prob.message)
	}
	in.copied = copyOf(in, "boot")
	want := "version: 2 # {{ .ip }}\n"
	if got := string(in.copied.Data["network-config"]); got != want || !copiedWell(in) || boot.DataDigest(in.copied.Data) != plan.UserDataDigest {
		t.Errorf("%q, want %q, in a copy that's planned", got, want)
	}
	in.network.Spec.MTU = 9000
	if edited, prob := resolve(in); prob != nil || edited.UserDataDigest != plan.UserDataDigest || !copiedWell(in) {
		t.Errorf("an edit of the network is one of the data: %v", prob)
	}
	in.secrets["web-1"].Data["net"] = []byte("version: 2 # {{ .mac }}\n")
	if _, prob := resolve(in); prob == nil || prob.reason != v1alpha1.ReasonInvalid {
		t.Errorf("a name that nobody knows: %v", prob)
	}
}
