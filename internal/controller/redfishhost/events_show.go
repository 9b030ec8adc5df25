package redfishhost

import (
	"errors"
	"fmt"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/gate"
)

const (
	// steadyUnits is how long a stream is open until it's shown: ten seconds. BMCs
	// that take one and end it at once would have the status written all the time.
	steadyUnits = 2
	// graceUnits is for how long one is still shown that was lost and is opened
	// again: two minutes.
	graceUnits = 24
	// reasonConnecting is of a BMC of which nothing is known yet.
	reasonConnecting = "Connecting"
)

// wantsEvents says whether the provider config has hosts' BMCs listened to.
func wantsEvents(e *v1alpha1.RedfishEvents) bool {
	return e != nil && (e.Delivery == v1alpha1.DeliveryStream || e.Delivery == v1alpha1.DeliveryAuto)
}

// hear has the host's BMC listened to where that's wanted, once a look at it was
// good, and shows on the host how its changes are heard of. err is why this look
// wasn't, or nil.
func (e *external) hear(host *v1alpha1.RedfishHost, err error) {
	l, uid := e.connector.streams, host.GetUID()
	was := host.Status.AtProvider.Events
	if !e.pushing && e.unusable == nil {
		e.connector.unhear(e)
	}
	switch {
	case meta.WasDeleted(host):
		return // It ends with the host.
	case e.pushing:
		e.hearPush(host, err)

		return
	case was != nil && was.Delivery == v1alpha1.DeliveryPush:
		was = nil
	}
	switch {
	case !e.events && (e.unusable == nil || was == nil):
		l.forget(uid)
		host.Status.AtProvider.Events = nil

		return
	case redfish.IsUnreachable(err):
		// It goes on trying, as the gatekeeper lets it.
	case err != nil, allows(host, xpv2.ManagementActionUpdate) && e.rotating(host):
		// Not with a password that is refused, or about to be another one, nor at
		// what isn't this host's machine.
		l.forget(uid)
	default:
		l.refresh(host, e.target)
	}
	host.Status.AtProvider.Events = datedEvents(l.shown(uid), was, e.connector.Now())
}

// datedEvents gives what is shown the time since when it's so. What isn't known yet
// is as it was.
func datedEvents(is, was *v1alpha1.EventsObservation, now time.Time) *v1alpha1.EventsObservation {
	if is == nil && was != nil {
		return was
	}
	if is == nil {
		is = pollFor(reasonConnecting, "the BMC is about to be listened to")
	}
	at := metav1.NewTime(now.Truncate(time.Second))
	is.Since = &at
	if was != nil && was.Delivery == is.Delivery && was.Since != nil {
		is.Since = was.Since
	}

	return is
}

func pollFor(reason, message string) *v1alpha1.EventsObservation {
	return &v1alpha1.EventsObservation{Delivery: v1alpha1.DeliveryPoll, Reason: reason, Message: message}
}

// shown is how changes of a host are heard of, without since when; nil where that
// isn't known yet.
func (l *streams) shown(host types.UID) *v1alpha1.EventsObservation {
	l.mu.Lock()
	defer l.mu.Unlock()
	s, now := l.of[l.at[host]], time.Now()
	switch {
	case s == nil:
		return pollFor("Stopped", "nobody listens to a BMC until a look at its host is good")
	case !s.up.IsZero() && now.Sub(s.up) >= steadyUnits*l.unit, !s.lost.IsZero() && now.Sub(s.lost) < graceUnits*l.unit:
		return &v1alpha1.EventsObservation{Delivery: v1alpha1.DeliveryStream}
	case s.why == nil:
		return nil
	default:
		return pollFor(whyPoll(s.why))
	}
}

// whyPoll says why a BMC isn't listened to, in a word and in a sentence that
// doesn't change while nothing else does.
func whyPoll(err error) (reason, message string) {
	e, _ := errors.AsType[*redfish.Error](err)
	switch {
	case gate.IsBusy(err), gate.NeedsLook(err):
		return "Waiting", "the BMC is listened to once it has a session that is open, and time"
	case errors.Is(err, redfish.ErrStreamClosed):
		return "Closed", "the BMC ends its streams soon after it has opened them"
	case errors.Is(err, redfish.ErrStreamSilent):
		return "Silent", "nothing came from the BMC for a quarter of an hour"
	case errors.Is(err, redfish.ErrStreamFlooded):
		return "Flooded", "the BMC tells more than 1000 events, or 2 MiB, in a minute: have it tell less"
	case errors.Is(err, redfish.ErrStreamGarbage):
		return "Malformed", "what the BMC sends isn't a stream of events: a line has more than 1 MiB"
	case e == nil:
		return "Failed", "the provider couldn't follow what the BMC sends: its log says why"
	case e.Kind == redfish.Unsupported:
		return lacks(e.Field)
	case e.Kind == redfish.Unreachable && e.Status == 0:
		return "Unreachable", "the BMC doesn't answer where it says that it tells of changes"
	case e.Kind == redfish.Protocol:
		return "Malformed", "what the BMC answers where it says that it tells of changes isn't a stream of events"
	case e.Status != 0:
		return "Refused", fmt.Sprintf("the BMC answers with status %d where it says that it tells of changes: look whether its account may listen, and whether others have all streams", e.Status)
	default:
		return "Refused", "the BMC may not be asked"
	}
}

// lacks says what a BMC lacks.
func lacks(field string) (reason, message string) {
	switch field {
	case "ServiceEnabled":
		return "Disabled", "the BMC's event service is switched off: switch it on there"
	case "Session":
		return "NoSession", "the BMC lets us in by the password alone, since it has no session left: a stream would take one more"
	default:
		return "NotOffered", "the BMC has no " + field
	}
}
