package netboxipaddress

import (
	"context"
	"slices"
	"testing"
	"time"

	xpcontroller "github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/feature"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource/fake"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	recording "k8s.io/client-go/tools/record"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kubefake "sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/config"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/wiring"
)

// A slowNetBox takes its time for a POST: meanwhile happens before it's carried out.
type slowNetBox struct {
	*fakeNetBox

	meanwhile func()
}

func (s slowNetBox) Allocate(ctx context.Context, p netbox.Parent, r netbox.Request) (netbox.IPAddress, error) {
	s.meanwhile()
	return s.fakeNetBox.Allocate(ctx, p, r)
}

type quietManager struct{ fake.Manager }

func (*quietManager) GetEventRecorderFor(string) recording.EventRecorder {
	return &recording.FakeRecorder{}
}

// process is a provider with the managed reconciler, as Setup makes it, on an API server.
func process(kube client.Client, n NetBox) *reconciling {
	c := NewConnector(Options{
		Resolve:   func(context.Context, *v1alpha1.NetBoxIPAddress) (config.NetBox, error) { return config.NetBox{}, nil },
		Client:    func(config.Identity, netbox.Config) (NetBox, error) { return n, nil },
		Kube:      kube,
		ClusterID: "c1",
	})
	o := wiring.Options{Options: xpcontroller.DefaultOptions()}
	o.Features.Enable(feature.EnableBetaManagementPolicies)
	return &reconciling{c, wiring.NewReconciler(&quietManager{fake.Manager{Client: kube, Scheme: kube.Scheme()}}, o, wiring.Kind[*v1alpha1.NetBoxIPAddress]{
		GVK: v1alpha1.NetBoxIPAddressGroupVersionKind, Connector: c, Merge: StillTrue, DeterministicExternalName: true, CreationGrace: time.Nanosecond,
	}, o.ForController().RateLimiter)}
}

type reconciling struct {
	*Connector

	reconciler reconcile.Reconciler
}

func (p *reconciling) look(t *testing.T) {
	t.Helper()
	if _, err := p.reconciler.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKey{Namespace: "team-a", Name: "web-1"}}); err != nil {
		t.Fatal(err)
	}
}

// TestSlowAnswer: a process that waits long for NetBox has lost its place to another one, which asks, too. What the slow one writes of its
// answer, in the end, says nothing of what the other asked for.
func TestSlowAnswer(t *testing.T) {
	lost := kind(netbox.KindUnknownOutcome)
	cases := map[string]struct {
		reason string
		// first and second are what the two POSTs end with, and killed that the second process is, while it waits.
		first, second error
		killed        bool
		// waits is how long the resource waits at least, from when the second's Create began.
		waits time.Duration
	}{
		"Killed":         {reason: "The second was killed while it waited: its record may come.", killed: true, waits: askingFor + outstandingFor},
		"KilledBothLost": {reason: "So may the first's.", first: lost, killed: true, waits: askingFor + outstandingFor},
		"Lost":           {reason: "The second gave up.", second: lost, waits: outstandingFor},
		"BothLost":       {reason: "The first gave up after it.", first: lost, second: lost, waits: outstandingFor},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			mg := newAddress(managedBy(xpv2.ManagementActionAll))
			kube := kubefake.NewClientBuilder().WithScheme(scheme()).WithObjects(mg).WithStatusSubresource(mg).Build()
			get := func() *v1alpha1.NetBoxIPAddress {
				t.Helper()
				got := &v1alpha1.NetBoxIPAddress{}
				if err := kube.Get(t.Context(), client.ObjectKeyFromObject(mg), got); err != nil {
					t.Fatal(err)
				}
				return got
			}
			f := newFake()
			var asked string
			var began time.Time
			second := process(kube, slowNetBox{f, func() {
				asked, began = get().Annotations[v1alpha1.AnnotationAsked], meta.GetExternalCreatePending(get())
				if tc.killed {
					panic(crashed("while it waits"))
				}
				f.fail["Allocate"] = tc.second
			}})
			first := process(kube, slowNetBox{f, func() {
				was := get()
				meta.SetExternalCreatePending(was, time.Now().Add(-50*time.Second)) // It has waited for so long.
				if err := kube.Update(t.Context(), was); err != nil {
					t.Fatal(err)
				}
				func() {
					defer func() { _ = recover() }()
					second.look(t)
				}()
				f.fail["Allocate"] = tc.first
			}})
			first.look(t)
			got := get()
			if tc.first == nil && meta.GetExternalName(got) != "100" {
				t.Errorf("what the first made isn't written: %v", got.Annotations)
			}
			if asked == "" || got.Annotations[v1alpha1.AnnotationAsked] != asked {
				t.Errorf("what the second asked for, %q, was taken back: %v", asked, got.Annotations)
			}
			third := NewConnector(Options{})
			if until, _ := third.mayCome(got); until.Before(began.Add(tc.waits)) {
				t.Errorf("%s\nit's waited until %s, want until %s at least", tc.reason, until, began.Add(tc.waits))
			}
		})
	}
}

// TestStoodStill: a process that stands still after it has written that it asks, for as long as another one waits for what comes of that and then
// lets the resource go, asks for nothing any more: nobody would free it.
func TestStoodStill(t *testing.T) {
	mg := newAddress(managedBy(xpv2.ManagementActionAll))
	plain := kubefake.NewClientBuilder().WithScheme(scheme()).WithObjects(mg).WithStatusSubresource(mg).Build()
	f := newFake()
	second := process(plain, f)
	stood := false
	first := process(interceptor.NewClient(plain, interceptor.Funcs{
		Update: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.UpdateOption) error {
			err := c.Update(ctx, o, opts...)
			if err != nil || stood || meta.GetExternalCreatePending(o).IsZero() {
				return err
			}
			stood = true
			if err := plain.Delete(t.Context(), mg); err != nil {
				t.Error(err)
			}
			for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
				if kerrors.IsNotFound(plain.Get(t.Context(), client.ObjectKeyFromObject(mg), &v1alpha1.NetBoxIPAddress{})) {
					return nil
				}
				second.look(t)
			}
			t.Error("it's never let go")
			return nil
		},
	}), f)
	for _, p := range []*reconciling{first, second} {
		p.Outstanding, p.Asking = time.Second, time.Second
	}
	_, _ = first.reconciler.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(mg)})
	if w := f.writes(); !stood || len(w) != 0 {
		t.Errorf("stood still: %v, and then wrote %v: %+v", stood, w, f.records)
	}
}

// A notingNetBox notes until when what it's asked for may be sent.
type notingNetBox struct {
	*fakeNetBox

	notAfter *time.Time
}

func (n notingNetBox) Allocate(ctx context.Context, p netbox.Parent, r netbox.Request) (netbox.IPAddress, error) {
	*n.notAfter = r.NotAfter
	return n.fakeNetBox.Allocate(ctx, p, r)
}

func (n notingNetBox) Adopt(ctx context.Context, ip netbox.IPAddress, marker string, p netbox.Patch) (netbox.IPAddress, error) {
	*n.notAfter = p.NotAfter
	return n.fakeNetBox.Adopt(ctx, ip, marker, p)
}

// TestNotAfter: what stands still on the way to NetBox isn't sent any more, either: a POST says until when it may be, and so does the PATCH that
// adopts a record.
func TestNotAfter(t *testing.T) {
	adopts := both(named("500"), params(func(p *v1alpha1.NetBoxIPAddressParameters) { p.Adopt = v1alpha1.AdoptExternalName }))
	for name, change := range map[string]edit{"Made": anyhow, "Adopted": adopts} {
		f, mg := newFake(), newAddress(managedBy(xpv2.ManagementActionAll), change)
		f.records = append(f.records, record(500, "10.77.0.200/24", ""))
		var by time.Time
		p := process(kubefake.NewClientBuilder().WithScheme(scheme()).WithObjects(mg).WithStatusSubresource(mg).Build(), notingNetBox{f, &by})
		p.look(t)
		if left := time.Until(by); left > p.Outstanding || left < p.Outstanding-10*time.Second {
			t.Errorf("%s: it may be sent until %s, which is in %s; want %s", name, by, left, p.Outstanding)
		}
	}
}

// TestStillTrue holds what is written of an answer, where somebody else has written the resource since.
func TestStillTrue(t *testing.T) {
	const asked, answered, unanswered = v1alpha1.AnnotationAsked, v1alpha1.AnnotationAnswered, v1alpha1.AnnotationUnanswered
	cases := map[string]struct {
		reason        string
		noted, theirs map[string]string
		left          []string
	}{
		"Person":   {"Somebody wrote something else.", map[string]string{answered: "a", "x": "1"}, map[string]string{asked: "a"}, []string{answered, "x"}},
		"Asked":    {"Another process asked.", map[string]string{answered: "a", "x": "1"}, map[string]string{asked: "b"}, []string{"x"}},
		"Answered": {"And was answered.", map[string]string{answered: "a"}, map[string]string{asked: "b", answered: "b"}, nil},
		"Earlier": {
			"It gave up before.", map[string]string{unanswered: "2026-01-01T00:00:09Z"}, map[string]string{unanswered: "2026-01-01T00:00:05Z"}, []string{unanswered},
		},
		"Later":  {"It gave up after.", map[string]string{unanswered: "2026-01-01T00:00:05Z"}, map[string]string{unanswered: "2026-01-01T00:00:09Z"}, nil},
		"Off":    {"Somebody took the annotations off.", map[string]string{answered: "a", unanswered: "2026-01-01T00:00:05Z"}, nil, []string{unanswered}},
		"Nobody": {"What was set by no asking stays.", map[string]string{"x": "1"}, map[string]string{asked: "b"}, []string{"x"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			StillTrue(tc.noted, tc.theirs)
			for _, k := range []string{answered, unanswered, "x"} {
				if _, ok := tc.noted[k]; ok != slices.Contains(tc.left, k) {
					t.Errorf("%s\n%s: left %v", tc.reason, k, tc.noted)
				}
			}
		})
	}
}
