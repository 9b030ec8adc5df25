package netbox_test

import (
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// TestConnectionSecret: the Secret that writeConnectionSecretToRef names has the address, once it's Ready, and keeps it while NetBox is away.
func TestConnectionSecret(t *testing.T) {
	l := newRackLab(t, "4.6.8")
	l.apply("web-1", func(mg *v1alpha1.NetBoxIPAddress) {
		mg.Spec.WriteConnectionSecretToReference = &xpv2.LocalSecretReference{Name: "web-1-address"}
	})
	holds := func(when string) {
		t.Helper()
		s := &corev1.Secret{}
		if err := l.kube.Get(t.Context(), types.NamespacedName{Namespace: "team-a", Name: "web-1-address"}, s); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(map[string][]byte{"address": []byte("10.77.0.1"), "cidr": []byte("10.77.0.1/29")}, s.Data); diff != "" {
			t.Errorf("%s (-want +got):\n%s", when, diff)
		}
	}
	mg := l.rest()
	holds("Ready")
	l.still(mg)
	_ = l.netbox.Close()
	l.once("web-1")
	holds("NetBox is away")
}
