package redfishhost

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
)

// stagedRest is how long after the boot that a staged order comes with the BMC may
// take to show it.
const stagedRest = 15 * time.Minute

var orderFacet = facet{ //nolint:gochecknoglobals // A row of the table of facets.
	actions: []action{actSetOrder},
	begin:   beginOrder, resume: resumeOrder, failed: bootFailed, noted: bootNoted, readBack: inOrder,
	perform: func(ctx context.Context, _ *external, bmc BMC, s redfish.System, a act) (redfish.Receipt, error) {
		via, err := bmc.SetBootOrder(ctx, s, a.lines())

		return redfish.Receipt{Via: &via}, err //nolint:wrapcheck // The caller asks for its kind.
	},
	event: func(act) event.Event { return event.Normal("BootOrderSet", "the boot order begins as declared") },
}

func orderAct(v view) act {
	return act{Action: actSetOrder, Wish: digest(v.want.order...), Option: strings.Join(v.want.order, "\n")}
}

// beginOrder brings the declared entries to the front of the persistent boot order,
// and again where somebody else moved them. What the declared words stand for was
// found when it was set; the steady look compares references.
func beginOrder(v view, j journal) step {
	if len(v.want.order) == 0 {
		if j.Boot.Order == nil {
			return step{}
		}
		j.Boot.Order, j.Boot.Ordered = nil, nil
		j.forget(false, false)

		return step{journal: &j, why: "no boot order is declared any more: it stays as it is"}
	}
	a := orderAct(v)
	t := j.Boot.Ordered.of(a.Wish)
	if o := j.Boot.Order; o != nil && o.Wish == a.Wish {
		switch {
		case inFront(v.seen.boot.Order, o.First):
			return step{}
		case o.Staged:
			if st, over := staged(v, j); !over {
				return st
			}
		}
		if o.Turns.contested(v.now) && !t.Over {
			return contested(v, j, a)
		}
	}
	switch {
	case t.hopeless(v), t.resting(v, actSetOrder) && !t.Over:
		return step{}
	case t.Over:
		j.Boot.Ordered = nil // What stood in the way may be mended.
	}

	return start(v, j, a)
}

// staged waits for the boot that an order comes with. It is over when that is long
// ago, and the order didn't come.
func staged(v view, j journal) (step, bool) {
	o := *j.Boot.Order
	switch {
	case o.Booted.IsZero() && v.seen.off() && o.Power != redfish.PowerOff:
		o.Power = redfish.PowerOff // The next time that it's on is a boot.
	case o.Booted.IsZero() && bootedSince(act{Power: o.Power, LastReset: o.LastReset}, v.seen):
		o.Booted = v.now.UTC().Truncate(time.Second)
	case o.Booted.IsZero():
		return step{}, false
	default:
		return step{}, v.rested(actSetOrder, o.Booted) >= stagedRest
	}
	j.Boot.Order = &o

	return step{journal: &j, why: "a staged boot order waits for a boot"}, false
}

func resumeOrder(v view, j journal) step {
	switch {
	case len(v.want.order) == 0:
		return finish(j, "no boot order is declared any more")
	case mustGoOff(v):
		return beginOff(v, j)
	}
	now := orderAct(v)
	if now.Wish != j.Act.Wish {
		return start(v, j, now)
	}

	return retry(v, j, now)
}

// inOrder is how things are after the boot order was set.
func inOrder(v view, j journal, r redfish.Receipt) (*journal, seen) {
	a, s := *j.Act, v.seen
	o := &ordered{Wish: a.Wish, Power: a.Power, LastReset: a.LastReset}
	if was := j.Boot.Order; was != nil && was.Wish == a.Wish {
		o.Turns = was.Turns
	}
	o.Turns = o.Turns.next(v.now)
	if r.Via != nil {
		// A journal isn't as long as a BMC likes; what is in front of the rest tells enough.
		o.First, o.Staged = firstOf(r.Via.First, maxShownOrder), r.Via.Staged
	}
	rest := s.boot.Order
	for _, ref := range o.First {
		rest = without(rest, ref)
	}
	if !o.Staged {
		s.boot.Order = slices.Concat(o.First, rest)
	}
	a.Option = ""
	j.Act = &a
	j.Boot.Order, j.Boot.Ordered, j.Boot.Via = o, nil, viaOf(r, nil)

	return finish(j, "").journal, s
}
