package controller

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/crossplane/crossplane-runtime/v2/pkg/ratelimiter"
	"github.com/go-logr/logr"
	"go.opentelemetry.io/otel/trace"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/healthz"

	"github.com/crossplane-contrib/provider-baremetal/internal/controller/config"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/wiring"
)

// Settings are how the provider runs.
type Settings struct {
	// Log of everything, and Version for change logs.
	Log     logr.Logger
	Version string
	// Kube is how to reach the API server.
	Kube *rest.Config
	// Namespace of the provider, and that of bootd.
	Namespace, BootNamespace string
	// MetricsAddress and ProbeAddress are listened on; "0" is off.
	MetricsAddress, ProbeAddress string
	// LeaderElection lets one of several providers work.
	LeaderElection bool
	// Poll is between looks at a resource that is as it should be, MinPoll the shortest that an annotation may ask for, Sync
	// between times at which everything is looked at.
	Poll, MinPoll, Sync time.Duration
	// MaxReconcileRate is how many reconciles may be started per second, and how many may run at once for a kind, up to 50.
	MaxReconcileRate int
	// ManagementPolicies respects spec.managementPolicies. Without it, a resource with any but the default is refused.
	ManagementPolicies bool
	// ChangeLogs sends each change of an external thing to ChangeLogsSocket.
	ChangeLogs       bool
	ChangeLogsSocket string
	// AllowLoopback lets BMCs and NetBoxes be on loopback.
	AllowLoopback bool
	// NetBoxWebhookAddress is listened on for what NetBoxes tell of changes; "" listens for nothing.
	NetBoxWebhookAddress string
	// RedfishEventsAddress is listened on for the events that BMCs send; "" listens for none.
	RedfishEventsAddress string
	// Tracer of calls of what is outside; nil traces none.
	Tracer trace.Tracer
	// DeniedTargets are ranges that no BMC may be in, whatever a provider config allows.
	DeniedTargets []netip.Prefix
	// Failpoint of a crash test, or nil.
	Failpoint func(name string)
}

// farewell is how long the things to do at shutdown may take together.
const farewell = 10 * time.Second

// Run runs the provider until ctx ends or something fails for good.
func Run(ctx context.Context, s Settings) error {
	ctrl.SetLogger(quiet(s.Log))
	logging.SetFilteredKlogLogger(s.Log)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)

	l, err := newLease(ctx, s)
	if err != nil {
		return err
	}
	mgr, err := newManager(s, l)
	if err != nil {
		return err
	}
	o, err := options(ctx, mgr, s, cancel)
	if err != nil {
		return err
	}
	if l != nil {
		o.Leader = l.leader
	}
	last := &farewells{}
	o.OnShutdown = last.add
	if err := Setup(mgr, o); err != nil {
		return fmt.Errorf("cannot set up controllers: %w", err)
	}
	err = mgr.Start(ctx)
	return errors.Join(err, failure(ctx), last.run(context.WithoutCancel(ctx)))
}

// quiet is for controller-runtime, whose news are debugging to us: errors stay what they are.
func quiet(l logr.Logger) logr.Logger { return l.V(1) }

// failure is why ctx was ended from within, or nil where it was ended from without.
func failure(ctx context.Context) error {
	if err := context.Cause(ctx); err != nil && !errors.Is(err, ctx.Err()) {
		return err
	}
	return nil
}

// newManager makes a manager that is elected by a lease, or by a lock of its own where that's nil.
func newManager(s Settings, l *lease) (ctrl.Manager, error) {
	scheme, err := newScheme()
	if err != nil {
		return nil, err
	}
	o := managerOptions(s, scheme)
	l.into(&o)
	mgr, err := ctrl.NewManager(ratelimiter.LimitRESTConfig(s.Kube, s.MaxReconcileRate), o)
	if err != nil {
		return nil, fmt.Errorf("cannot make a manager: %w", err)
	}
	l.tells(mgr)
	if err := errors.Join(mgr.AddHealthzCheck("ping", healthz.Ping), mgr.AddReadyzCheck("caches", synced(mgr.GetCache()))); err != nil {
		return nil, fmt.Errorf("cannot add a health check: %w", err)
	}
	return mgr, nil
}

// options assembles what every controller is given.
func options(ctx context.Context, mgr ctrl.Manager, s Settings, cancel context.CancelCauseFunc) (wiring.Options, error) {
	direct, err := client.New(mgr.GetConfig(), client.Options{Scheme: mgr.GetScheme(), Mapper: mgr.GetRESTMapper()})
	if err != nil {
		return wiring.Options{}, fmt.Errorf("cannot make a client: %w", err)
	}
	id, err := ClusterID(ctx, direct, s.Namespace, rand.Reader)
	if err != nil {
		return wiring.Options{}, err
	}
	runtime, err := runtimeOptions(s)
	if err != nil {
		return wiring.Options{}, err
	}
	return wiring.Options{
		Options:       runtime,
		Config:        config.NewResolver(mgr.GetClient(), mgr.GetCache(), mgr.GetAPIReader()),
		ClusterID:     id,
		Namespace:     s.Namespace,
		BootNamespace: s.BootNamespace,
		AllowLoopback: s.AllowLoopback,
		DeniedTargets: s.DeniedTargets,

		NetBoxWebhookAddress: s.NetBoxWebhookAddress,
		RedfishEventsAddress: s.RedfishEventsAddress,
		Tracer:               s.Tracer,
		MinPollInterval:      s.MinPoll,
		Failpoint:            s.Failpoint,
		Cancel:               cancel,
		Mapper:               mgr.GetRESTMapper(),
		Live:                 mgr.GetAPIReader(),
	}, nil
}
