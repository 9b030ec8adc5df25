package redfishhost

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
)

// managerBMC is what a BMC's own restart needs.
type managerBMC interface {
	ResetBMC(ctx context.Context, s redfish.System) error
}

const actResetBMC action = "ResetBMC"

// managerFacet restarts the BMC itself, as a last resort and when nothing else is
// on its way, nor for another host of the same BMC: sessions, tasks and virtual media
// end with it. It's done once for a
// generation, whatever becomes of it: a BMC that restarts may not answer.
var managerFacet = facet{ //nolint:gochecknoglobals // A row of the table of facets.
	actions: []action{actResetBMC},
	wants:   func(p v1alpha1.RedfishHostParameters, w *want) { w.bmcReset = p.BMCResetGeneration },
	begin: func(v view, j journal) step {
		if v.want.bmcReset <= j.BMCReset || v.applying(j) || v.seen.shared { // The BMC may be what applies the settings.
			return step{}
		}

		return attempt(v, j, act{Action: actResetBMC, Generation: v.want.bmcReset})
	},
	resume: func(_ view, j journal) step {
		// The call was made, or the process was killed just before: never twice.
		j.BMCReset = j.Act.Generation

		return finish(j, "the BMC was restarted")
	},
	failed: restartFailed,
	perform: func(ctx context.Context, _ *external, bmc BMC, s redfish.System, _ act) (redfish.Receipt, error) {
		return redfish.Receipt{}, bmc.ResetBMC(ctx, s) //nolint:wrapcheck // The caller asks for its kind.
	},
	readBack: func(v view, j journal, _ redfish.Receipt) (*journal, seen) {
		j.BMCReset = j.Act.Generation

		return finish(j, "").journal, v.seen
	},
	event: func(act) event.Event { return event.Normal("BMCRestarted", "the BMC was restarted") },
}

// restartFailed is what becomes of a restart whose call failed: one that wasn't
// sent, or was refused, is tried again. A BMC that goes down may answer with a 503,
// or not at all: that was it.
func restartFailed(v view, a act, err error) act {
	if notCalled(err) || answered(err) {
		return unsent(v, a, err)
	}

	return a
}
