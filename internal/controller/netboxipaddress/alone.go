package netboxipaddress

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// NetBox gives one free address to one asker, but takes a given one twice where a table isn't to have each address once. Who had it is
// asked before the POST; what comes to be in the same moment is seen after it. So a record that was made of a given address isn't its
// resource's before it was seen to be the only one: of two that were made, the one that was finished last sees the other. Numbers
// don't tell which that is, as NetBox gives them before others see the record. So the later number goes at once; the earlier one waits a
// while for that, and goes, too, where the other stays: it has looked before this one was to be seen.

// others are the records that have the planned address beside this resource's, where that isn't wanted.
func (e *external) others(ctx context.Context, p plan, role string) ([]netbox.IPAddress, error) {
	if p.duplicates == v1alpha1.DuplicatesAllow {
		return nil, nil
	}
	all, err := e.netbox.FindHost(ctx, p.address.Addr(), p.vrf)
	shared := p.duplicates == v1alpha1.DuplicatesSharedRole && sharesRole(role)
	return slices.DeleteFunc(all, func(ip netbox.IPAddress) bool {
		return ip.Marker(e.inputs.field) == e.us.marker() || e.record != nil && ip.ID == e.record.ID || (shared && sharesRole(ip.Role))
	}), err
}

// takenFrom says that another record has the planned address.
func (e *external) takenFrom(p plan, ip netbox.IPAddress) takenError {
	return takenError{address: p.address.String(), id: ip.ID, by: e.ownerWordsOf(ip), on: e.placeWordsOf(ip), url: ip.URL, shared: p.duplicates == v1alpha1.DuplicatesSharedRole}
}

// A rivalError is a second record of an address that was made in the same moment.
type rivalError struct{ taken takenError }

func (e rivalError) Error() string { return "address made twice: " + e.taken.address }

func (e rivalError) words(inputs) (reason xpv2.ConditionReason, message string) {
	return v1alpha1.ReasonConflict, fmt.Sprintf("address %q was made by another one in the same moment (%s, of %s): it's waited whether that goes, as the later one of two does", e.taken.address, recordWords(e.taken), e.taken.by)
}

// alone says whether a record that was made of a given address is the only one: a takenError where it has to go, a rivalError where the
// other one may.
func (e *external) alone(ctx context.Context, mg *v1alpha1.NetBoxIPAddress, ip netbox.IPAddress) error {
	p := plan{address: ip.Address, vrf: ip.VRF, duplicates: mg.Spec.ForProvider.Duplicates}
	beside := e.others
	if e.plan.again {
		beside = e.unjoined
	}
	others, err := beside(ctx, p, deref(mg.Spec.ForProvider.Role))
	if err != nil {
		return err
	}
	if len(others) == 0 {
		e.connector.rivals.forget(mg.GetUID())
		return nil
	}
	for _, o := range others {
		if _, marked := parseMarker(o.Marker(e.inputs.field)); !marked || o.ID < ip.ID {
			return e.takenFrom(p, o) // Nobody takes a person's back.
		}
	}
	since, known := e.connector.rivals.get(mg.GetUID())
	if !known {
		since = e.connector.Now()
		e.connector.rivals.put(mg.GetUID(), since)
	}
	if e.connector.Now().Sub(since) < retryAfter {
		return rivalError{e.takenFrom(p, others[0])}
	}
	return e.takenFrom(p, others[0])
}

// proven says, by an error, what is wrong with a record of a given address that was just made. One that has to go is taken back.
func (e *external) proven(ctx context.Context, mg *v1alpha1.NetBoxIPAddress, ip netbox.IPAddress) error {
	e.remains = true
	err := e.alone(ctx, mg, ip)
	if err == nil && !e.plan.again {
		err = e.usurped(ctx, mg, ip)
	}
	if t := (takenError{}); errors.As(err, &t) {
		err = e.takeBack(ctx, mg, ip, t)
	}
	return err
}

// takeBack deletes a record that was just made, since another one has its address. Nobody was told of it.
func (e *external) takeBack(ctx context.Context, mg *v1alpha1.NetBoxIPAddress, ip netbox.IPAddress, t takenError) error {
	err := e.givesAway(mg, ip.ID, func() error { return e.netbox.Delete(ctx, ip, e.us.marker()) })
	if e.remains = err != nil; e.remains {
		t.left = remnant{ip.ID, err} // It's found by its marker, and tried again.
	}
	if e.plan.again {
		l := e.plan.lost
		l.holder, l.left = recordWords(t), t.left
		return l
	}
	return t
}

// prove looks at a record that was found and that this resource was never told of: the answer to its POST was lost, or who asked was killed. What
// is wrong with it is an error; back says that it has to go.
func (e *external) prove(ctx context.Context, mg *v1alpha1.NetBoxIPAddress) (back bool, err error) {
	if e.toldOf(*e.record) {
		return false, nil
	}
	if err := e.undivided(ctx, mg); err != nil || meta.WasDeleted(mg) {
		return false, err
	}
	if meta.GetExternalName(mg) == strconv.FormatInt(e.record.ID, 10) {
		return false, e.unclaimed(ctx, mg)
	}
	defer func() { e.displace(mg, *e.record) }() // By then it's known whose the address was.
	p := mg.Spec.ForProvider
	// It had that before, and nobody has lost it since but itself.
	again := e.was.Marker == e.us.marker() && e.connector.shows(mg, e.record.Address.Addr(), e.record.VRF)
	if p.Address == "" && !again {
		if err := e.keptFrom(ctx, mg, *e.record, e.placed(ctx, p, *e.record)); err != nil {
			return false, err
		}
		return e.proveUnused(ctx, mg)
	}
	if err = e.alone(ctx, mg, *e.record); err == nil && !again {
		err = e.usurped(ctx, mg, *e.record)
	}
	if err == nil && again { // Somebody made it again by hand.
		err = e.unsurpassed(ctx, p)
	}
	if p.Adopt == v1alpha1.AdoptIfUnowned || errors.As(err, new(doubledError)) {
		return false, err // It may be a person's, that we had marked.
	}
	if t := (takenError{}); errors.As(err, &t) && creates(mg) && e.mayBeOurs(mg) && ownerOf(e.record.Marker(e.inputs.field), e.us) == ownerUs {
		e.back = &t
		return true, nil
	}
	return false, err
}

// unsurpassed says, by an error, that another one was given the record's address since this resource had it, though that one's record is away.
func (e *external) unsurpassed(ctx context.Context, p v1alpha1.NetBoxIPAddressParameters) error {
	by, err := e.since(ctx, p, e.record.Address.Addr(), e.record.VRF)
	if err != nil || by == "" {
		return err
	}
	e.connector.displaced.put(types.UID(e.us.uid), true)
	return doubledError{e.record.ID, e.record.Address.String(), by, nil, false}
}

// A misplacedError is a record with our marker that is of none of the sources.
type misplacedError struct {
	id    int64
	where string
	// beside says that it's in the table of one of them.
	beside bool
}

func (e misplacedError) Error() string { return fmt.Sprintf("record %d is of no source", e.id) }

func (e misplacedError) words(in inputs) (reason xpv2.ConditionReason, message string) {
	return v1alpha1.ReasonConflict, fmt.Sprintf("record %d carries this resource's marker, and is %s, where %s is asked for, as where somebody moved that just then: delete the record in NetBox, or set annotation crossplane.io/external-name: \"%d\" to keep it",
		e.id, e.where, in.from, e.id)
}

// planned says whether a record that was found while it was asked for is of one of the sources: of those that were looked at for the plan, or
// of those behind them, which an earlier try may have come to.
func (e *external) planned(ctx context.Context, p v1alpha1.NetBoxIPAddressParameters, ip netbox.IPAddress) error {
	looked := e.plan.candidates
	switch {
	case len(looked) == 0, slices.ContainsFunc(looked, func(c candidate) bool { return c.parent.ID == 0 || gave(c.parent, ip) }):
		return nil
	}
	beside := slices.ContainsFunc(looked, func(c candidate) bool { return sameTable(c.parent.VRF, ip.VRF) })
	if len(e.plan.rest) == 0 {
		return misplaced(ip, beside)
	}
	p.From = e.plan.rest
	err := e.placed(ctx, p, ip)
	if m := (misplacedError{}); errors.As(err, &m) {
		return misplaced(ip, beside || m.beside)
	}
	return err
}

func misplaced(ip netbox.IPAddress, beside bool) misplacedError {
	return misplacedError{ip.ID, fmt.Sprintf("%s of %s", ip.Address, tableName(ip.VRF)), beside}
}

// placed says whether a record is of one of the sources. What can't be read says nothing.
func (e *external) placed(ctx context.Context, p v1alpha1.NetBoxIPAddressParameters, ip netbox.IPAddress) error {
	beside := false
	for _, f := range p.From {
		found, err := e.resolve(ctx, f, deref(p.DNSName))
		if fits := err != nil || slices.ContainsFunc(found, func(s netbox.Parent) bool { return gave(s, ip) }); fits {
			return nil
		}
		beside = beside || slices.ContainsFunc(found, func(s netbox.Parent) bool { return sameTable(s.VRF, ip.VRF) })
	}
	if len(p.From) == 0 {
		return nil
	}
	return misplaced(ip, beside)
}
