package kubesource

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/flowcontrol"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// An Object of the API, as all of them are.
type Object interface {
	metav1.Object
	runtime.Object
}

// An API is what bootd asks of Kubernetes. Nothing is read from a cache.
type API interface {
	Get(ctx context.Context, name types.NamespacedName, into Object) error
	Create(ctx context.Context, o Object) error
	// UpdateStatus writes the status by compare-and-swap, and leaves in o what the API made of it.
	UpdateStatus(ctx context.Context, o Object) error
	// List and Watch are of the kind of a list; namespace "" is all of them.
	List(ctx context.Context, namespace string, into runtime.Object, o metav1.ListOptions) error
	Watch(ctx context.Context, namespace string, list runtime.Object, o metav1.ListOptions) (watch.Interface, error)
}

// Scheme of what bootd reads and writes. Of Kubernetes' own kinds it has Secrets alone: the others, with the code that reads each of
// them, would be most of the program, and of its memory (docs/adr/0047).
func Scheme() (*runtime.Scheme, error) {
	s := runtime.NewScheme()
	s.AddKnownTypes(corev1.SchemeGroupVersion, &corev1.Secret{}, &corev1.SecretList{})
	metav1.AddToGroupVersion(s, corev1.SchemeGroupVersion)
	if err := v1alpha1.AddToScheme(s); err != nil {
		return nil, fmt.Errorf("cannot register the API's kinds: %w", err)
	}
	return s, nil
}

// A Client is the API, by HTTP.
type Client struct {
	scheme     *runtime.Scheme
	parameters runtime.ParameterCodec
	core, own  rest.Interface
	told       *atomic.Pointer[told]
	// unread and unwritten say whether a session was refused when it was read, or written, last.
	unread, unwritten atomic.Bool
}

// NewClient makes a client of the API. It asks nothing yet.
func NewClient(access *rest.Config) (*Client, error) {
	scheme, err := Scheme()
	if err != nil {
		return nil, err
	}
	access = rest.CopyConfig(access)
	if access.RateLimiter == nil { // One for both groups.
		access.RateLimiter = flowcontrol.NewTokenBucketRateLimiter(access.QPS, access.Burst)
	}
	access.RateLimiter = turns{access.RateLimiter}
	access.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	access.ContentType = runtime.ContentTypeJSON
	said := &atomic.Pointer[told]{}
	access.Wrap(func(t http.RoundTripper) http.RoundTripper { return timeKeeper{t, said} })
	transport, err := rest.HTTPClientFor(access)
	if err != nil {
		return nil, fmt.Errorf("cannot make a client of the Kubernetes API: %w", err)
	}
	c := &Client{scheme: scheme, parameters: runtime.NewParameterCodec(scheme), told: said}
	if c.core, err = group(access, transport, "/api", corev1.SchemeGroupVersion); err != nil {
		return nil, err
	}
	if c.own, err = group(access, transport, "/apis", v1alpha1.GroupVersion); err != nil {
		return nil, err
	}
	return c, nil
}

// turns is a limiter that a heartbeat doesn't wait for: in a storm it would come too late, and all bootds of its networks would wait for this one.
type turns struct{ flowcontrol.RateLimiter }

type promptly struct{}

// Wait implements flowcontrol.RateLimiter.
func (t turns) Wait(ctx context.Context) error {
	if ctx.Value(promptly{}) != nil {
		return nil
	}
	return t.RateLimiter.Wait(ctx) //nolint:wrapcheck // It says what it is.
}

func group(access *rest.Config, transport *http.Client, path string, gv schema.GroupVersion) (rest.Interface, error) {
	access = rest.CopyConfig(access)
	access.APIPath, access.GroupVersion = path, &gv
	c, err := rest.RESTClientForConfigAndClient(access, transport)
	if err != nil {
		return nil, fmt.Errorf("cannot make a client of the Kubernetes API: %w", err)
	}
	return c, nil
}

// resources that bootd asks for, by the kind of an object and of a list of them.
func resources() map[string]string {
	return map[string]string{
		"Secret": "secrets", "SecretList": "secrets",
		v1alpha1.BootNetworkKind: "bootnetworks", "BootNetworkList": "bootnetworks",
		v1alpha1.BootProfileKind: "bootprofiles", "BootProfileList": "bootprofiles",
		v1alpha1.BootEntryKind: "bootentries", "BootEntryList": "bootentries",
		v1alpha1.BootSessionKind: "bootsessions", "BootSessionList": "bootsessions",
		v1alpha1.BootServerKind: "bootservers", "BootServerList": "bootservers",
	}
}

// of gives what an object's kind is asked of, and as which resource.
func (c *Client) of(o runtime.Object) (rest.Interface, string, error) {
	kinds, _, err := c.scheme.ObjectKinds(o)
	if err != nil {
		return nil, "", fmt.Errorf("bootd doesn't know the kind of %T: %w", o, err)
	}
	resource, ok := resources()[kinds[0].Kind]
	if !ok {
		return nil, "", fmt.Errorf("bootd has no business with %s", kinds[0].Kind)
	}
	if kinds[0].Group == corev1.GroupName {
		return c.core, resource, nil
	}
	return c.own, resource, nil
}

// Get reads an object, with quorum.
func (c *Client) Get(ctx context.Context, name types.NamespacedName, into Object) error {
	r, resource, err := c.of(into)
	if err != nil {
		return err
	}
	return note(&c.unread, into, r.Get().Namespace(name.Namespace).Resource(resource).Name(name.Name).Do(ctx).Into(into))
}

// Create makes an object.
func (c *Client) Create(ctx context.Context, o Object) error {
	r, resource, err := c.of(o)
	if err != nil {
		return err
	}
	return r.Post().Namespace(o.GetNamespace()).Resource(resource).Body(o).Do(ctx).Into(o) //nolint:wrapcheck // As Get.
}

// UpdateStatus writes an object's status.
func (c *Client) UpdateStatus(ctx context.Context, o Object) error {
	r, resource, err := c.of(o)
	if err != nil {
		return err
	}
	return note(&c.unwritten, o, r.Put().Namespace(o.GetNamespace()).Resource(resource).Name(o.GetName()).SubResource("status").Body(o).Do(ctx).Into(o))
}

// note remembers whether a session was refused. The error is the API's own words; callers say what for.
func note(refused *atomic.Bool, o Object, err error) error {
	if _, is := o.(*v1alpha1.BootSession); is {
		refused.Store(apierrors.IsForbidden(err))
	}
	return err
}

// Refused says that the API has just let this bootd not read, or not write, a session, without which no install starts. Watches that run go on meanwhile,
// and so do heartbeats, which another role is for.
func (c *Client) Refused() bool { return c.unread.Load() || c.unwritten.Load() }

// List reads all objects of a kind.
func (c *Client) List(ctx context.Context, namespace string, into runtime.Object, o metav1.ListOptions) error {
	if !meta.IsListType(into) {
		return fmt.Errorf("%T is no list", into)
	}
	r, resource, err := c.of(into)
	if err != nil {
		return err
	}
	return r.Get().NamespaceIfScoped(namespace, namespace != "").Resource(resource).VersionedParams(&o, c.parameters).Timeout(timeoutOf(o)).Do(ctx).Into(into) //nolint:wrapcheck // As Get.
}

// Watch is told what happens to the objects of a kind.
func (c *Client) Watch(ctx context.Context, namespace string, list runtime.Object, o metav1.ListOptions) (watch.Interface, error) {
	r, resource, err := c.of(list)
	if err != nil {
		return nil, err
	}
	o.Watch = true
	return r.Get().NamespaceIfScoped(namespace, namespace != "").Resource(resource).VersionedParams(&o, c.parameters).Timeout(timeoutOf(o)).Watch(ctx) //nolint:wrapcheck // As Get.
}

func timeoutOf(o metav1.ListOptions) time.Duration {
	if o.TimeoutSeconds == nil {
		return 0
	}
	return time.Duration(*o.TimeoutSeconds) * time.Second
}
