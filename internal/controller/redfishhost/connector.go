package redfishhost

import (
	"context"
	"net/netip"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/gate"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/config"
)

// BMC is what a host needs of its BMC; redfish.Client implements it.
type BMC interface { //nolint:interfacebloat // One interface for each facet.
	powerBMC
	bootBMC
	biosBMC
	settingsBMC
	mediaBMC
	logBMC
	managerBMC
	rotationBMC
	pushBMC

	Find(ctx context.Context, want redfish.Selector, hint string) (redfish.System, error)
	Trace(ctx context.Context, s redfish.System, want redfish.Traces) (redfish.System, error)
	Walk(ctx context.Context, w *redfish.Walk, n int) (done bool, err error)
	Pin() string
	Connection() redfish.Connection
}

// Gatekeeper gives turns at BMCs; Gates adapts gate.Gates to it.
type Gatekeeper interface {
	Do(ctx context.Context, t gate.Target, f func(context.Context, BMC) error) error
	Forget(ctx context.Context, address string) error
	Distrust(address string)
}

// Gates adapts the process's gatekeepers to Gatekeeper.
type Gates struct{ *gate.Gates }

// Do implements Gatekeeper. What kept f from being called, or ended it before it
// wrote anything, is told from what f found: no act was attempted.
func (g Gates) Do(ctx context.Context, t gate.Target, f func(context.Context, BMC) error) error {
	called := false
	err := g.Gates.Do(ctx, t, func(ctx context.Context, c *redfish.Client) error {
		called = true

		return f(ctx, c)
	})
	if err != nil && (!called || gate.IsBusy(err)) {
		return notCalledError{err}
	}

	return err
}

// ResolveFn finds the Redfish settings and credentials that a host may use.
// It records the use.
type ResolveFn func(ctx context.Context, host *v1alpha1.RedfishHost) (config.Redfish, error)

// AccountFn reads the account of an image's server from a Secret of the host's
// namespace.
type AccountFn func(ctx context.Context, host *v1alpha1.RedfishHost, secret string) (config.Account, error)

// Options of the connector. Kube, Resolve and Gates must be set.
type Options struct {
	// Kube lists hosts, by Index, and patches journals.
	Kube client.Client
	// Resolve finds a host's Redfish settings.
	Resolve ResolveFn
	// Account reads what images' servers want to know; nil is for hosts without
	// such images.
	Account AccountFn
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
	// Elapsed is the clock that deadlines go by. It must never jump; nil is the
	// process's own.
	Elapsed func() time.Duration
	// InventoryAge is how long an inventory is believed; 0 is an hour.
	InventoryAge time.Duration
	// Forget has a Secret read anew that was written; nil does nothing.
	Forget func(types.NamespacedName)
	// Wake has a host looked at, whose inventory was read or whose BMC tells that something
	// has changed; nil leaves that to the next poll.
	Wake func(types.NamespacedName)
	// EventPause is how long a BMC rests at least that has ended its stream of events, and
	// what all else about events goes by; 0 is 5 s.
	EventPause time.Duration
	// TakesEvents says that the provider takes what BMCs send.
	TakesEvents bool
	// Log is told what no host can show; nil is told nothing.
	Log logging.Logger
}

// Connector makes the external client of a host.
type Connector struct {
	Options

	inventories *inventories
	tallies     *tallies
	streams     *streams
	watch       *stopwatch
	postponed   *postponed
	counted     *counted
	registries  *registries
	biosLooks   *looks[biosSeen]

	secureBootLooks *looks[secureBootSeen]
	mediaLooks      *looks[mediaIn]
	// rotationLooks are what stood in the way of another password.
	rotationLooks *looks[trouble]
	// pushLooks are those at subscriptions, and pushes whose events are expected.
	pushLooks *looks[pushLook]
	pushes    *pushes
}

// NewConnector makes a connector.
func NewConnector(o Options) *Connector {
	if o.Recorder == nil {
		o.Recorder = event.NewNopRecorder()
	}
	if o.Log == nil {
		o.Log = logging.NewNopLogger()
	}
	if o.Failpoint == nil {
		o.Failpoint = func(string) {}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.InventoryAge == 0 {
		o.InventoryAge = time.Hour
	}

	c := &Connector{
		Options: o, inventories: newInventories(o.Gates, o.Now, o.Wake), watch: newStopwatch(o.Elapsed), postponed: newPostponed(), counted: newCounted(),
		registries: &registries{}, biosLooks: newLooks[biosSeen](), secureBootLooks: newLooks[secureBootSeen](), mediaLooks: newLooks[mediaIn](),
		rotationLooks: newLooks[trouble](), pushLooks: newLooks[pushLook](), pushes: newPushes(),
	}
	c.tallies = c.inventories.tallies
	c.streams = newStreams(o.Gates, c.tallies, o.EventPause, c.told)
	c.inventories.log, c.streams.log = o.Log, o.Log

	return c
}

// Stop ends what is being read, and listened to, beside reconciles.
func (c *Connector) Stop() {
	c.streams.stop()
	c.inventories.stop()
}

// told has a host looked at whose BMC tells that something has changed: all of it,
// also what is beside its System and would be believed for a while.
func (c *Connector) told(host types.UID, name types.NamespacedName) {
	c.biosLooks.forget(host)
	c.secureBootLooks.forget(host)
	c.mediaLooks.forget(host)
	if c.Wake != nil {
		c.Wake(name)
	}
}

// Settle waits until nothing is being read beside reconciles, and returns how
// many inventories were so far. Tests look at hosts again when there's a new one.
func (c *Connector) Settle() int { return c.inventories.settle() }

// Connect resolves settings and credentials. It talks to no BMC: that happens
// in the client's methods, one turn each. What a person must mend about them is
// shown on the host by Observe, like every other trouble.
func (c *Connector) Connect(ctx context.Context, host *v1alpha1.RedfishHost) (managed.TypedExternalClient[*v1alpha1.RedfishHost], error) {
	e := &external{connector: c, host: host.GetUID(), namespace: host.GetNamespace(), name: nameOfHost(host), inputs: inputs{address: host.Spec.ForProvider.Address}}
	if ref := host.Spec.ForProvider.CredentialsSecretRef; ref != nil {
		e.inputs.secret = ref.Name
		e.own.at, e.own.host = types.NamespacedName{Namespace: host.GetNamespace(), Name: ref.Name}, host
	}
	if j := parseJournal(host.GetAnnotations()[v1alpha1.AnnotationJournal]); j != nil {
		e.inputs.rotated = j.Rotation.At
	}
	r, err := c.Resolve(ctx, host)
	e.own.next, e.own.rotated = r.PasswordNext, r.PasswordRotated
	if err == nil {
		e.target, err = c.target(host, r)
	}
	if err != nil && config.ReasonOf(err) == "" && redfish.KindOf(err) == "" {
		return nil, errors.Wrap(err, "cannot resolve the host's provider config")
	}
	e.unusable = err
	e.inventoryAge, e.events = c.InventoryAge, wantsEvents(r.Config.Events)
	c.wishPush(e, host, r.Config.Events)
	if r.Config.InventoryInterval != nil {
		e.inventoryAge = r.Config.InventoryInterval.Duration
	}

	return e, nil
}

// maxRequestTimeout is what one request may take at most: a reconcile has five
// minutes for all of its.
const maxRequestTimeout = 2 * time.Minute

func (c *Connector) target(host *v1alpha1.RedfishHost, r config.Redfish) (gate.Target, error) {
	guard, err := c.guard(r.Config.AllowedAddresses)
	if err != nil {
		return gate.Target{}, err
	}
	if _, err := selectorOf(host.Spec.ForProvider); err != nil {
		return gate.Target{}, err
	}
	t := gate.Target{
		Config: redfish.Config{
			Address: host.Spec.ForProvider.Address, Auth: redfish.Auth(r.Config.Auth), Guard: guard,
			Username: r.Username, Password: r.Password, TLS: pinned(tlsOf(r.Config.TLS, host.Spec.ForProvider.TLS), host),
			Quirks: rowsOf(r.Config.Quirks),
		},
		CredentialVersion: r.SecretVersion,
	}
	if r.Config.RequestTimeout != nil {
		t.RequestTimeout = min(r.Config.RequestTimeout.Duration, maxRequestTimeout) // Older versions took more.
	}
	if r.Config.RequestsPerSecond != nil {
		t.RequestsPerSecond = float64(*r.Config.RequestsPerSecond)
	}

	return t, nil
}

func (c *Connector) guard(allowed []string) (redfish.Guard, error) {
	g := redfish.Guard{Denied: c.Denied, AllowLoopback: c.AllowLoopback}
	for _, cidr := range allowed {
		p, err := netip.ParsePrefix(cidr)
		if err != nil {
			return g, redfish.Invalidf("cannot use allowedAddresses: %q isn't a CIDR", cidr)
		}
		g.Allowed = append(g.Allowed, p.Masked())
	}

	return g, nil
}

// pinned adds the certificate that was trusted on first use, of a host whose
// spec isn't written.
func pinned(t redfish.TLS, host *v1alpha1.RedfishHost) redfish.TLS {
	pin := host.GetAnnotations()[v1alpha1.AnnotationTLSPin]
	if t.Verify == redfish.VerifyTrustOnFirstUse && len(t.Pins) == 0 && pin != "" {
		t.Pins = []string{pin}
	}

	return t
}

// tlsOf joins the provider config's settings with what the host says of its
// own certificate.
func tlsOf(of *v1alpha1.TLS, host *v1alpha1.HostTLS) redfish.TLS {
	t := redfish.TLS{Verify: redfish.VerifySystem}
	if of != nil {
		t = redfish.TLS{Verify: redfish.Verify(of.Verify), CABundle: []byte(of.CABundle), Pins: of.PinnedSHA256, MinVersion: of.MinVersion}
	}
	if host != nil {
		t.ServerName = host.ServerName
	}
	if host != nil && len(host.PinnedSHA256) > 0 {
		t.Pins = host.PinnedSHA256
		if t.Verify != redfish.VerifyTrustOnFirstUse {
			t.Verify = redfish.VerifyPinned
		}
	}

	return t
}
