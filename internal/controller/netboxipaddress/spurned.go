package netboxipaddress

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// A barredError is a source of which NetBox refuses the very address that it would give.
type barredError struct {
	// source, as sentences name it.
	source string
	cause  error
}

func (e barredError) Error() string { return "no address of " + e.source + " is taken" }

func (e barredError) Unwrap() error { return e.cause }

func (e barredError) words(in inputs) (reason xpv2.ConditionReason, message string) {
	return v1alpha1.ReasonInvalid, fmt.Sprintf("the NetBox of %s gives no address of %s: it refuses the one that is next there for what it is, as by a mask or a rule of its own; name another source, or put that right in NetBox", in.config, e.source)
}

// ofSource says of what NetBox refused whether that may be of one source alone, so that the next may serve, and words it: the token has no right there,
// the address that would have been given is refused, or a rule is against it that nothing in the request explains. Each is a clean answer, so nothing
// was made. What names a field of the request, a marker that is taken and an answer that was lost are none of these. more says that there are
// sources behind it: nothing is found out for those where there are none.
func (e *external) ofSource(ctx context.Context, mg *v1alpha1.NetBoxIPAddress, c candidate, err error, more bool) (next bool, why error) {
	n, ok := errors.AsType[*netbox.Error](err)
	switch {
	case !ok:
		return false, err
	case n.Kind == netbox.KindInvalid && n.Status == http.StatusBadRequest && slices.Equal(n.Fields, []string{fieldAddress}):
		return true, barredError{c.words, err}
	case n.Kind == netbox.KindForbidden && n.Status == http.StatusForbidden:
		return more || e.plan.others(), err
	case n.Kind == netbox.KindMarkerTaken && n.Status == http.StatusBadRequest:
		return e.ruled || (more || e.plan.others()) && e.unexplained(ctx, mg, c), err
	}
	return false, err
}

// unexplained says that a rule by which NetBox refused a record is none of what the resource asks for: no record has its marker, be it hidden, and
// nothing else in the request is wrong, as far as that can be read.
func (e *external) unexplained(ctx context.Context, mg *v1alpha1.NetBoxIPAddress, c candidate) bool {
	if _, err := e.netbox.FindByMarker(ctx, e.us.marker()); !netbox.IsNotFound(err) {
		return false
	}
	if why := e.netbox.Explain(ctx, requestOf(mg.Spec.ForProvider, c.policy, e.us.marker())); len(why) > 0 {
		return false
	}
	hides, err := e.netbox.Hides(ctx, e.us.marker(), e.us.nobody(), valuesOf(mg.Spec.ForProvider.CustomFields))
	e.ruled = err == nil && !hides
	return e.ruled
}

// others says that another source of the plan was asked, and refused or is full: what is said then is of all of them, and whoever waits for space is
// woken by it.
func (p plan) others() bool {
	return slices.ContainsFunc(p.candidates, func(c candidate) bool { return c.refused || errors.As(c.err, new(fullError)) })
}

// foremost is why no source serves: what NetBox refused first, else what keeps the first from it that isn't just skipped by a filter, else the first.
func (p plan) foremost() error {
	for _, is := range []func(candidate) bool{
		func(c candidate) bool { return c.refused },
		func(c candidate) bool { return !errors.As(c.err, new(unfitError)) },
	} {
		if i := slices.IndexFunc(p.candidates, is); i >= 0 {
			return p.candidates[i].err
		}
	}
	return p.candidates[0].err
}

// spurn notes that NetBox refused to give a resource an address of a source: it's passed over for a while, each time for twice as long, as whatever
// is behind it may be full for days.
func (e *external) spurn(mg *v1alpha1.NetBoxIPAddress, c *candidate, err error) {
	c.err, c.refused = err, true
	now := refusal{failure: failure{err: err, at: e.connector.Now(), settings: e.settings}, pause: retryAfter}
	was, _ := e.connector.spurned.get(mg.GetUID())
	key := stockKey{e.of.UID, c.parent.Kind, c.parent.ID}
	if old, ok := was[key]; ok && old.settings == e.settings {
		now.pause = min(2*old.pause, retryUnkept)
	}
	all := maps.Clone(was)
	if all == nil {
		all = map[stockKey]refusal{}
	}
	maps.DeleteFunc(all, func(_ stockKey, r refusal) bool { return r.settings != e.settings })
	all[key] = now
	e.connector.spurned.put(mg.GetUID(), all)
}

// spurnedLately passes over a source of which NetBox refused the resource an address a while ago.
func (e *external) spurnedLately(mg *v1alpha1.NetBoxIPAddress, c *candidate) {
	all, _ := e.connector.spurned.get(mg.GetUID())
	was, ok := all[stockKey{e.of.UID, c.parent.Kind, c.parent.ID}]
	if ok && c.err == nil && was.settings == e.settings && e.connector.Now().Before(was.until()) {
		c.err, c.refused = was.err, true
	}
}
