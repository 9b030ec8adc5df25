package v1alpha1_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kubefake "sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// selectable is a host with a label, bound to a claim of a namespace or to none.
func selectable(namespace, name, rack, claimant, controller string) *v1alpha1.RedfishHost {
	h := &v1alpha1.RedfishHost{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{"rack": rack}}}
	if claimant != "" {
		h.Spec.ClaimRef = &v1alpha1.ClaimReference{Namespace: claimant, Name: "c", UID: "u"}
	}
	if controller != "" {
		h.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "X", Name: "x", UID: "x-uid", Controller: new(true)}}
	}
	return h
}

func TestResolveReferences(t *testing.T) {
	type ref = xpv2.NamespacedReference
	always := &xpv2.Policy{Resolve: new(xpv2.ResolvePolicyAlways)}
	hosts := []client.Object{
		selectable("infra", "a", "r1", "team-b", ""), selectable("infra", "b", "r1", "team-a", ""), selectable("infra", "c", "r1", "team-a", "x"),
		selectable("team-a", "a", "r1", "", ""), selectable("other", "z", "r2", "team-a", ""),
		selectable("team-a", "x", "r3", "", ""), selectable("zeta", "y", "r3", "team-a", ""),
	}
	cases := map[string]struct {
		reason   string
		selector *xpv2.NamespacedSelector
		before   *ref
		want     *ref
		wrong    bool
	}{
		"None":       {"nothing to resolve", nil, nil, nil, false},
		"First":      {"the first that the namespace may name", &xpv2.NamespacedSelector{MatchLabels: map[string]string{"rack": "r1"}}, nil, &ref{Name: "b", Namespace: "infra"}, false},
		"Namespace":  {"in a namespace", &xpv2.NamespacedSelector{MatchLabels: map[string]string{"rack": "r1"}, Namespace: "team-a"}, nil, &ref{Name: "a", Namespace: "team-a"}, false},
		"Claimed":    {"before its own ones, which policies may not leave to it", &xpv2.NamespacedSelector{MatchLabels: map[string]string{"rack": "r3"}}, nil, &ref{Name: "y", Namespace: "zeta"}, false},
		"Own":        {"which it may name, too", &xpv2.NamespacedSelector{MatchLabels: map[string]string{"rack": "r3"}, Namespace: "team-a"}, nil, &ref{Name: "x", Namespace: "team-a"}, false},
		"Controller": {"of the same controller", &xpv2.NamespacedSelector{MatchControllerRef: new(true)}, nil, &ref{Name: "c", Namespace: "infra"}, false},
		"Kept":       {"what was chosen stays", &xpv2.NamespacedSelector{MatchLabels: map[string]string{"rack": "r1"}}, &ref{Name: "gone"}, &ref{Name: "gone"}, false},
		"Always":     {"unless it's always asked anew", &xpv2.NamespacedSelector{MatchLabels: map[string]string{"rack": "r2"}, Policy: always}, &ref{Name: "b", Namespace: "infra"}, &ref{Name: "z", Namespace: "other"}, false},
		"AlwaysSame": {"and still matches", &xpv2.NamespacedSelector{MatchLabels: map[string]string{"rack": "r1"}, Policy: always}, &ref{Name: "a"}, &ref{Name: "a"}, false},
		"NoMatch":    {"another namespace's host isn't found", &xpv2.NamespacedSelector{MatchLabels: map[string]string{"rack": "r9"}}, nil, nil, true},
		"Optional":   {"which may be fine", &xpv2.NamespacedSelector{MatchLabels: map[string]string{"rack": "r9"}, Policy: &xpv2.Policy{Resolution: new(xpv2.ResolutionPolicyOptional)}}, nil, nil, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			mg := &v1alpha1.NetBoxIPAddress{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "web-1"}}
			mg.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "X", Name: "x", UID: "x-uid", Controller: new(true)}}
			mg.Spec.ForProvider.AssignTo = &v1alpha1.Assignment{HostSelector: tc.selector, HostRef: tc.before}
			err := mg.ResolveReferences(t.Context(), hostsOf(interceptor.Funcs{}, hosts...))
			if (err != nil) != tc.wrong {
				t.Errorf("%s: %v", tc.reason, err)
			}
			if diff := cmp.Diff(tc.want, mg.Spec.ForProvider.AssignTo.HostRef); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if r := mg.GetCondition(xpv2.TypeReady).Reason; tc.wrong && r != v1alpha1.ReasonNotFound {
				t.Errorf("%s: Ready says %q", tc.reason, r)
			}
		})
	}
}

// TestUnresolved holds what is said where hosts can't even be looked for.
func TestUnresolved(t *testing.T) {
	errBoom := errors.New("boom")
	rack := &xpv2.NamespacedSelector{MatchLabels: map[string]string{"rack": "r1"}}
	for name, tc := range map[string]struct {
		reason   string
		selector *xpv2.NamespacedSelector
		err      error
		ready    xpv2.ConditionReason
		text     string
	}{
		"Broken": {"what can't be read is no answer", rack, errBoom, "", "boom"},
		"NoKind": {"somebody who runs NetBox alone", rack, &apimeta.NoKindMatchError{GroupKind: schema.GroupKind{Kind: "RedfishHost"}}, v1alpha1.ReasonNotFound, "name the device in assignTo.device"},
		"All":    {"a selector that says nothing would choose any", &xpv2.NamespacedSelector{MatchControllerRef: new(false)}, nil, v1alpha1.ReasonInvalid, "set its matchLabels"},
	} {
		t.Run(name, func(t *testing.T) {
			mg := &v1alpha1.NetBoxIPAddress{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "web-1"}}
			mg.Spec.ForProvider.AssignTo = &v1alpha1.Assignment{HostSelector: tc.selector}
			broken := interceptor.Funcs{List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error { return tc.err }}
			err := mg.ResolveReferences(t.Context(), hostsOf(broken, selectable("team-a", "a", "r1", "", "")))
			if err == nil || !strings.Contains(err.Error(), tc.text) {
				t.Errorf("%s: %v, want %q", tc.reason, err, tc.text)
			}
			if got := mg.GetCondition(xpv2.TypeReady).Reason; got != tc.ready {
				t.Errorf("%s: Ready says %q, want %q", tc.reason, got, tc.ready)
			}
		})
	}
}

func hostsOf(f interceptor.Funcs, hosts ...client.Object) client.Client {
	s := runtime.NewScheme()
	_ = v1alpha1.AddToScheme(s)
	return kubefake.NewClientBuilder().WithScheme(s).WithObjects(hosts...).WithInterceptorFuncs(f).Build()
}
