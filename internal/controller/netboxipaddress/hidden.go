package netboxipaddress

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// A NetBox whose reads are answered by a copy of its database, as behind a pool of them, doesn't show for a while what was just written, and shows what
// is gone. Writes are never answered so. What is made is known by the answer to its POST; so that a record isn't there is believed only some time
// after it was made: else a resource would be said to have lost what it has just been given, or would go and leave its record behind.

// hiddenFor is how long: much longer than copies are behind.
const hiddenFor = 10 * time.Second

// A hiddenError is a record that was made or asked for a moment ago, and isn't shown.
type hiddenError struct{ until time.Time }

func (e hiddenError) Error() string { return "a record isn't shown yet" }

func (e hiddenError) words(in inputs) (reason xpv2.ConditionReason, message string) {
	return v1alpha1.ReasonUnreachable, fmt.Sprintf("the NetBox of %s doesn't show the record of what it was asked for a moment ago, as where a copy of its database answers that is behind: "+
		"it is looked for until %s, and then it's gone", in.config, e.until.UTC().Format(time.RFC3339))
}

// hides says until when a record may not be shown whose Create ended then, and whether that is yet to be.
func (c *Connector) hides(mg *v1alpha1.NetBoxIPAddress, ended time.Time) (until time.Time, may bool) {
	if ended.IsZero() {
		return time.Time{}, false
	}
	until = c.past(mg, ended).Add(c.Hidden)
	return until, time.Now().Before(until)
}

// created is when the last Create of a resource ended, also one that has made a record and failed since that isn't to be used.
func created(mg *v1alpha1.NetBoxIPAddress) time.Time {
	succeeded, failed := meta.GetExternalCreateSucceeded(mg), meta.GetExternalCreateFailed(mg)
	if failed.After(succeeded) {
		return failed
	}
	return succeeded
}

// hidden says, by an error, that a record which isn't shown may be there: a Create of it ended just now.
func (e *external) hidden(mg *v1alpha1.NetBoxIPAddress, ended time.Time) error {
	until, may := e.connector.hides(mg, ended)
	if !may {
		return nil
	}
	e.connector.Again(types.NamespacedName{Namespace: mg.GetNamespace(), Name: mg.GetName()}, until)
	return hiddenError{until}
}

// unshown is that for a record of a number that NetBox doesn't have, as far as it shows: unless its log has the deletion, which no copy shows too early.
func (e *external) unshown(ctx context.Context, mg *v1alpha1.NetBoxIPAddress, record int64) error {
	err := e.hidden(mg, meta.GetExternalCreateSucceeded(mg))
	if err == nil {
		return nil
	}
	if changes, cerr := e.netbox.Changes(ctx, record); cerr == nil && len(changes) > 0 && changes[0].Deleted() {
		return nil
	}
	return err
}

// A pastError is a record that carries a resource's marker, as NetBox shows it, and that this resource gave away a moment ago.
type pastError struct {
	record int64
	until  time.Time
}

func (e pastError) Error() string { return fmt.Sprintf("record %d may be shown as it was", e.record) }

func (e pastError) words(in inputs) (reason xpv2.ConditionReason, message string) {
	return v1alpha1.ReasonUnreachable, fmt.Sprintf("the NetBox of %s shows record %d with this resource's marker, and that was set aside for another one a moment ago, or taken back: it may be shown as it was, "+
		"as where a copy of its database answers that is behind; it's looked at again at %s", in.config, e.record, e.until.UTC().Format(time.RFC3339))
}

// past says, by an error, that a record which was found by its marker may be shown as it was: the last Create, be it another provider's, gave it away, as its address
// is another one's, by whose machine it may be in use. That's so for a resource that is being deleted, too: what it released then would be that one's.
func (e *external) past(mg *v1alpha1.NetBoxIPAddress) error {
	err := e.pastOf(mg, e.record.ID)
	if err != nil {
		e.record = nil
	}
	return err
}

// pastOf is that for a record that is found while NetBox is asked for one, too, which this very Create may have given away.
func (e *external) pastOf(mg *v1alpha1.NetBoxIPAddress, record int64) error {
	x := strconv.FormatInt(record, 10)
	until, may := e.connector.hides(mg, created(mg))
	switch {
	case slices.Contains(e.gave, x):
		until = time.Now().Add(e.connector.Hidden)
	case !may, !slices.Contains(givenAway(mg.GetAnnotations()), x):
		return nil
	}
	e.connector.Again(types.NamespacedName{Namespace: mg.GetNamespace(), Name: mg.GetName()}, until)
	return pastError{record, until}
}

// mostGiven is how many are remembered: more than a Create gives away in the time for which a copy is behind.
const mostGiven = 256

// givesAway notes that a record is about to be given away by do, beside those that may be shown yet as they were. It's written with what the managed reconciler
// writes after a Create, be it one that goes on to another address and succeeds. What NetBox refuses to do is no such thing.
func (e *external) givesAway(mg *v1alpha1.NetBoxIPAddress, record int64, do func() error) error {
	if _, may := e.connector.hides(mg, created(mg)); e.gave == nil && may {
		e.gave = givenAway(mg.GetAnnotations())
	}
	err := do()
	if !leftAlone(err) {
		e.gave = together(e.gave, strconv.FormatInt(record, 10))
	}
	meta.AddAnnotations(mg, map[string]string{v1alpha1.AnnotationGivenAway: strings.Join(e.gave, ",")})
	return err
}

// leftAlone says that NetBox, or what stands in front of it, plainly didn't give a record away, also by a rule of its own.
func leftAlone(err error) bool {
	n, _ := errors.AsType[*netbox.Error](err)
	return netbox.IsForbidden(err) || netbox.IsInvalid(err) || netbox.IsUnauthorized(err) || netbox.IsConflict(err) && n.Status == http.StatusBadRequest
}

// together are records that were given away, the latest last, and others after them: the newest of them, as far as they're remembered.
func together(gave []string, more ...string) []string {
	for _, x := range more {
		gave = append(slices.DeleteFunc(gave, func(g string) bool { return g == x }), x)
	}
	return gave[max(0, len(gave)-mostGiven):]
}

// givenAway are the records that annotations say were.
func givenAway(annotations map[string]string) []string {
	return strings.FieldsFunc(annotations[v1alpha1.AnnotationGivenAway], func(r rune) bool { return r == ',' })
}

// unlogged is until when a copy of NetBox's database may not have yet what was asked for last for a resource.
func (c *Connector) unlogged(mg *v1alpha1.NetBoxIPAddress) time.Time {
	last, _ := c.mayCome(mg)
	if t := c.past(mg, created(mg)); t.After(last) {
		last = t
	}
	return last.Add(c.Hidden)
}

// A behindError is that a record is shown with an address that NetBox has given to another one since, or that its log may not tell yet what became of
// it.
type behindError struct {
	record   int64
	address  netip.Addr
	unlogged bool
}

// shownTwice says of why it can't be told whose an address is that NetBox shows another record of it, which is that.
func shownTwice(err error) (other behindError, ok bool) {
	ok = errors.As(err, &other) && !other.unlogged
	return other, ok
}

func (e behindError) Error() string { return fmt.Sprintf("record %d is shown as it was", e.record) }

func (e behindError) words(in inputs) (reason xpv2.ConditionReason, message string) {
	message = fmt.Sprintf("the NetBox of %s still shows record %d with address %s, which it has given to another one", in.config, e.record, e.address)
	if e.unlogged {
		message = fmt.Sprintf("the change log of the NetBox of %s doesn't say what became of record %d, by which another resource of this cluster has had address %s since a moment ago", in.config, e.record, e.address)
	}
	return v1alpha1.ReasonUnreachable, message + ", as where a copy of its database answers that is behind: it is looked at again"
}
