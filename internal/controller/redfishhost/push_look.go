package redfishhost

import (
	"context"
	"fmt"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
)

// pushLook is what was seen of a host's subscriptions.
type pushLook struct {
	ours  []redfish.Subscription
	known bool
	why   error
}

// wishPush is what a provider config wants of the events of a host's BMC, as it's
// known before a look.
func (c *Connector) wishPush(e *external, host *v1alpha1.RedfishHost, of *v1alpha1.RedfishEvents) {
	e.pushing = of != nil && of.Delivery == v1alpha1.DeliveryPush && of.ReceiverURL != ""
	e.pushRecord = parseJournal(host.GetAnnotations()[v1alpha1.AnnotationJournal]).pushOf()
	if e.pushing && c.TakesEvents {
		e.push = pushSeen{to: of.ReceiverURL, host: string(host.GetUID()), secret: newPushSecret()}
	}
}

// lookPush reads what of the BMC's subscriptions is the host's: one request in ten
// minutes, where it's there.
func (e *external) lookPush(ctx context.Context, bmc BMC, host *v1alpha1.RedfishHost) error {
	r := e.pushRecord
	if r.ID == "" && (e.push.to == "" || meta.WasDeleted(host) || !allows(host, xpv2.ManagementActionUpdate)) {
		return nil
	}
	j := parseJournal(host.GetAnnotations()[v1alpha1.AnnotationJournal])
	moving := j.pending() && slices.Contains(pushFacet.actions, j.Act.Action)
	leaving := meta.WasDeleted(host) || e.push.to == ""
	wanted := fmt.Sprint(r.ID, r.Digest, r.URI, e.push.to, leaving)
	l, err := e.connector.pushLooks.of(e.glance(wanted, moving), func() (*pushLook, bool, error) {
		if r.URI != "" && !leaving {
			s, err := bmc.SubscriptionAt(ctx, r.URI)
			if err == nil && r.is(s) {
				return &pushLook{ours: []redfish.Subscription{s}, known: true}, true, nil
			}
		}
		known := r
		known.ID = or(r.ID, e.push.host)
		ours, err := bmc.Subscriptions(ctx, known.ours)
		switch {
		case err == nil:
			return &pushLook{ours: ours, known: true}, true, nil
		case redfish.IsUnsupported(err):
			return &pushLook{known: true, why: err}, true, nil
		case !skipped(ctx, err):
			return nil, false, err //nolint:wrapcheck // The caller asks for its kind.
		default:
			return &pushLook{why: err}, !busy(err), nil
		}
	})
	if l != nil {
		e.push.ours, e.push.known, e.push.why = l.ours, l.known, l.why
	}

	return err
}

// hearPush expects what the BMC sends, and shows on the host how its changes are heard
// of. What a person may want to mend is told once.
func (e *external) hearPush(host *v1alpha1.RedfishHost, err error) {
	was, now := host.Status.AtProvider.Events, e.connector.Now()
	e.connector.streams.forget(e.host)
	if e.pushRecord.Digest != "" && e.pushRecord.To == e.push.to {
		e.connector.pushes.expect(e.host, e.name, e.pushRecord)
	}
	if was != nil && was.Delivery == v1alpha1.DeliveryStream {
		was = nil
	}
	is := datedEvents(e.shownPush(host, err), was, now)
	if is.Reason != "" && is.Reason != reasonConnecting && (was == nil || was.Reason != is.Reason) {
		e.connector.Recorder.Event(host, event.Warning("EventsNotSubscribed", errors.New(is.Message+"; the BMC is asked as ever")))
	}
	host.Status.AtProvider.Events = is
}

// shownPush is how changes of a host are heard of whose BMC is to send them; nil where
// that isn't known yet.
func (e *external) shownPush(host *v1alpha1.RedfishHost, err error) *v1alpha1.EventsObservation {
	p, r := e.push, e.pushRecord
	_, has := p.has(r)
	switch {
	case !e.connector.TakesEvents:
		return pollFor("NoReceiver", "the provider takes no events: start it with --redfish-events-address")
	case err != nil:
		return nil
	case has:
		return &v1alpha1.EventsObservation{Delivery: v1alpha1.DeliveryPush}
	case !allows(host, xpv2.ManagementActionUpdate):
		return pollFor("Observed", "a subscription is a write to the BMC, and managementPolicies allow none")
	case p.why != nil:
		return pollFor(whyUnsubscribed(p.why))
	case r.Unseen >= pushUnseen:
		return pollFor("NoEffect", "the BMC takes subscriptions and shows none")
	case r.Reason != "":
		return pollFor(r.Reason, r.Message)
	default:
		return nil
	}
}

// whyUnsubscribed says why a BMC sends nothing, in a word and in a sentence.
func whyUnsubscribed(err error) (reason, message string) {
	var e *redfish.Error
	_ = errors.As(err, &e)
	switch {
	case redfish.IsSubscriptionsFull(err):
		return "Full", "the BMC has no room for one more subscription: end one there that nobody needs, or raise its limit"
	case e != nil && e.Kind == redfish.Unsupported:
		return lacks(e.Field)
	case e != nil && e.Status != 0:
		return "Refused", fmt.Sprintf("the BMC answers a subscription to its events with status %d: look whether its account may subscribe, and whether it takes the receiverURL", e.Status)
	default:
		return "Unreachable", "the BMC didn't answer when it was asked for a subscription to its events"
	}
}

// pushOf is the journal's line about the subscription.
func (j *journal) pushOf() pushRecord {
	if j == nil || j.newer() {
		return pushRecord{}
	}

	return j.Push
}

// unhear has nothing expected of a host's BMC any more.
func (c *Connector) unhear(e *external) {
	if c.pushes.forget(e.host) {
		c.streams.hints.forget(e.host)
	}
}
