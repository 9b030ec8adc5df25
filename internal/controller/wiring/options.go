// Package wiring is the one way to assemble a managed reconciler.
package wiring

import (
	"context"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	xpcontroller "github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"go.opentelemetry.io/otel/trace"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane-contrib/provider-baremetal/internal/controller/config"
)

// Options are what every controller is given. The zero value isn't usable: start from crossplane-runtime's DefaultOptions.
type Options struct {
	// Options of crossplane-runtime: logger, rates, features, metrics, gate.
	xpcontroller.Options

	// Config resolves provider configs. One for all controllers.
	Config *config.Resolver
	// ClusterID is the random id of this cluster's control plane, part of every NetBox marker.
	ClusterID string
	// Namespace of the provider itself.
	Namespace string
	// BootNamespace is where bootd reads Secrets: token keys and copied user data.
	BootNamespace string
	// AllowLoopback lets BMCs and NetBoxes be on loopback. For the demo and tests: never in production.
	AllowLoopback bool
	// DeniedTargets are ranges of the cluster itself, where no BMC may be, nor the NetBox of a namespace's own ProviderConfig: Denied.
	DeniedTargets []netip.Prefix
	// NetBoxWebhookAddress is listened on for what NetBoxes tell of changes; "" listens for nothing.
	NetBoxWebhookAddress string
	// RedfishEventsAddress is listened on for the events that BMCs send; "" listens for none.
	RedfishEventsAddress string
	// Leader returns where the provider that leads takes such, as HOST:PORT; "" where none leads, or it doesn't say. Nil: this one leads.
	Leader func(ctx context.Context) (string, error)
	// Tracer of calls of what is outside; nil traces none.
	Tracer trace.Tracer
	// MinPollInterval is the shortest interval that a poll-interval annotation can ask for.
	MinPollInterval time.Duration
	// Failpoint is called at named points of a crash test, and may end the process. Nil outside such tests: call Fail.
	Failpoint func(name string)
	// OnShutdown registers what is to be done once all reconcilers have stopped, such as logging out of BMCs. Nil: call AtShutdown.
	OnShutdown func(func(ctx context.Context) error)
	// Cancel ends the manager with an error: for set-ups that fail after it was started. Nil: such an error is only logged.
	Cancel context.CancelCauseFunc
	// Mapper tells which kinds the API server serves. Nil: whatever the gate lets pass is believed to be served.
	Mapper meta.RESTMapper
	// Live reads past the cache. Nil: every kind is believed to stay, as KindStays asks.
	Live client.Reader
	// Now is the clock; nil is time.Now: call Clock.
	Now func() time.Time
}

// Fail is a failpoint: nothing happens here unless a crash test asked for this name.
func (o Options) Fail(name string) {
	if o.Failpoint != nil {
		o.Failpoint(name)
	}
}

// AtShutdown registers what is to be done once all reconcilers have stopped.
func (o Options) AtShutdown(fn func(ctx context.Context) error) {
	if o.OnShutdown != nil {
		o.OnShutdown(fn)
	}
}

// Clock returns the time.
func (o Options) Clock() time.Time {
	if o.Now != nil {
		return o.Now()
	}
	return time.Now()
}

// Denied are the ranges of the cluster itself: DeniedTargets and the one address of it that a provider knows, that of its API
// server. A pod isn't told the others: an operator names them by a flag, since a tenant writes ProviderConfigs himself. Loopback has
// its own rule.
func (o Options) Denied(apiServer string) []netip.Prefix {
	u, err := url.Parse(apiServer)
	if err != nil {
		return o.DeniedTargets
	}
	addr, err := netip.ParseAddr(u.Hostname())
	if err != nil || addr.IsLoopback() {
		return o.DeniedTargets
	}
	return append(slices.Clone(o.DeniedTargets), netip.PrefixFrom(addr, addr.BitLen()))
}

// Recorder records events under a controller's name. It uses the old events API: Crossplane's RBAC manager gives a provider no
// right to events.k8s.io.
func (o Options) Recorder(mgr ctrl.Manager, name string) event.Recorder {
	return event.NewAPIRecorder(mgr.GetEventRecorderFor(name), append(slices.Clone(o.EventFilterFunctions), conflicted)...)
}

// conflict is how the API server ends its word that somebody wrote an object in between.
const conflict = "the object has been modified; please apply your changes to the latest version and try again"

// conflicted says of an event that it tells nobody anything: the managed reconciler warns of a conflict where it writes what was initialised late,
// as where its cache is a moment behind, and tries again at once.
func conflicted(_ runtime.Object, e event.Event) bool { return strings.HasSuffix(e.Message, conflict) }

const (
	// firstRetry is soon, because a retry is how the managed reconciler goes on after Create and Delete.
	firstRetry = 200 * time.Millisecond
	lastRetry  = 30 * time.Second
)

// ForController returns options for a controller of ours, with back-off from 0.2 s to 30 s.
func (o Options) ForController() controller.Options {
	c := o.ForControllerRuntime()
	c.RateLimiter = workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](firstRetry, lastRetry)
	return c
}

const (
	// servedPatience is how long the API server may take to serve a kind whose CRD is established, servedRetry between looks.
	servedPatience = time.Minute
	servedRetry    = 100 * time.Millisecond
)

// Gated runs setup as soon as all the CRDs it needs are there: at once where there's no gate. A setup that fails later ends the
// manager, so that the pod is restarted rather than deaf.
func (o Options) Gated(setup func() error, gvks ...schema.GroupVersionKind) error {
	if o.Gate == nil {
		return setup()
	}
	o.Gate.Register(func() {
		err := o.served(gvks)
		if err == nil {
			err = setup()
		}
		if err == nil {
			return
		}
		err = fmt.Errorf("cannot set up the controller of %v: %w", gvks, err)
		o.Logger.Info("A controller can't be set up", "error", err)
		if o.Cancel != nil {
			o.Cancel(err)
		}
	}, gvks...)
	return nil
}

// served waits until the API server serves kinds: for a moment after a CRD was established its discovery doesn't list it.
func (o Options) served(gvks []schema.GroupVersionKind) error {
	if o.Mapper == nil {
		return nil
	}
	for _, gvk := range gvks {
		err := wait.PollUntilContextTimeout(context.Background(), servedRetry, servedPatience, true, func(context.Context) (bool, error) {
			_, err := o.Mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
			if meta.IsNoMatchError(err) {
				return false, nil
			}
			return err == nil, err
		})
		if err != nil {
			return fmt.Errorf("the API server doesn't serve %s: %w", gvk.Kind, err)
		}
	}
	return nil
}

// Leads says whether this provider is the one that works.
func (o Options) Leads(mgr ctrl.Manager) bool {
	if o.Leader == nil {
		return true
	}
	select {
	case <-mgr.Elected():
		return true
	default:
		return false
	}
}
