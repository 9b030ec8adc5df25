package netbox_test

import (
	"context"
	"fmt"
	"net/netip"
	"reflect"
	"strconv"
	"testing"
	"time"

	xpcontroller "github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/feature"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource/fake"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kubefake "sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	netboxclient "github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/config"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/netboxipaddress"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/netboxlink"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/wiring"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/netbox"
)

// unchangedRecords are as many as a page of the shared look holds.
const unchangedRecords = 1000

// cached is a client as the manager's: what it reads is copied from memory.
type cached struct {
	client.Client

	objects map[string]client.Object
	writes  int
}

func cachedAs(o client.Object, key client.ObjectKey) string {
	return fmt.Sprintf("%T %s", o, key)
}

func (c *cached) put(all ...client.Object) {
	for _, o := range all {
		c.objects[cachedAs(o, client.ObjectKeyFromObject(o))] = o
	}
}

// Get copies an object.
func (c *cached) Get(_ context.Context, key client.ObjectKey, o client.Object, _ ...client.GetOption) error {
	found, ok := c.objects[cachedAs(o, key)]
	if !ok {
		return kerrors.NewNotFound(schema.GroupResource{}, key.String())
	}
	reflect.ValueOf(o).Elem().Set(reflect.ValueOf(found.DeepCopyObject()).Elem())
	return nil
}

// Create counts a write.
func (c *cached) Create(context.Context, client.Object, ...client.CreateOption) error {
	c.writes++
	return nil
}

// Update counts a write.
func (c *cached) Update(context.Context, client.Object, ...client.UpdateOption) error {
	c.writes++
	return nil
}

// Status counts writes.
func (c *cached) Status() client.SubResourceWriter { return cachedStatus{c.Client.Status(), c} }

type cachedStatus struct {
	client.SubResourceWriter

	of *cached
}

// Update keeps what is written, as the cache hears of it.
func (s cachedStatus) Update(_ context.Context, o client.Object, _ ...client.SubResourceUpdateOption) error {
	s.of.writes++
	if kept, ok := o.DeepCopyObject().(client.Object); ok {
		s.of.put(kept)
	}
	return nil
}

// BenchmarkUnchanged is what the look at one address costs that is as it should be, when its poll interval is over: with the real resolver
// of provider configs and the real connection, whose shared look has seen it. No request is made, and nothing written.
func BenchmarkUnchanged(b *testing.B) {
	s := netbox.New(netbox.Options{})
	s.AddToken(netbox.Token{Name: "provider", Secret: secret})
	s.AddMarkerField(field)
	s.AddCIDR("10.77.0.0/20")
	if err := s.Start(""); err != nil {
		b.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	c := unchangedCluster(b, s)
	o := wiring.Options{Options: xpcontroller.DefaultOptions(), Namespace: "crossplane-system", Config: config.NewResolver(c, c, c)}
	o.Features.Enable(feature.EnableBetaManagementPolicies)
	links := netboxlink.New(netboxlink.Options{ClusterID: clusterID, AllowLoopback: true})
	connector := netboxipaddress.NewConnector(netboxipaddress.Options{
		Resolve: func(ctx context.Context, mg *v1alpha1.NetBoxIPAddress) (config.NetBox, error) {
			return o.Config.NetBox(ctx, mg)
		},
		Client: func(of config.Identity, cfg netboxclient.Config) (netboxipaddress.NetBox, error) {
			return links.Client(of, cfg)
		},
		ClusterID: clusterID, MaxAge: time.Hour, Kube: c,
	})
	r := wiring.NewReconciler(&manager{Manager: fake.Manager{Client: c, Scheme: c.Scheme()}}, o, wiring.Kind[*v1alpha1.NetBoxIPAddress]{
		GVK: v1alpha1.NetBoxIPAddressGroupVersionKind, Connector: connector, DeterministicExternalName: true, CreationGrace: time.Nanosecond,
	}, o.ForController().RateLimiter)
	look := func(i int) {
		res, err := r.Reconcile(b.Context(), reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "team-a", Name: "n-" + strconv.Itoa(i%unchangedRecords)}})
		if err != nil || res.RequeueAfter < 30*time.Second {
			b.Fatalf("%+v, %v", res, err)
		}
	}
	for i := range unchangedRecords { // Status says what it's to say.
		look(i)
	}
	requests, writes := len(s.Requests()), c.writes
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		look(i)
	}
	b.StopTimer()
	if n := len(s.Requests()) - requests; n != 0 || c.writes != writes {
		b.Errorf("%d requests, %d writes", n, c.writes-writes)
	}
}

// unchangedCluster has a provider config and addresses, whose records it makes.
func unchangedCluster(b *testing.B, s *netbox.Server) *cached {
	b.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{v1alpha1.AddToScheme, corev1.AddToScheme} {
		if err := add(scheme); err != nil {
			b.Fatal(err)
		}
	}
	c := &cached{Client: kubefake.NewClientBuilder().WithScheme(scheme).Build(), objects: map[string]client.Object{}}
	of := v1alpha1.ClusterProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: "netbox", UID: "cfg", Generation: 1}}
	of.Spec.AllowedNamespaces = &v1alpha1.AllowedNamespaces{From: v1alpha1.AllowedFromAll}
	of.Spec.NetBox = &v1alpha1.NetBoxConfig{URL: s.URL(), MarkerField: field}
	of.Spec.NetBox.Credentials.SecretRef.Namespace, of.Spec.NetBox.Credentials.SecretRef.Name = "crossplane-system", "netbox"
	named := metav1.ObjectMeta{Namespace: "crossplane-system", Name: "netbox", UID: "secret", ResourceVersion: "1"}
	c.put(&of, &corev1.Secret{ObjectMeta: named, Data: map[string][]byte{"token": []byte(secret)}}, &metav1.PartialObjectMetadata{ObjectMeta: named})
	for i := range unchangedRecords {
		mg := &v1alpha1.NetBoxIPAddress{ObjectMeta: metav1.ObjectMeta{
			Namespace: "team-a", Name: "n-" + strconv.Itoa(i), UID: types.UID("uid-" + strconv.Itoa(i)), Generation: 1, ResourceVersion: "7", Finalizers: []string{managed.FinalizerName},
			Labels: map[string]string{"app": "web"},
		}}
		mg.SetGroupVersionKind(v1alpha1.NetBoxIPAddressGroupVersionKind)
		mg.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: v1alpha1.ClusterProviderConfigKind, Name: "netbox"}
		mg.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionAll}
		mg.Spec.ForProvider = v1alpha1.NetBoxIPAddressParameters{Status: "active", From: []v1alpha1.AddressSource{{Prefix: &v1alpha1.PrefixSource{CIDR: "10.77.0.0/20"}}}}
		id := s.AddAddress(netbox.Address{
			Address: unchangedAddress(i), CustomFields: map[string]any{field: clusterID + "/team-a/" + mg.Name + "/" + string(mg.UID)},
		})
		meta.SetExternalName(mg, strconv.FormatInt(id, 10))
		for at, set := range []func(metav1.Object, time.Time){meta.SetExternalCreatePending, meta.SetExternalCreateSucceeded} {
			set(mg, time.Now().Add(time.Duration(at-3)*time.Minute))
		}
		usage := &v1alpha1.ProviderConfigUsage{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: string(mg.UID), Labels: map[string]string{
			xpv2.LabelKeyProviderKind: v1alpha1.ClusterProviderConfigKind, xpv2.LabelKeyProviderName: "netbox",
		}, OwnerReferences: []metav1.OwnerReference{meta.AsController(meta.TypedReferenceTo(mg, v1alpha1.NetBoxIPAddressGroupVersionKind))}}}
		usage.ProviderConfigReference = xpv2.ProviderConfigReference{Kind: v1alpha1.ClusterProviderConfigKind, Name: "netbox"}
		c.put(mg, usage)
	}
	return c
}

func unchangedAddress(i int) netip.Prefix {
	return netip.MustParsePrefix(fmt.Sprintf("10.77.%d.%d/20", i/250, 1+i%250))
}
