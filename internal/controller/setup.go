// Package controller runs the provider's controllers: Setup is the list of its kinds, Run the process around them.
package controller

import (
	"fmt"

	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/customresourcesgate"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/bootentry"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/bootplane"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/config"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/lifecycle/hostclaim"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/netboxipaddress"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/redfishhost"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/wiring"
)

// A setup adds the controllers of one kind to the manager.
type setup func(mgr ctrl.Manager, o wiring.Options) error

// kinds is the list of them.
func kinds() []setup {
	return []setup{
		configs,
		netboxipaddress.Setup,
		redfishhost.Setup,
		bootentry.Setup,
		hostclaim.Setup,
		bootplane.Setup,
	}
}

// Setup adds the controllers of all kinds to the manager. Each starts as soon as the CRDs it needs are there.
func Setup(mgr ctrl.Manager, o wiring.Options) error {
	if o.Gate != nil {
		if err := customresourcesgate.Setup(mgr, o.Options); err != nil {
			return fmt.Errorf("cannot watch for CRDs: %w", err)
		}
	}
	for _, add := range kinds() {
		if err := add(mgr, o); err != nil {
			return err
		}
	}
	return nil
}

// configs adds the controllers of provider configs.
func configs(mgr ctrl.Manager, o wiring.Options) error {
	return o.Gated(func() error { return config.Setup(mgr, o.Options, o.Config, o.Clock) },
		v1alpha1.ProviderConfigGroupVersionKind,
		v1alpha1.ClusterProviderConfigGroupVersionKind,
		v1alpha1.ProviderConfigUsageGroupVersionKind)
}
