package netboxipaddress

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

const (
	// retryAfter is when NetBox is asked again to write what it refused.
	retryAfter = 30 * time.Second
	// retryUnkept is when NetBox is asked again to store what it didn't keep.
	retryUnkept = 10 * time.Minute
	// mostAsked is how many sources one Create asks for an address, and askedFor how long it goes on to the next: a filter may find hundreds
	// that are full, and whoever is told to stop in the middle of a POST doesn't know what became of it.
	mostAsked, askedFor = 16, 20 * time.Second
)

// A moreError says that the sources that were asked are full, and that there are others.
type moreError struct{}

func (moreError) Error() string { return "there are more sources to ask" }

func (moreError) words(inputs) (reason xpv2.ConditionReason, message string) {
	return v1alpha1.ReasonExhausted, "the sources that were asked so far have no free address; those behind them are asked next"
}

// A plan is how a record is to be made: a given address, or the first source that has one.
type plan struct {
	// address, where valid, is the one to create, in vrf, and duplicates says whether another record may have it, too.
	address    netip.Prefix
	vrf        *netbox.VRF
	duplicates v1alpha1.Duplicates
	// again says that this resource had it before, and its record is gone: lost says more.
	again bool
	lost  lostError
	// adopt, where not nil, is the record to take over instead of making one.
	adopt  *netbox.IPAddress
	policy v1alpha1.NetBoxPolicy
	// candidates are what may be asked for one, in their order, and rest the sources behind them, which weren't looked for yet.
	candidates []candidate
	rest       []v1alpha1.AddressSource
}

// prepare makes the plan, by reading, and returns what would keep it from being carried out.
func (e *external) prepare(ctx context.Context, mg *v1alpha1.NetBoxIPAddress) error {
	p := mg.Spec.ForProvider
	if why := malformed(p); why != "" {
		return malformedError{why}
	}
	if p.AssignTo != nil && edgeText(p.Address) != "" {
		return edgeError{address: netip.MustParsePrefix(p.Address)}
	}
	err := e.reserved(p)
	if err != nil {
		return err
	}
	if was := e.refusedLately(mg); isRefusal(was) && len(p.From) == 0 && p.Adopt != v1alpha1.AdoptIfUnowned {
		return was // Who has the address by now can wait, too.
	}
	switch {
	case !unnamed(mg) && !e.theirs:
		e.plan, err = e.gone(ctx, mg)
	case p.Address != "":
		err = e.fixed(ctx, mg)
	default:
		if w, werr := e.wish(ctx, mg); werr == nil { // What is wrong with it, foresee says.
			e.wished = w
		}
		err = e.candidates(ctx, mg)
	}
	if err == nil {
		err = e.refusedLately(mg)
	}
	if err == nil && !e.plan.address.IsValid() {
		err = e.stocked(ctx, mg)
	}
	return err
}

// obtain carries the plan out. A record of a given address is proven to be the only one: what fails there is none of the POST's.
func (e *external) obtain(ctx context.Context, mg *v1alpha1.NetBoxIPAddress) (netbox.IPAddress, error) {
	ip, asked := e.ask(ctx, mg)
	err := asked
	if err == nil && e.plan.adopt == nil && e.plan.address.IsValid() {
		err = e.proven(ctx, mg, ip)
	}
	e.connector.answers(mg, asked, e.lost, err != nil && e.remains)
	return ip, err
}

// ask for the address. A refusal or a lost answer is looked into by marker before it's believed: the record may be there all the same,
// from this try or an earlier one.
func (e *external) ask(ctx context.Context, mg *v1alpha1.NetBoxIPAddress) (netbox.IPAddress, error) {
	if err := e.connector.late(mg); err != nil {
		return netbox.IPAddress{}, err
	}
	e.latest = e.connector.latest(mg)
	if e.field == netbox.FieldMissing {
		if err := e.netbox.CreateMarkerField(ctx); err != nil {
			return netbox.IPAddress{}, err
		}
	}
	ip, err := e.post(ctx, mg)
	if netbox.IsTooLate(err) { // It was held up between here and there.
		return netbox.IPAddress{}, lateError{meta.GetExternalCreatePending(mg)}
	}
	e.lost = netbox.IsUnknownOutcome(err)
	if err == nil || !mustLook(err) {
		return ip, err
	}
	e.denied = !e.lost
	found, lerr := e.netbox.FindByMarker(ctx, e.us.marker())
	if netbox.IsNotFound(lerr) {
		e.foundNone(mg, !e.lost && !e.awaited)
		e.failedOver = failsInside(err)
	}
	switch {
	case lerr == nil:
		if perr := e.pastOf(mg, found.ID); perr != nil {
			return netbox.IPAddress{}, perr
		}
		return e.foundNow(ctx, mg, found)
	case netbox.IsAmbiguous(lerr):
		return netbox.IPAddress{}, lerr
	case e.plan.again && taken(err):
		l := e.plan.lost
		if t := (takenError{}); errors.As(e.takenBy(ctx, err), &t) {
			l.holder = holderWords(t)
		}
		return netbox.IPAddress{}, l
	case taken(err) && e.plan.address.IsValid():
		return netbox.IPAddress{}, e.takenBy(ctx, err)
	case !e.lost && e.plan.adopt == nil && e.place != nil && edgeOf(e.plan.address) != "":
		return netbox.IPAddress{}, edgeError{address: e.plan.address}
	}
	return netbox.IPAddress{}, err
}

// foundNow is a record that was found while it was asked for: of this try or an earlier one.
func (e *external) foundNow(ctx context.Context, mg *v1alpha1.NetBoxIPAddress, ip netbox.IPAddress) (netbox.IPAddress, error) {
	if err := e.notAnothers(ctx, mg, ip); err != nil {
		return netbox.IPAddress{}, err
	}
	if err := e.keptFrom(ctx, mg, ip, e.planned(ctx, mg.Spec.ForProvider, ip)); err != nil || e.plan.adopt != nil || e.plan.address.IsValid() {
		return ip, err
	}
	if e.mayBeOurs(mg) {
		return e.unused(ctx, mg, ip)
	}
	of, err := e.loser(ctx, mg, ip)
	if err == nil && of != nil {
		err = keptError{ip.ID, e.whoseWords(*of), true}
	}
	return ip, err
}

// mustLook says whether a failed POST may hide a record of ours.
func mustLook(err error) bool {
	var full fullError
	return netbox.IsUnknownOutcome(err) || netbox.IsMarkerTaken(err) || errors.As(err, &full) || taken(err)
}

// taken says that NetBox has a given address already.
func taken(err error) bool {
	var e *netbox.Error
	return errors.As(err, &e) && e.Kind == netbox.KindInvalid && slices.Contains(e.Fields, "address")
}

// post asks for the address: the planned one, or one of the first source that isn't full.
func (e *external) post(ctx context.Context, mg *v1alpha1.NetBoxIPAddress) (netbox.IPAddress, error) {
	p := mg.Spec.ForProvider
	if e.plan.adopt != nil {
		return e.adopt(ctx, mg)
	}
	if e.plan.address.IsValid() {
		return e.netbox.Create(ctx, e.plan.address, e.plan.vrf, e.request(p, e.plan.policy))
	}
	s, uid := e.connector.stocks, mg.GetUID()
	asked, began := 0, e.connector.Now()
	i, missed := e.usable(ctx, mg, 0)
	for ; i >= 0; i, missed = e.usable(ctx, mg, i+1) {
		c := &e.plan.candidates[i]
		if c.err = e.edged(ctx, p, *c); c.err != nil {
			continue
		}
		if !s.has(e, c.parent, uid) {
			c.err = fullOf(c.parent)
			continue
		}
		asked++
		if asked > mostAsked || e.connector.Now().Sub(began) > askedFor {
			return netbox.IPAddress{}, moreError{}
		}
		ip, err := e.allocateUnused(ctx, mg, *c)
		switch {
		case err == nil:
			s.took(e, c.parent, uid)
			e.connector.origins.put(uid, origin{c.parent, e.passedOver(i)})
			return e.masked(ctx, p, ip), nil
		case netbox.IsFull(err):
			s.empty(e, c.parent, uid)
			c.err = fullOf(c.parent)
		case netbox.IsNotFound(err), errors.As(err, new(edgeError)): // It was there a minute ago; or another has an address that may be assigned.
			c.err = err
		default:
			next, why := e.ofSource(ctx, mg, *c, err, len(e.plan.rest) > 0 || i+1 < len(e.plan.candidates))
			if !next {
				return netbox.IPAddress{}, why
			}
			e.spurn(mg, c, why)
		}
	}
	if missed != nil {
		return netbox.IPAddress{}, missed
	}
	return netbox.IPAddress{}, e.exhausted(mg)
}

// masked gives a new address the mask that is wanted, where NetBox didn't. What fails here is found by the next look.
func (e *external) masked(ctx context.Context, p v1alpha1.NetBoxIPAddressParameters, ip netbox.IPAddress) netbox.IPAddress {
	mask := maskOf(p, ip.Address)
	if mask == nil {
		return ip
	}
	if patched, err := e.netbox.Patch(ctx, ip, netbox.Patch{Address: mask}); err == nil {
		return patched
	}
	return ip
}
