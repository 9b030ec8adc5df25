package controller

import (
	"fmt"
	"time"

	changelogs "github.com/crossplane/crossplane-runtime/v2/apis/changelogs/proto/v1alpha1"
	xpcontroller "github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/feature"
	"github.com/crossplane/crossplane-runtime/v2/pkg/gate"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/crossplane/crossplane-runtime/v2/pkg/ratelimiter"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/customresourcesgate"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/statemetrics"
	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/config"
)

const (
	leaderElectionID = "crossplane-leader-election-provider-baremetal"
	// leaseDuration and renewDeadline outlast a short outage of the API server: a provider that loses its lease restarts.
	leaseDuration = 30 * time.Second
	renewDeadline = 20 * time.Second
	// graceful is how long reconciles may take to end at shutdown. With farewell it's within the 30 seconds that a pod is given by default.
	graceful = 15 * time.Second
	// stateMetrics is between counts of resources by state.
	stateMetrics = 30 * time.Second
)

// newScheme returns a scheme of all kinds that the provider touches.
func newScheme() (*runtime.Scheme, error) {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, apiextensionsv1.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(s); err != nil {
			return nil, fmt.Errorf("cannot make a scheme: %w", err)
		}
	}
	return s, nil
}

// managerOptions are what the manager is made with. Secrets and ConfigMaps are read past the cache: whole clusters of them are
// none of our business. Of Secrets only metadata are watched, and of these only what says that one has changed.
func managerOptions(s Settings, scheme *runtime.Scheme) ctrl.Options {
	lease, renew, end := leaseDuration, renewDeadline, graceful
	return ctrl.Options{
		Scheme: scheme,
		Logger: quiet(s.Log),
		Cache: cache.Options{
			SyncPeriod:       &s.Sync,
			DefaultTransform: cache.TransformStripManagedFields(),
			ByObject: map[client.Object]cache.ByObject{
				&corev1.Secret{}:                            {Transform: stripSecret},
				&v1alpha1.ProviderConfigUsage{}:             {Transform: config.StripUsage},
				&apiextensionsv1.CustomResourceDefinition{}: {Transform: customresourcesgate.TransformStripCRDSchema},
			},
		},
		Client: client.Options{
			Cache: &client.CacheOptions{DisableFor: []client.Object{&corev1.Secret{}, &corev1.ConfigMap{}}},
		},
		Metrics:                       metricsserver.Options{BindAddress: s.MetricsAddress},
		HealthProbeBindAddress:        s.ProbeAddress,
		LeaderElection:                s.LeaderElection,
		LeaderElectionID:              leaderElectionID,
		LeaderElectionNamespace:       s.Namespace,
		LeaderElectionReleaseOnCancel: true, // The process ends right after.
		LeaseDuration:                 &lease,
		RenewDeadline:                 &renew,
		GracefulShutdownTimeout:       &end,
	}
}

// stripSecret takes what isn't needed off a Secret's metadata: kubectl keeps all its data in an annotation.
func stripSecret(o any) (any, error) {
	if m, ok := o.(metav1.Object); ok {
		m.SetAnnotations(nil)
		m.SetManagedFields(nil)
	}
	return o, nil
}

// mostAtOnce is how many reconciles of a kind run at once, whatever their rate: what a BMC or a NetBox keeps waiting waits in few of them.
const mostAtOnce = 50

// runtimeOptions are crossplane-runtime's.
func runtimeOptions(s Settings) (xpcontroller.Options, error) {
	mrs, states := managed.NewMRMetricRecorder(), statemetrics.NewMRStateMetrics()
	for _, c := range []prometheus.Collector{mrs, states} {
		if err := metrics.Registry.Register(c); err != nil {
			return xpcontroller.Options{}, fmt.Errorf("cannot register metrics: %w", err)
		}
	}
	o := xpcontroller.Options{
		Logger:                  logging.NewLogrLogger(s.Log),
		GlobalRateLimiter:       ratelimiter.NewGlobal(s.MaxReconcileRate),
		PollInterval:            s.Poll,
		MaxConcurrentReconciles: min(s.MaxReconcileRate, mostAtOnce),
		Features:                &feature.Flags{},
		Gate:                    new(gate.Gate[schema.GroupVersionKind]),
		MetricOptions: &xpcontroller.MetricOptions{
			PollStateMetricInterval: stateMetrics, MRMetrics: mrs, MRStateMetrics: states,
		},
	}
	if s.ManagementPolicies {
		o.Features.Enable(feature.EnableBetaManagementPolicies)
	}
	if !s.ChangeLogs {
		return o, nil
	}
	o.Features.Enable(feature.EnableAlphaChangeLogs)
	var err error
	o.ChangeLogOptions, err = changeLogs(s)
	return o, err
}

// changeLogs sends changes to a sidecar's socket, which need not be there yet.
func changeLogs(s Settings) (*xpcontroller.ChangeLogOptions, error) {
	conn, err := grpc.NewClient("unix://"+s.ChangeLogsSocket, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return nil, fmt.Errorf("cannot use %q for change logs: %w", s.ChangeLogsSocket, err)
	}
	return &xpcontroller.ChangeLogOptions{ChangeLogger: managed.NewGRPCChangeLogger(
		changelogs.NewChangeLogServiceClient(conn), managed.WithProviderVersion("provider-baremetal:"+s.Version))}, nil
}
