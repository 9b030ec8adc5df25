package redfishhost

import (
	"context"
	"slices"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
)

// A view is everything that a decision is made from. Deciding is pure: there is
// no clock in it but lap.
type view struct {
	want want
	// initial says that nobody sees the machine before its BMC's password is changed.
	initial bool
	// j is nil where there is no journal.
	j    *journal
	seen seen
	// now is only written down, never compared but with acts of other processes.
	now time.Time
	// spec is the generation of the host's spec.
	spec int64
	// asked is the newest look that a person asked for by annotation.
	asked string
	// lap tells how long an act has been on its way.
	lap func(act) lap
	// rests tells how long ago a thing of an action was seen, beside the act; nil
	// is by lap.
	rests func(a action, at time.Time) time.Duration
}

// rested is how long ago something was that is waited for.
func (v view) rested(a action, at time.Time) time.Duration {
	if v.rests == nil {
		return v.lap(act{Action: a, Time: at}).age
	}

	return v.rests(a, at)
}

// A facet is one thing that is wanted of a machine, with the acts that bring it
// about. What several of them need is in the view, so they don't know each other.
type facet struct {
	// actions that this facet begins, and is asked about while they are begun.
	actions []action
	// wants reads what the spec asks for.
	wants func(p v1alpha1.RedfishHostParameters, w *want)
	// begin decides what to do, given that no act is begun; an idle step: nothing.
	begin func(v view, j journal) step
	// resume decides how to go on with an act of its own that is begun.
	resume func(v view, j journal) step
	// perform makes the one call of an act, on its rung. What the act is too small
	// for (a map of settings, an image) is in the external's want.
	perform func(ctx context.Context, e *external, bmc BMC, s redfish.System, a act) (redfish.Receipt, error)
	// failed is what becomes of an act whose call failed; nil begins anew what the
	// BMC says it didn't do.
	failed func(v view, a act, err error) act
	// noted writes down what else a failed call says; nil is nothing.
	noted func(v view, j *journal, err error)
	// readBack is how things are after a call whose effect the client has seen
	// itself; nil where the next look tells.
	readBack func(v view, j journal, r redfish.Receipt) (*journal, seen)
	// conditions that show may set. Those that it doesn't are taken away.
	conditions []xpv2.ConditionType
	// show says how far what is wanted has come.
	show func(v view, in inputs) []xpv2.Condition
	// event is what a person reads about an act.
	event func(a act) event.Event
}

// facets in the order in which they begin: off before everything else, then
// images, BIOS settings, boot sources (they must be there before the machine
// starts; one for once covers a lasting one), a reset, and on; at last what no
// machine waits for.
var facets = []facet{ //nolint:gochecknoglobals // A table.
	offFacet, mediaFacet, biosFacet, secureBootFacet, orderFacet, lastingFacet, onceFacet, restoreFacet, resetFacet, onFacet,
	settingsFacet, managerFacet, rotationFacet, pushFacet,
}

// facetOf is the facet of an action; false for one of another version.
func facetOf(a action) (facet, bool) {
	for _, f := range facets {
		if slices.Contains(f.actions, a) {
			return f, true
		}
	}

	return facet{}, false
}

// wanted reads a host's spec.
func wanted(p v1alpha1.RedfishHostParameters) want {
	var w want
	for _, f := range facets {
		if f.wants != nil {
			f.wants(p, &w)
		}
	}

	return w
}
