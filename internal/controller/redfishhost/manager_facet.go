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
// on its way: sessions, tasks and virtual media end with it. It's done once for a
// generation, whatever becomes of it: a BMC that restarts may not answer.
var managerFacet = facet{ //nolint:gochecknoglobals // A row of the table of facets.
	actions: []action{actResetBMC},
	wants:   func(p v1alpha1.RedfishHostParameters, w *want) { w.bmcReset = p.BMCResetGeneration },
	begin: func(v view, j journal) step {
		if v.want.bmcReset <= j.BMCReset {
			return step{}
		}
		a := act{Action: actResetBMC, Generation: v.want.bmcReset}
		if last := j.Act; last != nil && last.Action == actResetBMC && last.Generation == a.Generation && last.State == failed {
			// The BMC refused: it wasn't restarted.
			if a.Attempts = last.Attempts; last.last() && last.Attempts > 0 {
				j.BMCReset = a.Generation

				return step{journal: &j, why: "the BMC refuses to be restarted"}
			}
		}

		return start(v, j, a)
	},
	resume: func(_ view, j journal) step {
		// The call was made, or the process was killed just before: never twice.
		j.BMCReset = j.Act.Generation

		return finish(j, "the BMC was restarted")
	},
	failed: unsent,
	perform: func(ctx context.Context, _ *external, bmc BMC, s redfish.System, _ act) (redfish.Receipt, error) {
		return redfish.Receipt{}, bmc.ResetBMC(ctx, s) //nolint:wrapcheck // The caller asks for its kind.
	},
	readBack: func(v view, j journal, _ redfish.Receipt) (*journal, seen) {
		j.BMCReset = j.Act.Generation

		return finish(j, "").journal, v.seen
	},
	event: func(act) event.Event { return event.Normal("BMCRestarted", "the BMC was restarted") },
}
