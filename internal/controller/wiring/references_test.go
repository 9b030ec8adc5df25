package wiring

import (
	"context"
	"errors"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kubefake "sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

func TestReferences(t *testing.T) {
	host := &v1alpha1.RedfishHost{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "r7-u12", Labels: map[string]string{"rack": "r7"}}}
	errBoom := errors.New("boom")
	by := func(selector *xpv2.NamespacedSelector, ref *xpv2.NamespacedReference) *v1alpha1.NetBoxIPAddress {
		mg := &v1alpha1.NetBoxIPAddress{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "web-1"}}
		mg.SetGroupVersionKind(v1alpha1.NetBoxIPAddressGroupVersionKind)
		mg.Spec.ForProvider.AssignTo = &v1alpha1.Assignment{HostSelector: selector, HostRef: ref}
		return mg
	}
	selector := &xpv2.NamespacedSelector{MatchLabels: map[string]string{"rack": "r7"}}
	cases := map[string]struct {
		reason string
		mg     resource.Managed
		fail   error
		// want is the host that is referred to then, and patches how often that was written.
		want    string
		patches int
	}{
		"None":     {"A kind that names nothing.", testHost("1"), nil, "", 0},
		"Named":    {"What is named already stays as it is, and nothing is written.", by(nil, &xpv2.NamespacedReference{Name: "r7-u11"}), nil, "r7-u11", 0},
		"Selected": {"What a selector chooses is written.", by(selector, nil), nil, "r7-u12", 1},
		"Fails":    {"Who can't be asked is said.", by(selector, nil), errBoom, "", 0},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			patches := 0
			kube := kubefake.NewClientBuilder().WithScheme(testScheme(t)).WithObjects(host, tc.mg).WithInterceptorFuncs(interceptor.Funcs{
				List: func(ctx context.Context, c client.WithWatch, l client.ObjectList, opts ...client.ListOption) error {
					if tc.fail != nil {
						return tc.fail
					}
					return c.List(ctx, l, opts...)
				},
				Patch: func(context.Context, client.WithWatch, client.Object, client.Patch, ...client.PatchOption) error {
					patches++
					return nil
				},
			}).Build()
			err := references(kube).ResolveReferences(t.Context(), tc.mg)
			if !errors.Is(err, tc.fail) || patches != tc.patches {
				t.Errorf("%s\n%v, %d patches; want %v, %d", tc.reason, err, patches, tc.fail, tc.patches)
			}
			if mg, ok := tc.mg.(*v1alpha1.NetBoxIPAddress); ok {
				got := ""
				if ref := mg.Spec.ForProvider.AssignTo.HostRef; ref != nil {
					got = ref.Name
				}
				if got != tc.want {
					t.Errorf("%s\nrefers to %q, want %q", tc.reason, got, tc.want)
				}
			}
		})
	}
}
