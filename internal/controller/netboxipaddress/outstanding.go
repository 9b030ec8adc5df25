package netboxipaddress

import (
	"errors"
	"fmt"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// outstandingFor is how long after it was asked for a record may still be made, though its answer was given up or its asker killed:
// NetBox carries a POST out when its lock is free.
const outstandingFor = time.Minute

// An outstandingError keeps a resource that is being deleted until no record of it can come any more.
type outstandingError struct{ until time.Time }

func (e outstandingError) Error() string { return "a record may still be made" }

func (e outstandingError) words(in inputs) (reason xpv2.ConditionReason, message string) {
	return v1alpha1.ReasonUnreachable, fmt.Sprintf("the NetBox of %s was asked for an address and hasn't said whether it gave one: it may do so late, and nobody would free it; "+
		"it is looked for until %s, and then this resource goes", in.config, e.until.UTC().Format(time.RFC3339))
}

// outstanding returns until when a record may come of what was asked for and never answered. What was answered since this provider
// started is known; of what was asked for before, nobody knows how often: by one that was killed, and once more by another that is dead
// by now. Times are of the clock that annotations are written by.
func (e *external) outstanding(mg *v1alpha1.NetBoxIPAddress) error {
	e.connector.suspect(mg)
	last, lost := e.connector.unanswered.get(mg.GetUID())
	if !lost && !e.connector.knows(mg) {
		last, lost = meta.GetExternalCreatePending(mg), true
	}
	if until := last.Add(e.connector.Outstanding); lost && time.Now().Before(until) {
		e.connector.Again(types.NamespacedName{Namespace: mg.GetNamespace(), Name: mg.GetName()}, until)
		return outstandingError{until}
	}
	return nil
}

// asks notes on a resource that it's this process that is about to ask for its record: it's written with what the managed reconciler
// writes before a Create, so whoever comes next knows.
func (c *Connector) asks(mg *v1alpha1.NetBoxIPAddress) {
	meta.AddAnnotations(mg, map[string]string{v1alpha1.AnnotationAskedBy: c.process})
}

// knows says that this process was the last to ask for a record, and was answered.
func (c *Connector) knows(mg *v1alpha1.NetBoxIPAddress) bool {
	_, answered := c.answered.get(mg.GetUID())
	return answered && mg.GetAnnotations()[v1alpha1.AnnotationAskedBy] == c.process
}

// suspect notes that somebody was about to ask for a record and was killed, before a second try hides that.
func (c *Connector) suspect(mg *v1alpha1.NetBoxIPAddress) {
	asked := meta.GetExternalCreatePending(mg)
	_, lost := c.unanswered.get(mg.GetUID())
	if !lost && !c.knows(mg) && meta.GetExternalName(mg) == "" && asked.After(meta.GetExternalCreateSucceeded(mg)) {
		c.unanswered.put(mg.GetUID(), asked)
	}
}

// answers notes whether NetBox said what became of a Create, and whether that failed: that a source was full isn't a failure.
func (c *Connector) answers(mg *v1alpha1.NetBoxIPAddress, err error) {
	if full := (fullError{}); err != nil && !errors.As(err, &full) {
		c.tried.put(mg.GetUID(), true)
	}
	if netbox.IsUnknownOutcome(err) {
		c.unanswered.put(mg.GetUID(), time.Now())
		c.answered.forget(mg.GetUID())
		return
	}
	c.answered.put(mg.GetUID(), true)
}
