// Command provider runs provider-baremetal: it makes managed resources so in NetBox and on BMCs, and binds claims to hosts.
package main

import (
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"
	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/crossplane-contrib/provider-baremetal/internal/controller"
	"github.com/crossplane-contrib/provider-baremetal/internal/heap"
)

// version is set by the linker.
var version = "dev"

// crashed is the exit code of a process that a failpoint ended: that of one killed by SIGKILL.
const crashed = 137

// cli holds the flags.
type cli struct {
	Debug                    bool             `env:"DEBUG" help:"Log at debug level." short:"d"`
	Kubeconfig               string           `help:"Kubeconfig of the cluster; default: that of the pod, $KUBECONFIG, or ~/.kube/config." type:"path"`
	Namespace                string           `default:"crossplane-system" env:"POD_NAMESPACE" help:"The provider's own namespace."`
	BootNamespace            string           `default:"baremetal-boot" env:"BOOT_NAMESPACE" help:"The namespace of bootd, its token keys, and copied user data."`
	LeaderElection           bool             `env:"LEADER_ELECTION" help:"Let one of several providers work." short:"l"`
	Poll                     time.Duration    `default:"1m" env:"POLL_INTERVAL" help:"How often a resource is looked at that is as it should be."`
	MinPoll                  time.Duration    `default:"10s" help:"The shortest poll interval that a resource's annotation may ask for."`
	Sync                     time.Duration    `default:"1h" env:"SYNC_INTERVAL" help:"How often everything is looked at." short:"s"`
	MaxReconcileRate         int              `default:"200" env:"MAX_RECONCILE_RATE" help:"How many reconciles may start per second; up to 50 run at once for one kind."`
	EnableManagementPolicies bool             `default:"true" env:"ENABLE_MANAGEMENT_POLICIES" help:"Respect spec.managementPolicies." negatable:""`
	EnableChangelogs         bool             `env:"ENABLE_CHANGE_LOGS" help:"Send each change of an external thing to the change log's socket."`
	ChangelogsSocketPath     string           `default:"/var/run/changelogs/changelogs.sock" env:"CHANGELOGS_SOCKET_PATH" help:"The change log's socket."`
	AllowLoopbackTargets     bool             `help:"Let BMCs and NetBoxes be on loopback. For demos and tests: never in production."`
	DeniedTargets            []netip.Prefix   `env:"DENIED_TARGETS" help:"CIDRs that no BMC may be in, nor the NetBox of a namespace's own ProviderConfig, whatever it allows: the cluster's Service and pod ranges, which a pod isn't told."`
	NetBoxWebhookAddress     string           `env:"NETBOX_WEBHOOK_ADDRESS" help:"Address to take NetBox's webhooks on, such as :9444; default: take none." name:"netbox-webhook-address"`
	RedfishEventsAddress     string           `env:"REDFISH_EVENTS_ADDRESS" help:"Address to take events on that BMCs send, such as :9445; default: take none."`
	MetricsBindAddress       string           `default:":8080" help:"Address to serve metrics on; 0: don't."`
	HealthProbeBindAddress   string           `default:":8081" help:"Address to serve /healthz and /readyz on; 0: don't."`
	Version                  kong.VersionFlag `help:"Print the version."`
}

// Run runs the provider until the process is told to stop.
func (c *cli) Run() error {
	kube, err := c.kube()
	if err != nil {
		return err
	}
	ctx := ctrl.SetupSignalHandler()
	tracer, end, err := tracing(ctx, c.logger())
	if err != nil {
		return err
	}
	defer end()
	return controller.Run(ctx, controller.Settings{ //nolint:wrapcheck // It says what failed.
		Log:                c.logger(),
		Version:            version,
		Kube:               kube,
		Namespace:          c.Namespace,
		BootNamespace:      c.BootNamespace,
		MetricsAddress:     c.MetricsBindAddress,
		ProbeAddress:       c.HealthProbeBindAddress,
		LeaderElection:     c.LeaderElection,
		Poll:               c.Poll,
		MinPoll:            c.MinPoll,
		Sync:               c.Sync,
		MaxReconcileRate:   c.MaxReconcileRate,
		ManagementPolicies: c.EnableManagementPolicies,
		ChangeLogs:         c.EnableChangelogs,
		ChangeLogsSocket:   c.ChangelogsSocketPath,
		AllowLoopback:      c.AllowLoopbackTargets,
		DeniedTargets:      c.DeniedTargets,
		Tracer:             tracer,

		NetBoxWebhookAddress: c.NetBoxWebhookAddress,
		RedfishEventsAddress: c.RedfishEventsAddress,

		Failpoint: failpoint(os.Getenv("BAREMETAL_FAILPOINT"), os.Exit),
	})
}

func (c *cli) kube() (*rest.Config, error) {
	if c.Kubeconfig == "" {
		return ctrl.GetConfig() //nolint:wrapcheck // It says where it looked.
	}
	kube, err := clientcmd.BuildConfigFromFlags("", c.Kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("cannot use kubeconfig %q: %w", c.Kubeconfig, err)
	}
	return kube, nil
}

// logger logs to standard error. Debug of crossplane-runtime is verbosity 1, one below Info.
func (c *cli) logger() logr.Logger {
	level := slog.LevelInfo
	if c.Debug {
		level = slog.LevelDebug
	}
	return logr.FromSlogHandler(slog.NewJSONHandler(os.Stderr, &slog.HandlerOptions{Level: level}))
}

// failpoint ends the process at the named points, comma-separated, as kill -9 would. Nil where none is named.
func failpoint(names string, exit func(code int)) func(name string) {
	if names == "" {
		return nil
	}
	points := strings.Split(names, ",")
	return func(name string) {
		if slices.Contains(points, name) {
			exit(crashed)
		}
	}
}

func main() {
	heap.Spare(heap.OfProvider)
	ctx := kong.Parse(&cli{},
		kong.Description("Bare-metal machines as Crossplane resources."),
		kong.Vars{"version": version})
	ctx.FatalIfErrorf(ctx.Run())
}
