package redfishhost

import (
	"context"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/gate"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/config"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/wiring"
)

// timeout of one reconcile: some BMCs take a second or two for each of the
// hundred resources of an inventory.
const timeout = 5 * time.Minute

// Setup adds the controller of RedfishHosts. At shutdown it logs out of all BMCs.
func Setup(mgr ctrl.Manager, o wiring.Options) error {
	if err := Index(context.Background(), mgr.GetFieldIndexer()); err != nil {
		return err
	}
	gates := gate.New(redfish.Connect)
	o.AtShutdown(func(ctx context.Context) error {
		gates.Close(ctx)

		return nil
	})
	gvk := v1alpha1.RedfishHostGroupVersionKind

	connector := NewConnector(Options{
		Kube: mgr.GetClient(),
		Resolve: func(ctx context.Context, host *v1alpha1.RedfishHost) (config.Redfish, error) {
			return o.Config.Redfish(ctx, host, host.Spec.ForProvider.CredentialsSecretRef)
		},
		Gates:         Gates{gates},
		AllowLoopback: o.AllowLoopback,
		Denied:        o.Denied(mgr.GetConfig().Host),
		Recorder:      o.Recorder(mgr, managed.ControllerName(gvk.GroupKind().String())),
		Failpoint:     o.Fail,
		Now:           o.Clock,
	})

	return wiring.Setup(mgr, o, wiring.Kind[*v1alpha1.RedfishHost]{
		GVK:                gvk,
		Connector:          connector,
		UsesProviderConfig: true,
		Secrets:            secretsOf,
		Pending:            connector.Pending,
		Timeout:            timeout,
	})
}

// Pending says whether a host is to be looked at again soon: something is on its
// way, or its BMC had no time for the last look.
func (c *Connector) Pending(host *v1alpha1.RedfishHost) bool {
	return PollSoon(host) || c.postponed.has(host.GetUID())
}

// secretsOf lists the Secrets that a host itself names.
func secretsOf(host *v1alpha1.RedfishHost) []types.NamespacedName {
	ref := host.Spec.ForProvider.CredentialsSecretRef
	if ref == nil {
		return nil
	}

	return []types.NamespacedName{{Namespace: host.GetNamespace(), Name: ref.Name}}
}
