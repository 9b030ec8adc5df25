package netbox_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	xpcontroller "github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/feature"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource/fake"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kubefake "sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	netboxclient "github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/config"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/netboxipaddress"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/netboxlink"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/wiring"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/netbox"
)

const clusterID = "c0ffee"

// patient is a timeout that nobody meets, hasty that of a client that is to meet it, and brief is hasty's where each call is made until it's answered.
const patient, hasty, brief = time.Minute, 2 * time.Second, 300 * time.Millisecond

// A lab is the real reconciler between a fake API server and an emulated NetBox.
type lab struct {
	t      *testing.T
	netbox *netbox.Server
	kube   client.Client
	config config.NetBox
	// resolve finds a resource's provider config; nil: it's config, whatever the resource names.
	resolve netboxipaddress.ResolveFn
	// namespace of all resources.
	namespace string
	// crash, if set, is the failpoint that ends the provider.
	crash string
	now   time.Time
	// timeout of a call: patient, but where a test is about calls that have no answer, as a busy machine may take a second for what takes none.
	timeout time.Duration
	// outstanding is how long a POST without an answer may still be carried out; 0 is the provider's own.
	outstanding time.Duration
	// hidden is how long after it was made a record isn't believed not to be there; 0 is the provider's own.
	hidden time.Duration
	// changes of resources that the API server was asked for.
	changes int
	// contested is how many of the next changes of resources meet somebody else's.
	contested int
	// told are the events that the kind's own client emitted, and warned what was said of provider configs.
	told   told
	warned []string
	// said are those that the managed reconciler emitted.
	said said
	// maxAge is how old what is known of a record may be; 0 reads each at each look.
	maxAge time.Duration
	// watch are options of connections that are made from now on.
	watch []netboxclient.Option
	// woken are the resources whose look was asked for at once.
	woken []string
	// counts are what is counted, in registry.
	counts   *netboxlink.Metrics
	registry *prometheus.Registry
	// wishes are what resources were made with.
	wishes map[string]string

	reconciler reconcile.Reconciler
}

func newLab(t *testing.T, version string) *lab {
	t.Helper()
	s := netbox.New(netbox.Options{Version: version})
	s.AddToken(netbox.Token{Name: "provider", Secret: secret})
	s.AddCIDR("10.77.0.0/29")
	if err := s.Start(""); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	l := &lab{
		t: t, netbox: s, now: time.Now(), timeout: patient, hidden: time.Nanosecond, namespace: "team-a", registry: prometheus.NewRegistry(), wishes: map[string]string{},
	}
	var err error
	if l.counts, err = netboxlink.NewMetrics(l.registry); err != nil {
		t.Fatal(err)
	}
	l.kube = kubefake.NewClientBuilder().WithScheme(scheme).WithStatusSubresource(&v1alpha1.NetBoxIPAddress{}).WithInterceptorFuncs(interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			err := c.Get(ctx, key, o, opts...)
			if _, ok := o.(*v1alpha1.NetBoxIPAddress); ok { // As a cache does.
				o.GetObjectKind().SetGroupVersionKind(v1alpha1.NetBoxIPAddressGroupVersionKind)
			}
			return err
		},
		Update: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.UpdateOption) error {
			return l.change(c, o, func() error { return c.Update(ctx, o, opts...) })
		},
		SubResourceUpdate: func(ctx context.Context, c client.Client, sub string, o client.Object, opts ...client.SubResourceUpdateOption) error {
			return l.change(c, o, func() error { return c.SubResource(sub).Update(ctx, o, opts...) })
		},
	}).Build()
	l.config.Ref = config.Ref{Kind: v1alpha1.ClusterProviderConfigKind, Name: "netbox"}
	l.config.UID, l.config.Token, l.config.SecretVersion = "cfg", secret, "1"
	l.config.Config = v1alpha1.NetBoxConfig{URL: s.URL(), MarkerField: field, RequestsPerSecond: new(int64(1000))}
	l.restart()
	return l
}

// change writes, and counts what a real API server would call a change: the fake one makes a new revision of a write that changes
// nothing, too.
func (l *lab) change(c client.Client, o client.Object, write func() error) error {
	if l.contested > 0 {
		l.contested--
		return kerrors.NewConflict(schema.GroupResource{Resource: "netboxipaddresses"}, o.GetName(), errors.New("it was changed in between"))
	}
	before, after := &v1alpha1.NetBoxIPAddress{}, &v1alpha1.NetBoxIPAddress{}
	_ = c.Get(l.t.Context(), client.ObjectKeyFromObject(o), before)
	err := write()
	_ = c.Get(l.t.Context(), client.ObjectKeyFromObject(o), after)
	before.ResourceVersion = after.ResourceVersion
	if !equality.Semantic.DeepEqual(before, after) {
		l.changes++
	}
	return err
}

// restart is a new process of the provider: nothing is remembered.
func (l *lab) restart() {
	pool := netboxclient.NewPool(append([]netboxclient.Option{
		netboxclient.WithClock(func() time.Time { return l.now }), netboxclient.WithMeter(l.counts.Call),
	}, l.watch...)...)
	c := netboxipaddress.NewConnector(netboxipaddress.Options{
		Resolve: func(ctx context.Context, mg *v1alpha1.NetBoxIPAddress) (config.NetBox, error) {
			if l.resolve != nil {
				return l.resolve(ctx, mg)
			}
			return l.config, nil
		},
		Client: func(of config.Identity, cfg netboxclient.Config) (netboxipaddress.NetBox, error) {
			cfg.Timeout = l.timeout
			return pool.Client(string(of.UID), cfg)
		},
		Kube:      l.kube,
		Holders:   holders(l.kube),
		Recorder:  &l.told,
		Warn:      func(of config.Identity, message string) { l.warned = append(l.warned, of.Name+": "+message) },
		Tally:     l.counts,
		ClusterID: clusterID,
		Failpoint: func(name string) {
			if name == l.crash {
				panic(crashed(name))
			}
		},
		Again: func(name types.NamespacedName, at time.Time) {
			if !at.After(l.now) {
				l.woken = append(l.woken, name.String())
			}
		},
		Now: func() time.Time { return l.now }, Outstanding: l.outstanding, Asking: l.outstanding, Hidden: l.hidden, Names: patient, MaxAge: l.maxAge,
	})
	o := wiring.Options{Options: xpcontroller.DefaultOptions(), Namespace: "crossplane-system"}
	o.Features.Enable(feature.EnableBetaManagementPolicies)
	l.reconciler = wiring.NewReconciler(&manager{fake.Manager{Client: l.kube, Scheme: l.kube.Scheme()}, &l.said}, o, wiring.Kind[*v1alpha1.NetBoxIPAddress]{
		GVK: v1alpha1.NetBoxIPAddressGroupVersionKind, Connector: c, Merge: netboxipaddress.StillTrue, DeterministicExternalName: true, CreationGrace: time.Nanosecond,
	}, o.ForController().RateLimiter)
}

// meets has calls time out where a fault is one that has no answer.
func (l *lab) meets(k netbox.FaultKind, timeout time.Duration) {
	if k == netbox.FaultHang || k == netbox.FaultHangAfter || k == netbox.FaultDelay {
		l.timeout = timeout
		l.restart()
	}
}

// holders finds the addresses that say they have one, as the provider's cache does by its index.
func holders(kube client.Reader) func(context.Context, netip.Addr) ([]v1alpha1.NetBoxIPAddress, error) {
	return func(ctx context.Context, a netip.Addr) ([]v1alpha1.NetBoxIPAddress, error) {
		all := &v1alpha1.NetBoxIPAddressList{}
		err := kube.List(ctx, all)
		return slices.DeleteFunc(all.Items, func(mg v1alpha1.NetBoxIPAddress) bool {
			return !slices.Contains(netboxipaddress.HostOf(&mg), a.String())
		}), err
	}
}

// A manager, whose events nobody reads unless recorder does.
type manager struct {
	fake.Manager

	recorder record.EventRecorder
}

// GetEventRecorderFor implements cluster.Cluster.
func (m *manager) GetEventRecorderFor(string) record.EventRecorder {
	if m.recorder == nil {
		return &record.FakeRecorder{}
	}
	return m.recorder
}

// said are events of the managed reconciler, as REASON: MESSAGE.
type said []string

// Event implements record.EventRecorder.
func (e *said) Event(_ runtime.Object, _, reason, message string) {
	*e = append(*e, reason+": "+message)
}

// Eventf implements record.EventRecorder.
func (e *said) Eventf(o runtime.Object, kind, reason, format string, args ...any) {
	e.Event(o, kind, reason, fmt.Sprintf(format, args...))
}

// AnnotatedEventf implements record.EventRecorder.
func (e *said) AnnotatedEventf(o runtime.Object, _ map[string]string, kind, reason, format string, args ...any) {
	e.Eventf(o, kind, reason, format, args...)
}

// told are events, as REASON: MESSAGE.
type told []string

// Event implements event.Recorder.
func (e *told) Event(_ runtime.Object, v event.Event) {
	if v.Reason != "Allocated" { // All who take an address are told.
		*e = append(*e, string(v.Reason)+": "+v.Message)
	}
}

// WithAnnotations implements event.Recorder.
func (e *told) WithAnnotations(...string) event.Recorder { return e }

type crashed string

// once reconciles one resource, and says whether the provider crashed.
func (l *lab) once(name string) (crash bool) {
	l.t.Helper()
	defer func() {
		switch r := recover().(type) {
		case nil:
		case crashed:
			crash = true
		default:
			panic(r)
		}
	}()
	_, err := l.reconciler.Reconcile(l.t.Context(), reconcile.Request{NamespacedName: types.NamespacedName{Namespace: l.namespace, Name: name}})
	if err != nil {
		l.t.Fatal(err)
	}
	return false
}

// settle reconciles until cond holds. Every step is one look of the reconciler, so no time needs to pass.
func (l *lab) settle(name string, cond func(*v1alpha1.NetBoxIPAddress) bool) *v1alpha1.NetBoxIPAddress {
	l.t.Helper()
	var mg *v1alpha1.NetBoxIPAddress
	for range 12 {
		l.once(name)
		if mg = l.get(name); cond(mg) {
			l.served(mg)
			return mg
		}
	}
	l.t.Fatalf("didn't settle: %+v\n%+v", mg, l.netbox.Addresses())
	return nil
}

// get returns nil where the resource is gone.
func (l *lab) get(name string) *v1alpha1.NetBoxIPAddress {
	l.t.Helper()
	mg := &v1alpha1.NetBoxIPAddress{}
	err := l.kube.Get(l.t.Context(), types.NamespacedName{Namespace: l.namespace, Name: name}, mg)
	if kerrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		l.t.Fatal(err)
	}
	return mg
}

func (l *lab) apply(name string, change ...func(*v1alpha1.NetBoxIPAddress)) {
	l.t.Helper()
	mg := &v1alpha1.NetBoxIPAddress{ObjectMeta: metav1.ObjectMeta{Namespace: l.namespace, Name: name, UID: types.UID("uid-" + name), Generation: 1}}
	mg.Spec.ForProvider = v1alpha1.NetBoxIPAddressParameters{
		Status: "active", From: []v1alpha1.AddressSource{{Prefix: &v1alpha1.PrefixSource{CIDR: "10.77.0.0/29"}}},
	}
	mg.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionAll}
	for _, c := range change {
		c(mg)
	}
	l.wishes[name] = wished(mg)
	if err := l.kube.Create(l.t.Context(), mg); err != nil {
		l.t.Fatal(err)
	}
}

// remove begins the deletion of web-1.
func (l *lab) remove() {
	l.t.Helper()
	l.delete("web-1")
}

// delete begins the deletion of a resource.
func (l *lab) delete(name string) {
	l.t.Helper()
	if err := l.kube.Delete(l.t.Context(), l.get(name)); err != nil {
		l.t.Fatal(err)
	}
}

func ready(mg *v1alpha1.NetBoxIPAddress) bool {
	return mg.GetCondition(xpv2.TypeReady).Status == corev1.ConditionTrue && mg.GetCondition(xpv2.TypeSynced).Status == corev1.ConditionTrue &&
		meta.GetExternalName(mg) != "" && mg.Status.AtProvider.Address != ""
}

func gone(mg *v1alpha1.NetBoxIPAddress) bool { return mg == nil }

func because(r xpv2.ConditionReason) func(*v1alpha1.NetBoxIPAddress) bool {
	return func(mg *v1alpha1.NetBoxIPAddress) bool {
		return mg.GetCondition(xpv2.TypeReady).Reason == r
	}
}

// only holds that there is one record, and that it's web-1's.
func (l *lab) only() netbox.Address {
	l.t.Helper()
	want := map[string]int{clusterID + "/team-a/web-1/uid-web-1": 1}
	if diff := cmp.Diff(want, l.netbox.Markers(field)); diff != "" {
		l.t.Errorf("markers (-want +got):\n%s", diff)
	}
	all := l.netbox.Addresses()
	if len(all) != 1 {
		l.t.Fatalf("%d records, want 1: %+v", len(all), all)
	}
	return all[0]
}

// still holds that looking again changes neither the resource nor NetBox.
func (l *lab) still(mg *v1alpha1.NetBoxIPAddress) {
	l.t.Helper()
	writes := l.netbox.Writes()
	for range 3 {
		l.once(mg.GetName())
	}
	again := l.get(mg.GetName())
	again.ResourceVersion = mg.ResourceVersion // the fake API server counts updates that change nothing
	if diff := cmp.Diff(mg, again); diff != "" {
		l.t.Errorf("the resource changed (-before +after):\n%s", diff)
	}
	if l.netbox.Writes() != writes {
		l.t.Error("NetBox was written to")
	}
}

func (l *lab) posts() int {
	n := 0
	for _, r := range l.netbox.Requests() {
		if r.Method == http.MethodPost && strings.HasSuffix(r.Path, "/available-ips/") {
			n++
		}
	}
	return n
}
