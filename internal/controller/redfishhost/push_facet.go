package redfishhost

import (
	"context"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
)

// pushBMC is what events that a BMC sends need of it.
type pushBMC interface {
	Subscriptions(ctx context.Context, mine func(redfish.Subscription) bool) ([]redfish.Subscription, error)
	SubscriptionAt(ctx context.Context, uri string) (redfish.Subscription, error)
	Subscribe(ctx context.Context, destination, word string) (redfish.Receipt, error)
	Unsubscribe(ctx context.Context, s redfish.Subscription) error
}

const (
	// actSubscribe has the BMC send its events to us.
	actSubscribe action = "Subscribe"
	// actUnsubscribe ends that, or what is left of an earlier one.
	actUnsubscribe action = "Unsubscribe"
)

// pushSeen is what is wanted of the BMC's subscriptions, and what was seen of them.
type pushSeen struct {
	// to is the receiver's URL; "" where nothing is to be sent to it.
	to string
	// host is by what a first subscription is known, and secret what a new one has.
	host, secret string
	// ours are the host's; known is false where they weren't read, and why says then, or
	// of a BMC that has none, what stands in the way.
	ours  []redfish.Subscription
	known bool
	why   error
	// assumed says that one was made a moment ago, and not looked for yet.
	assumed bool
}

// has says whether the subscription is there that a record is about.
func (p pushSeen) has(r pushRecord) (redfish.Subscription, bool) {
	for _, s := range p.ours {
		if r.is(s) {
			return s, r.To == p.to
		}
	}

	return redfish.Subscription{}, false
}

// left are ours but the one that is wanted.
func (p pushSeen) left(r pushRecord, wanted bool) []redfish.Subscription {
	var out []redfish.Subscription
	kept := !wanted || r.To != p.to
	for _, s := range p.ours {
		if !kept && r.is(s) {
			kept = true

			continue
		}
		out = append(out, s)
	}

	return out
}

// pushFacet has the BMC send its events to us, after everything else: nothing waits
// for it, and it stands in nobody's way.
var pushFacet = facet{ //nolint:gochecknoglobals // A row of the table of facets.
	actions: []action{actSubscribe, actUnsubscribe},
	begin:   beginPush, resume: resumePush, perform: performPush, failed: pushFailed, noted: notePush, readBack: wasPushed,
	event: func(a act) event.Event {
		if a.Action == actUnsubscribe {
			return event.Normal("EventsUnsubscribed", "the BMC was told to send no more events")
		}

		return event.Normal("EventsSubscribed", "the BMC was told to send its events")
	},
}

// wantsPush says whether the BMC is to send its events.
func (v view) wantsPush() bool { return v.seen.push.to != "" && !v.want.leaving }

func beginPush(v view, j journal) step {
	p, r := v.seen.push, j.Push
	found, has := p.has(r)
	switch {
	case p.assumed, !v.wantsPush() && r.ID == "":
		return step{}
	case !v.wantsPush() && p.known && len(p.ours) == 0:
		j.Push = pushRecord{}

		return step{journal: &j, why: "the BMC sends us nothing any more"}
	case !v.wantsPush():
		return attempt(v, j, act{Action: actUnsubscribe, Target: r.ID})
	case !p.known, p.why != nil:
		return step{}
	case len(p.left(r, true)) > 0 && has:
		return attempt(v, j, act{Action: actUnsubscribe, Target: r.word()}) // One came late, after another one was made.
	case has:
		return keepPush(v, j, found)
	}
	if r.To != p.to {
		r.Tries, r.Unseen = 0, 0
	}
	if r.Asked == v.asked && (r.Unseen >= pushUnseen || r.Tries > 0 && v.rested(actSubscribe, r.Tried) < r.rest()) {
		return step{}
	}
	if r.Asked != v.asked {
		r.Unseen = 0
	}
	r.ID, r.Digest, r.To, r.URI, r.Asked = or(r.ID, p.host), secretDigest(p.secret), p.to, "", v.asked
	r.Tried, r.Tries = v.now.UTC().Truncate(time.Second), r.Tries+1
	j.Push = r

	return start(v, j, act{Action: actSubscribe, Target: r.ID})
}

// keepPush writes down that a subscription is there, and that it lasts.
func keepPush(v view, j journal, s redfish.Subscription) step {
	r := j.Push
	r.URI, r.Unseen, r.Reason, r.Message = s.URI, 0, "", ""
	if len(s.URI) > pushURI {
		r.URI = "" // It's found by its marks.
	}
	if r.Tries > 0 && v.rested(actSubscribe, r.Tried) > 2*lookAge {
		r.Tries = 0
	}
	if r == j.Push {
		return step{}
	}
	j.Push = r

	return step{journal: &j, why: "the BMC has our subscription"}
}

// resumePush goes on with an act whose answer nobody heard. A subscription that isn't
// there in a while is made anew, with another secret: if it comes all the same, it's
// ours, and ended.
func resumePush(v view, j journal) step {
	a, p := *j.Act, v.seen.push
	failedNow := a
	failedNow.State = failed
	_, has := p.has(j.Push)
	switch {
	case mustGoOff(v):
		return beginOff(v, j)
	case a.Action == actUnsubscribe:
		return step{journal: j.with(failedNow), why: "the subscriptions are looked at again"}
	case !v.wantsPush():
		return finish(j, "no events are wanted any more")
	case p.known && has:
		return finish(j, "the BMC has our subscription")
	case v.lap(a).age < settle:
		return step{wait: true, why: "a subscription is on its way"}
	default:
		return step{journal: j.with(failedNow), why: "the BMC has no subscription of ours"}
	}
}

// performPush looks at the subscriptions once more. What is ours and isn't wanted is
// ended, and nobody else's ever; one is made where there's none.
func performPush(ctx context.Context, e *external, bmc BMC, _ redfish.System, a act) (redfish.Receipt, error) {
	r := e.pushRecord
	ours, err := bmc.Subscriptions(ctx, r.ours)
	if redfish.IsUnsupported(err) && a.Action == actUnsubscribe {
		return redfish.Receipt{}, nil // Whatever was there is gone.
	}
	if err != nil && a.Action == actUnsubscribe {
		return redfish.Receipt{}, err //nolint:wrapcheck // It was an attempt: what can't be read keeps no host for ever.
	}
	if err != nil {
		return redfish.Receipt{}, notCalledError{err}
	}
	p, wanted := e.push, e.push.to != "" && !e.want.leaving
	p.ours = ours
	for _, s := range p.left(r, wanted) {
		if err := bmc.Unsubscribe(ctx, s); err != nil {
			return redfish.Receipt{}, err //nolint:wrapcheck // The caller asks for its kind.
		}
	}
	e.connector.pushLooks.forget(e.host)
	if _, has := p.has(r); has || !wanted || a.Action == actUnsubscribe {
		return redfish.Receipt{}, nil
	}
	// Some tell of their new subscription at once.
	e.connector.pushes.expect(e.host, e.name, r)

	return bmc.Subscribe(ctx, strings.TrimRight(p.to, "/")+PathEvents+r.ID+"/"+p.secret, r.word()) //nolint:wrapcheck // As above.
}

// wasPushed is how things are after a call.
func wasPushed(v view, j journal, receipt redfish.Receipt) (*journal, seen) {
	s := v.seen
	switch {
	case j.Act.Action == actSubscribe:
		j.Push.URI, j.Push.Reason, j.Push.Message = receipt.Made, "", ""
		j.Push.Unseen++
		s.push.assumed = true
	case v.wantsPush():
		s.push.assumed = true
	default:
		j.Push = pushRecord{}
		s.push.ours, s.push.known = nil, true
	}

	return finish(j, "").journal, s
}

// pushFailed is what becomes of a call that failed. One that the BMC answered waits
// for its time; after another one it's looked whether it was heard.
func pushFailed(v view, a act, err error) act {
	if a.Action == actUnsubscribe {
		return unsent(v, a, err)
	}
	if answered(err) || redfish.IsSubscriptionsFull(err) {
		a.State, a.Refused = failed, true
	}

	return a
}

// notePush writes down why there's no subscription.
func notePush(_ view, j *journal, err error) {
	if j.Act.Action == actSubscribe {
		j.Push.Reason, j.Push.Message = whyUnsubscribed(err)
	}
}
