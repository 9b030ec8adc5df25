package redfishhost

import (
	"context"
	"net/netip"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/gate"
)

// BMC is what a host needs of its BMC; redfish.Client implements it.
type BMC interface {
	Find(ctx context.Context, want redfish.Selector, hint string) (redfish.System, error)
	Inventory(ctx context.Context, s redfish.System) (redfish.Inventory, error)
	Reset(ctx context.Context, s redfish.System, act redfish.Act) error
	SetBootOnce(ctx context.Context, s redfish.System, target string) error
	ClearBoot(ctx context.Context, s redfish.System) error
	Pin() string
}

// Gatekeeper gives turns at BMCs; Gates adapts gate.Gates to it.
type Gatekeeper interface {
	Do(ctx context.Context, t gate.Target, f func(context.Context, BMC) error) error
	Forget(ctx context.Context, address string) error
}

// Gates adapts the process's gatekeepers to Gatekeeper.
type Gates struct{ *gate.Gates }

// Do implements Gatekeeper.
func (g Gates) Do(ctx context.Context, t gate.Target, f func(context.Context, BMC) error) error {
	return g.Gates.Do(ctx, t, func(ctx context.Context, c *redfish.Client) error { return f(ctx, c) })
}

// ResolveFn finds the Redfish settings that a host may use, with the namespace
// of their Secret filled in. It tracks usage.
type ResolveFn func(ctx context.Context, host *v1alpha1.RedfishHost) (*v1alpha1.RedfishConfig, error)

// Options of the connector. Kube, Resolve and Gates must be set.
type Options struct {
	// Kube reads hosts and Secrets, and patches journals.
	Kube client.Client
	// Resolve finds a host's Redfish settings.
	Resolve ResolveFn
	// Gates give turns at BMCs.
	Gates Gatekeeper
	// AllowLoopback makes loopback addresses targets, for demos and tests.
	AllowLoopback bool
	// Denied ranges are the cluster's own.
	Denied []netip.Prefix
	// Recorder of events; nil records none.
	Recorder event.Recorder
	// Failpoint is called between journal and BMC call ("redfish-before-call")
	// and between call and recording ("redfish-after-call"); nil does nothing.
	Failpoint func(name string)
	// Now is the clock that is written into journals; nil is time.Now.
	Now func() time.Time
	// InventoryAge is how long MACs and firmware versions are believed; 0 is 10 minutes.
	InventoryAge time.Duration
}

// Connector makes the external client of a host.
type Connector struct {
	Options

	inventories *inventories
}

// NewConnector makes a connector.
func NewConnector(o Options) *Connector {
	if o.Recorder == nil {
		o.Recorder = event.NewNopRecorder()
	}
	if o.Failpoint == nil {
		o.Failpoint = func(string) {}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.InventoryAge == 0 {
		o.InventoryAge = 10 * time.Minute
	}

	return &Connector{Options: o, inventories: newInventories()}
}

// Connect resolves settings and credentials. It talks to no BMC: that happens
// in the client's methods, one turn each.
func (c *Connector) Connect(ctx context.Context, host *v1alpha1.RedfishHost) (managed.TypedExternalClient[*v1alpha1.RedfishHost], error) {
	e := &external{connector: c}
	config, err := c.Resolve(ctx, host)
	if err == nil {
		e.target, e.inputs, err = c.target(ctx, host, config)
	}
	if err == nil {
		return e, nil
	}
	if meta.WasDeleted(host) && host.Spec.ClaimRef == nil {
		// The last wish of a host whose config or Secret went first: nothing of
		// it is worth holding up its deletion.
		return &external{connector: c, gone: true}, nil
	}

	return nil, err
}

func (c *Connector) target(ctx context.Context, host *v1alpha1.RedfishHost, config *v1alpha1.RedfishConfig) (gate.Target, inputs, error) {
	in := inputs{address: host.Spec.ForProvider.Address}
	key := types.NamespacedName{Namespace: config.Credentials.SecretRef.Namespace, Name: config.Credentials.SecretRef.Name}
	if ref := host.Spec.ForProvider.CredentialsSecretRef; ref != nil {
		key = types.NamespacedName{Namespace: host.GetNamespace(), Name: ref.Name}
	}
	if key.Namespace == host.GetNamespace() {
		in.secret = key.Name
	}
	secret := &corev1.Secret{}
	if err := c.Kube.Get(ctx, key, secret); err != nil {
		return gate.Target{}, in, errors.Wrap(err, "cannot get the BMC's credentials")
	}
	guard, err := c.guard(config)
	if err != nil {
		return gate.Target{}, in, err
	}
	t := gate.Target{
		Config: redfish.Config{
			Address: host.Spec.ForProvider.Address, Auth: redfish.Auth(config.Auth), Guard: guard,
			Username: string(secret.Data["username"]), Password: string(secret.Data["password"]),
			TLS: tlsOf(config.TLS, host.Spec.ForProvider.TLS),
		},
		CredentialVersion: key.String() + "/" + string(secret.GetUID()) + "/" + secret.GetResourceVersion(),
	}
	if config.RequestsPerSecond != nil {
		t.RequestsPerSecond = float64(*config.RequestsPerSecond)
	}
	if t.Username == "" || t.Password == "" {
		return t, in, errors.Errorf("cannot use %s for the BMC: it must have the keys username and password", secretNamed(in.secret))
	}

	return t, in, nil
}

func (c *Connector) guard(config *v1alpha1.RedfishConfig) (redfish.Guard, error) {
	g := redfish.Guard{Denied: c.Denied, AllowLoopback: c.AllowLoopback}
	for _, cidr := range config.AllowedAddresses {
		p, err := netip.ParsePrefix(cidr)
		if err != nil {
			return g, errors.Errorf("cannot use allowedAddresses: %q isn't a CIDR", cidr)
		}
		g.Allowed = append(g.Allowed, p.Masked())
	}

	return g, nil
}

// tlsOf joins the provider config's settings with the host's own pins.
func tlsOf(config *v1alpha1.TLS, host *v1alpha1.HostTLS) redfish.TLS {
	t := redfish.TLS{Verify: redfish.VerifySystem}
	if config != nil {
		t = redfish.TLS{Verify: redfish.Verify(config.Verify), CABundle: []byte(config.CABundle), Pins: config.PinnedSHA256}
	}
	if host != nil && len(host.PinnedSHA256) > 0 {
		t.Pins = host.PinnedSHA256
		if t.Verify != redfish.VerifyTrustOnFirstUse {
			t.Verify = redfish.VerifyPinned
		}
	}

	return t
}
