package netbox_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	xpcontroller "github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/feature"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource/fake"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kubefake "sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	netboxclient "github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/config"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/netboxipaddress"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/wiring"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/netbox"
)

// A street is NetBoxes of several provider configs, and the controller of all their addresses, with its workers and their queue.
type street struct {
	t     *testing.T
	kube  client.Client
	queue workqueue.TypedRateLimitingInterface[reconcile.Request]
	// netboxes by the name of their provider config.
	netboxes map[string]*netbox.Server
}

func newStreet(t *testing.T, configs ...string) *street {
	t.Helper()
	s := &street{t: t, netboxes: map[string]*netbox.Server{}}
	for _, name := range configs {
		n := netbox.New(netbox.Options{})
		n.AddToken(netbox.Token{Name: "provider", Secret: secret})
		n.AddCIDR("10.77.0.0/20")
		n.AddMarkerField(field)
		if err := n.Start(""); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = n.Close() })
		s.netboxes[name] = n
	}
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	s.kube = kubefake.NewClientBuilder().WithScheme(scheme).WithStatusSubresource(&v1alpha1.NetBoxIPAddress{}).WithInterceptorFuncs(interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			err := c.Get(ctx, key, o, opts...)
			if _, ok := o.(*v1alpha1.NetBoxIPAddress); ok { // As a cache does.
				o.GetObjectKind().SetGroupVersionKind(v1alpha1.NetBoxIPAddressGroupVersionKind)
			}
			return err
		},
	}).Build()
	s.open()
	return s
}

// open starts the controller, until the test's end.
func (s *street) open() {
	s.t.Helper()
	pool := netboxclient.NewPool()
	connector := netboxipaddress.NewConnector(netboxipaddress.Options{
		Resolve: func(_ context.Context, mg *v1alpha1.NetBoxIPAddress) (config.NetBox, error) {
			out, name := config.NetBox{}, mg.Spec.ProviderConfigReference.Name
			out.Ref = config.Ref{Kind: v1alpha1.ClusterProviderConfigKind, Name: name}
			out.UID, out.Token, out.SecretVersion = types.UID(name), secret, "1"
			out.Config = v1alpha1.NetBoxConfig{URL: s.netboxes[name].URL(), MarkerField: field}
			return out, nil
		},
		Client: func(of config.Identity, cfg netboxclient.Config) (netboxipaddress.NetBox, error) {
			return pool.Client(string(of.UID), cfg)
		},
		Kube: s.kube, ClusterID: clusterID, MaxAge: time.Minute,
	})
	o := wiring.Options{Options: xpcontroller.DefaultOptions()}
	o.Features.Enable(feature.EnableBetaManagementPolicies)
	o.MaxConcurrentReconciles = 50 // As the provider has it.
	c, err := wiring.NewController(&manager{fake.Manager{Client: s.kube, Scheme: s.kube.Scheme()}, nil}, o, netboxipaddress.Kind(connector))
	if err != nil {
		s.t.Fatal(err)
	}
	opened := make(chan struct{})
	err = c.Watch(source.Func(func(_ context.Context, q workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
		s.queue = q
		close(opened)
		return nil
	}))
	if err != nil {
		s.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(s.t.Context())
	done := make(chan error)
	go func() { done <- c.Start(ctx) }()
	s.t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			s.t.Error(err)
		}
		pool.Close()
	})
	<-opened
}

// wish for so many addresses of a provider config's NetBox.
func (s *street) wish(of string, from, n int) {
	s.t.Helper()
	for i := from; i < from+n; i++ {
		mg := &v1alpha1.NetBoxIPAddress{}
		mg.Namespace, mg.Name = "team-a", fmt.Sprintf("%s-%d", of, i)
		mg.UID, mg.Generation = types.UID("uid-"+mg.Name), 1
		mg.Labels = map[string]string{"of": of}
		mg.Spec.ForProvider = v1alpha1.NetBoxIPAddressParameters{
			Status: "active", From: []v1alpha1.AddressSource{{Prefix: &v1alpha1.PrefixSource{CIDR: "10.77.0.0/20"}}},
		}
		mg.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionAll}
		mg.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: v1alpha1.ClusterProviderConfigKind, Name: of}
		if err := s.kube.Create(s.t.Context(), mg); err != nil {
			s.t.Fatal(err)
		}
		s.queue.Add(reconcile.Request{NamespacedName: client.ObjectKeyFromObject(mg)})
	}
}

// of are the addresses of a provider config's NetBox.
func (s *street) of(name string) []v1alpha1.NetBoxIPAddress {
	s.t.Helper()
	all := &v1alpha1.NetBoxIPAddressList{}
	if err := s.kube.List(s.t.Context(), all, client.MatchingLabels{"of": name}); err != nil {
		s.t.Fatal(err)
	}
	return all.Items
}

// release all addresses of a provider config's NetBox.
func (s *street) release(name string) {
	s.t.Helper()
	for _, mg := range s.of(name) {
		if err := s.kube.Delete(s.t.Context(), &v1alpha1.NetBoxIPAddress{ObjectMeta: metav1.ObjectMeta{Namespace: mg.Namespace, Name: mg.Name}}); err != nil {
			s.t.Fatal(err)
		}
		s.queue.Add(reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&mg)})
	}
}

// until waits for so many of a provider config's NetBox to be Ready, and no other one to be there; not as long as one call may take.
func (s *street) until(what, of string, want int) {
	s.t.Helper()
	began := time.Now()
	for {
		all, got := s.of(of), 0
		for i := range all {
			if ready(&all[i]) {
				got++
			}
		}
		if got == want && len(all) == want {
			s.t.Logf("%s: %s", what, time.Since(began).Round(time.Millisecond))
			return
		}
		if time.Since(began) > 20*time.Second {
			s.t.Fatalf("%s: %d of %d addresses are Ready, want %d; %d requests hang", what, got, len(all), want, s.netboxes["hanging"].FaultsMet()[netbox.FaultHang])
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// TestHangingNeighbour: a NetBox that doesn't answer makes nothing of another one late, be it that it never did, or that it did before.
func TestHangingNeighbour(t *testing.T) {
	const many, before = 200, 40
	for name, first := range map[string]int{"Never": 0, "NotAnyMore": before} {
		t.Run(name, func(t *testing.T) {
			s := newStreet(t, "hanging", "good")
			s.wish("hanging", 0, first)
			s.until("those of the one that will hang", "hanging", first)
			s.netboxes["hanging"].Inject(netbox.Fault{Kind: netbox.FaultHang})
			s.wish("hanging", first, many)
			s.wish("good", 0, many)
			s.until("as many of another one", "good", many)
			s.release("good")
			s.until("their end", "good", 0)
			if left := len(s.netboxes["good"].Addresses()); left != 0 {
				t.Errorf("%d records are left", left)
			}
			met := s.netboxes["hanging"].FaultsMet()[netbox.FaultHang]
			if met == 0 {
				t.Error("nothing hung")
			}
			t.Log(faultRow("a NetBox hangs beside another one: "+name, 1, met))
		})
	}
}
