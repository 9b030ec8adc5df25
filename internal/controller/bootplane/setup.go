// Package bootplane keeps what bootd and people need to know of the boot plane: token keys, and the state of profiles and networks.
package bootplane

import (
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/crossplane-contrib/provider-baremetal/internal/controller/wiring"
)

// Setup adds the controllers of the boot plane.
func Setup(ctrl.Manager, wiring.Options) error { return nil }
