package wiring

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	xpcontroller "github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/feature"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource/fake"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/record"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kubefake "sigs.k8s.io/controller-runtime/pkg/client/fake"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/config"
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

// A manager that records events nowhere.
type manager struct{ fake.Manager }

func (m *manager) GetEventRecorderFor(string) record.EventRecorder {
	return record.NewFakeRecorder(100)
}

// thing is an external thing of a host.
type thing struct {
	exists, current bool
	fail            error
	calls           []string
}

func (x *thing) connect(context.Context, *v1alpha1.RedfishHost) (managed.TypedExternalClient[*v1alpha1.RedfishHost], error) {
	return managed.TypedExternalClientFns[*v1alpha1.RedfishHost]{
		ObserveFn: func(_ context.Context, h *v1alpha1.RedfishHost) (managed.ExternalObservation, error) {
			h.SetConditions(xpv2.Available())
			return managed.ExternalObservation{ResourceExists: x.exists, ResourceUpToDate: x.current}, nil
		},
		CreateFn: func(context.Context, *v1alpha1.RedfishHost) (managed.ExternalCreation, error) {
			x.calls = append(x.calls, "create")
			x.exists = x.fail == nil
			return managed.ExternalCreation{}, x.fail
		},
		UpdateFn: func(context.Context, *v1alpha1.RedfishHost) (managed.ExternalUpdate, error) {
			x.calls = append(x.calls, "update")
			x.current = x.fail == nil
			return managed.ExternalUpdate{}, x.fail
		},
		DeleteFn: func(context.Context, *v1alpha1.RedfishHost) (managed.ExternalDelete, error) {
			x.calls = append(x.calls, "delete")
			x.exists = x.fail != nil
			return managed.ExternalDelete{}, x.fail
		},
		DisconnectFn: func(context.Context) error { return nil },
	}, nil
}

// TestReconcile runs crossplane-runtime's own reconciler with our options.
func TestReconcile(t *testing.T) {
	errBoom := errors.New("boom")
	deleted := func(h *v1alpha1.RedfishHost) {
		at := metav1.Now()
		h.DeletionTimestamp, h.Finalizers = &at, []string{managed.FinalizerName}
	}
	cases := map[string]struct {
		reason string
		thing  thing
		mods   []func(*v1alpha1.RedfishHost)
		calls  []string
		points []string
		soon   bool
		retry  bool
		late   bool
	}{
		"Create": {
			reason: "Between the call and its record there's a failpoint, and the next look follows at once.",
			calls:  []string{"create"}, points: []string{"redfishhost.create.before", "redfishhost.create.after"}, retry: true,
		},
		"CreateFails": {
			reason: "A call that failed has no result to lose.",
			thing:  thing{fail: errBoom},
			calls:  []string{"create"}, points: []string{"redfishhost.create.before"}, retry: true,
		},
		"CreatePending": {
			reason: "A crash before the result was recorded doesn't stop a resource whose Observe finds what was made.",
			mods: []func(*v1alpha1.RedfishHost){func(h *v1alpha1.RedfishHost) {
				h.Annotations = map[string]string{"crossplane.io/external-create-pending": time.Now().Format(time.RFC3339)}
			}},
			calls: []string{"create"}, points: []string{"redfishhost.create.before", "redfishhost.create.after"}, retry: true,
		},
		"Update": {
			reason: "After a step of a ready resource the next look is soon.",
			thing:  thing{exists: true},
			calls:  []string{"update"}, points: []string{"redfishhost.update.before", "redfishhost.update.after"}, soon: true,
		},
		"UpdateFails": {
			reason: "An error is retried with back-off.",
			thing:  thing{exists: true, fail: errBoom},
			calls:  []string{"update"}, points: []string{"redfishhost.update.before"}, retry: true,
		},
		"Current": {
			reason: "What is as it should be waits for its poll.",
			thing:  thing{exists: true, current: true},
			late:   true,
		},
		"Delete": {
			reason: "A deletion is looked at again until the thing is gone.",
			thing:  thing{exists: true}, mods: []func(*v1alpha1.RedfishHost){deleted},
			calls: []string{"delete"}, points: []string{"redfishhost.delete.before", "redfishhost.delete.after"}, retry: true,
		},
		"DeleteFails": {
			reason: "A deletion that failed is retried.",
			thing:  thing{exists: true, fail: errBoom}, mods: []func(*v1alpha1.RedfishHost){deleted},
			calls: []string{"delete"}, points: []string{"redfishhost.delete.before"}, retry: true,
		},
		"ObserveOnly": {
			reason: "Management policies are respected: nothing is written.",
			thing:  thing{exists: true},
			mods: []func(*v1alpha1.RedfishHost){func(h *v1alpha1.RedfishHost) {
				h.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionObserve}
			}},
			late: true,
		},
		"Paused": {
			reason: "A paused resource isn't even observed.",
			mods: []func(*v1alpha1.RedfishHost){func(h *v1alpha1.RedfishHost) {
				h.Annotations = map[string]string{"crossplane.io/paused": "true"}
			}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			h := testHost("", xpv2.Available())
			h.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionAll}
			for _, m := range tc.mods {
				m(h)
			}
			s := testScheme(t)
			kube := kubefake.NewClientBuilder().WithScheme(s).WithObjects(h).WithStatusSubresource(h).Build()
			var points []string
			o := Options{Options: xpcontroller.DefaultOptions(), Failpoint: func(n string) { points = append(points, n) }}
			o.Features.Enable(feature.EnableBetaManagementPolicies)
			k := Kind[*v1alpha1.RedfishHost]{
				GVK: v1alpha1.RedfishHostGroupVersionKind, DeterministicExternalName: true,
				Connector: managed.TypedExternalConnectorFn[*v1alpha1.RedfishHost](tc.thing.connect),
			}
			mgr := &manager{Manager: fake.Manager{Client: kube, Scheme: s}}
			r := NewReconciler(mgr, o, k, o.ForController().RateLimiter)
			got, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(h)})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.calls, tc.thing.calls); diff != "" {
				t.Errorf("%s\ncalls: -want, +got:\n%s", tc.reason, diff)
			}
			if !slices.Equal(points, tc.points) {
				t.Errorf("%s\nfailpoints %v, want %v", tc.reason, points, tc.points)
			}
			soon := got.RequeueAfter > 0 && got.RequeueAfter <= 1100*time.Millisecond
			late := got.RequeueAfter >= 54*time.Second
			if soon != tc.soon || late != tc.late || got.Requeue != tc.retry { //nolint:staticcheck // What the runtime still uses.
				t.Errorf("%s\n%+v: want soon %v, late %v, retry %v", tc.reason, got, tc.soon, tc.late, tc.retry)
			}
		})
	}
}

// TestSetup assembles controllers with a real manager that is never started, so no API server is needed.
func TestSetup(t *testing.T) {
	x := &thing{}
	connector := managed.TypedExternalConnectorFn[*v1alpha1.RedfishHost](x.connect)
	cases := map[string]struct {
		reason string
		kind   Kind[*v1alpha1.RedfishHost]
		config bool
		fails  bool
	}{
		"Plain": {
			reason: "A kind needs no more than a connector.",
			kind:   Kind[*v1alpha1.RedfishHost]{GVK: v1alpha1.RedfishHostGroupVersionKind, Connector: connector},
		},
		"ProviderConfig": {
			reason: "A kind that uses provider configs is woken by them and by their Secrets.",
			kind:   Kind[*v1alpha1.RedfishHost]{GVK: v1alpha1.RedfishHostGroupVersionKind, Connector: connector, UsesProviderConfig: true},
			config: true,
		},
		"NoResolver": {
			reason: "Nobody can be woken by configs that nobody resolves.",
			kind:   Kind[*v1alpha1.RedfishHost]{GVK: v1alpha1.RedfishHostGroupVersionKind, Connector: connector, UsesProviderConfig: true},
			fails:  true,
		},
		"WrongType": {
			reason: "A connector for another kind is a slip that shows at once.",
			kind:   Kind[*v1alpha1.RedfishHost]{GVK: v1alpha1.BootEntryGroupVersionKind, Connector: connector},
			fails:  true,
		},
		"NotManaged": {
			reason: "A kind that isn't managed isn't set up here.",
			kind:   Kind[*v1alpha1.RedfishHost]{GVK: v1alpha1.GroupVersion.WithKind("Nothing"), Connector: connector},
			fails:  true,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			skip := true
			mgr, err := ctrl.NewManager(&rest.Config{Host: "https://127.0.0.1:1"}, ctrl.Options{
				Scheme: testScheme(t), Metrics: metricsserver.Options{BindAddress: "0"},
				MapperProvider: mapper,
				Controller:     skipNames(&skip),
			})
			if err != nil {
				t.Fatal(err)
			}
			o := Options{Options: xpcontroller.DefaultOptions()}
			if tc.config {
				o.Config = config.NewResolver(mgr.GetClient(), mgr.GetCache(), mgr.GetAPIReader())
			}
			if err := Setup(mgr, o, tc.kind); (err != nil) != tc.fails {
				t.Errorf("%s\nSetup(...): %v, want an error: %v", tc.reason, err, tc.fails)
			}
		})
	}
}
