package netboxipaddress

import (
	"crypto/rand"
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

// outstanding returns until when a record may come of what was asked for and never answered.
func (e *external) outstanding(mg *v1alpha1.NetBoxIPAddress) error {
	last := e.connector.unansweredSince(mg)
	if until := last.Add(e.connector.Outstanding); time.Now().Before(until) {
		e.connector.Again(types.NamespacedName{Namespace: mg.GetNamespace(), Name: mg.GetName()}, until)
		return outstandingError{until}
	}
	return nil
}

// unansweredSince returns when NetBox was last asked for a record of a resource and gave no answer that is written down, whoever asked;
// the zero time: never. That a later one was answered says nothing of an earlier one, which may be carried out when the record of the
// later one is deleted. Times are of the clock that annotations are written by.
func (c *Connector) unansweredSince(mg *v1alpha1.NetBoxIPAddress) time.Time {
	last, _ := c.unanswered.get(mg.GetUID())
	a := mg.GetAnnotations()
	if t, err := time.Parse(time.RFC3339, a[v1alpha1.AnnotationUnanswered]); err == nil && t.After(last) {
		last = t
	}
	if t := meta.GetExternalCreatePending(mg); a[v1alpha1.AnnotationAsked] != a[v1alpha1.AnnotationAnswered] && t.After(last) {
		last = t
	}
	return last
}

// asks notes on a resource that NetBox is about to be asked for its record, and what was asked for before without an answer. It's written
// with what the managed reconciler writes before a Create, so whoever comes next knows.
func (c *Connector) asks(mg *v1alpha1.NetBoxIPAddress) {
	notes := map[string]string{v1alpha1.AnnotationAsked: rand.Text()}
	if last := c.unansweredSince(mg); !last.IsZero() {
		notes[v1alpha1.AnnotationUnanswered] = last.UTC().Format(time.RFC3339)
	}
	meta.AddAnnotations(mg, notes)
}

// answers notes whether NetBox said what became of a Create, and whether that failed: that a source was full isn't a failure. An answer is
// written with what the managed reconciler writes after a Create.
func (c *Connector) answers(mg *v1alpha1.NetBoxIPAddress, err error) {
	if full := (fullError{}); err != nil && !errors.As(err, &full) {
		c.tried.put(mg.GetUID(), true)
	}
	if netbox.IsUnknownOutcome(err) {
		c.unanswered.put(mg.GetUID(), time.Now())
		return
	}
	if asked := mg.GetAnnotations()[v1alpha1.AnnotationAsked]; asked != "" {
		meta.AddAnnotations(mg, map[string]string{v1alpha1.AnnotationAnswered: asked})
	}
}
