package netboxipaddress

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

const (
	// outstandingFor is how long after it was given up a record may still be made: NetBox carries a POST out when its lock is free.
	outstandingFor = time.Minute
	// askingFor is how long after its Create began a POST isn't given up, at least, whatever our own timeout is: a NetBox's gunicorn works at a
	// request for two minutes, though nobody listens any more. It's longer than a Create takes.
	askingFor = 2 * time.Minute
	// skew is by how much clocks may differ. A time that is later is no time.
	skew = time.Minute
)

// An outstandingError keeps a resource that is being deleted until no record of it can come any more.
type outstandingError struct{ until time.Time }

func (e outstandingError) Error() string { return "a record may still be made" }

func (e outstandingError) words(in inputs) (reason xpv2.ConditionReason, message string) {
	return v1alpha1.ReasonUnreachable, fmt.Sprintf("the NetBox of %s was asked for an address and hasn't said whether it gave one: it may do so late, and nobody would free it; "+
		"it is looked for until %s, and then this resource goes", in.config, e.until.UTC().Format(time.RFC3339))
}

// outstanding keeps a resource that is being deleted as long as a record may come of what was asked for and never answered, or may not be shown
// yet.
func (e *external) outstanding(mg *v1alpha1.NetBoxIPAddress) error {
	until, may := e.connector.mayCome(mg)
	if !may {
		return e.hidden(mg, created(mg))
	}
	e.connector.Again(types.NamespacedName{Namespace: mg.GetNamespace(), Name: mg.GetName()}, until)
	return outstandingError{until}
}

// A lateError is a Create that was held up before it asked for anything, as where its process or machine stood still.
type lateError struct{ began time.Time }

func (e lateError) Error() string { return "it is too late to ask" }

func (e lateError) words(in inputs) (reason xpv2.ConditionReason, message string) {
	return v1alpha1.ReasonUnreachable, fmt.Sprintf("the provider said at %s that it is about to ask the NetBox of %s for an address, and was held up for so long that nobody may wait for the record any more: "+
		"nothing was asked for; it is tried again", e.began.UTC().Format(time.RFC3339), in.config)
}

// late says, by an error, that it's too late to ask for what a Create was to ask for. Whoever lets the resource go waits for Asking and Outstanding
// after that was written down, and NetBox may work at it for Asking.
func (c *Connector) late(mg *v1alpha1.NetBoxIPAddress) error {
	if by := c.latest(mg); !by.IsZero() && time.Now().Round(0).After(by) {
		return lateError{meta.GetExternalCreatePending(mg)}
	}
	return nil
}

// latest is until when, by the clock on the wall, a Create may ask for what it was to ask for; the zero time where it isn't known when it began.
func (c *Connector) latest(mg *v1alpha1.NetBoxIPAddress) time.Time {
	began := meta.GetExternalCreatePending(mg)
	if began.IsZero() {
		return time.Time{}
	}
	return began.Round(0).Add(c.Outstanding)
}

// mayCome says until when a record may come of what was asked for and never answered, and whether that is yet to be.
func (c *Connector) mayCome(mg *v1alpha1.NetBoxIPAddress) (until time.Time, may bool) {
	until = c.unansweredSince(mg).Add(c.Outstanding)
	return until, time.Now().Before(until)
}

// unansweredSince returns until when, at the latest, NetBox was asked for a record of a resource and gave no answer that is written down,
// whoever asked; the zero time: never. That a later one was answered says nothing of an earlier one, which may be carried out when the
// record of the later one is deleted. Times are of the clock that annotations are written by.
func (c *Connector) unansweredSince(mg *v1alpha1.NetBoxIPAddress) time.Time {
	last, _ := c.unanswered.get(mg.GetUID())
	if t := c.past(mg, givenUp(mg.GetAnnotations())); t.After(last) {
		last = t
	}
	a := mg.GetAnnotations()
	came, _ := c.came.get(mg.GetUID())
	if asked := a[v1alpha1.AnnotationAsked]; asked == a[v1alpha1.AnnotationAnswered] || asked == came {
		return last
	}
	began := c.past(mg, meta.GetExternalCreatePending(mg))
	if began.IsZero() { // Somebody took that off.
		began = c.firstSeen(mg)
	}
	if t := began.Add(c.Asking); t.After(last) {
		last = t
	}
	return last
}

// mayHaveMade says that a record which nobody shows yet may be of what was asked for: that was answered so, or wasn't answered. What was refused, or
// never asked for, made none. denied says so of what was asked for last, and isn't written down yet.
func (c *Connector) mayHaveMade(mg *v1alpha1.NetBoxIPAddress, denied bool) bool {
	a := mg.GetAnnotations()
	_, lost := c.unanswered.get(mg.GetUID())
	lost = lost || !givenUp(a).IsZero() || !denied && a[v1alpha1.AnnotationAsked] != a[v1alpha1.AnnotationAnswered]
	made := meta.GetExternalCreateSucceeded(mg)
	return lost || !made.IsZero() && !made.Before(meta.GetExternalCreateFailed(mg))
}

// givesUp is when a POST that had no answer is given up: now, or when NetBox itself has done so, as we may be the more impatient.
func (c *Connector) givesUp(mg *v1alpha1.NetBoxIPAddress) time.Time {
	now := time.Now()
	if t := c.past(mg, meta.GetExternalCreatePending(mg)); !t.IsZero() && t.Add(c.Asking).After(now) {
		return t.Add(c.Asking)
	}
	return now
}

// givenUp is when something was given up that had been asked for, as annotations say.
func givenUp(annotations map[string]string) time.Time {
	t, err := time.Parse(time.RFC3339, annotations[v1alpha1.AnnotationUnanswered])
	if err != nil {
		return time.Time{}
	}
	return t
}

// past returns a time that is written down. One that has yet to come, by another clock or somebody's hand, would keep a resource for as
// long: it's when we saw it first.
func (c *Connector) past(mg *v1alpha1.NetBoxIPAddress, t time.Time) time.Time {
	if !t.After(time.Now().Add(c.Asking + skew)) {
		return t
	}
	return c.firstSeen(mg)
}

// A sight is when it was first seen that a time of an asking isn't known.
type sight struct {
	asked string
	at    time.Time
}

// firstSeen is when it was first seen of a resource that a time of what it asked for last isn't known.
func (c *Connector) firstSeen(mg *v1alpha1.NetBoxIPAddress) time.Time {
	now := sight{mg.GetAnnotations()[v1alpha1.AnnotationAsked], time.Now()}
	if seen, ok := c.ahead.get(mg.GetUID()); ok && seen.asked == now.asked {
		return seen.at
	}
	c.ahead.put(mg.GetUID(), now)
	return now.at
}

// asks notes on a resource that NetBox is about to be asked for its record, and what was asked for before without an answer. It's written
// with what the managed reconciler writes before a Create, so whoever comes next knows. What would have come before the look that this
// Create follows is forgotten.
func (c *Connector) asks(mg *v1alpha1.NetBoxIPAddress) {
	last := c.unansweredSince(mg)
	meta.AddAnnotations(mg, map[string]string{v1alpha1.AnnotationAsked: c.wordOf(mg, last)})
	if !time.Now().Before(last.Add(c.Outstanding + c.Asking)) {
		meta.RemoveAnnotations(mg, v1alpha1.AnnotationUnanswered)
		c.unanswered.forget(mg.GetUID())
		return
	}
	meta.AddAnnotations(mg, map[string]string{v1alpha1.AnnotationUnanswered: last.UTC().Format(time.RFC3339)})
}

// appears notes that the record of a resource was found. Where just one may have been asked for without an answer, it's that one's.
func (c *Connector) appears(mg *v1alpha1.NetBoxIPAddress) {
	a := mg.GetAnnotations()
	asked := a[v1alpha1.AnnotationAsked]
	if asked == a[v1alpha1.AnnotationAnswered] {
		return
	}
	if _, lost := c.unanswered.get(mg.GetUID()); !lost && givenUp(mg.GetAnnotations()).IsZero() {
		c.came.put(mg.GetUID(), asked)
	}
}

// answers notes what became of a Create, and whether that failed: that sources were full isn't a failure. lost says that its POST had no
// answer: then a record that was found is of that one, or of an earlier one that had none, either. remains says that what it made is there, though
// the Create failed: it isn't called answered, since nothing else tells of that record. What is noted on the resource is written with what the managed
// reconciler writes after a Create.
func (c *Connector) answers(mg *v1alpha1.NetBoxIPAddress, err error, lost, remains bool) {
	if err != nil && !errors.As(err, new(fullError)) && !errors.As(err, new(moreError)) {
		c.tried.put(mg.GetUID(), true)
	}
	_, earlier := c.unanswered.get(mg.GetUID())
	if netbox.IsUnknownOutcome(err) || lost && (err != nil || earlier || !givenUp(mg.GetAnnotations()).IsZero()) {
		at := c.givesUp(mg)
		c.unanswered.put(mg.GetUID(), at)
		if !c.past(mg, givenUp(mg.GetAnnotations())).After(at) { // What another asks for may be given up later.
			meta.AddAnnotations(mg, map[string]string{v1alpha1.AnnotationUnanswered: at.UTC().Format(time.RFC3339)})
		}
	}
	if asked := mg.GetAnnotations()[v1alpha1.AnnotationAsked]; asked != "" && !remains {
		meta.AddAnnotations(mg, map[string]string{v1alpha1.AnnotationAnswered: asked})
	}
}

// StillTrue says what of noted, which are the annotations that a Create set, is true where somebody else has written its resource since, with
// these annotations: an asking of his isn't answered by what this one was, and what he gave up later may come later.
func StillTrue(noted, theirs map[string]string) {
	if noted[v1alpha1.AnnotationAnswered] != theirs[v1alpha1.AnnotationAsked] {
		delete(noted, v1alpha1.AnnotationAnswered)
	}
	if givenUp(theirs).After(givenUp(noted)) {
		delete(noted, v1alpha1.AnnotationUnanswered)
	}
	if _, gave := noted[v1alpha1.AnnotationGivenAway]; gave {
		noted[v1alpha1.AnnotationGivenAway] = strings.Join(together(givenAway(theirs), givenAway(noted)...), ",")
	}
}
