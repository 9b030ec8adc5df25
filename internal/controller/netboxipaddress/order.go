package netboxipaddress

import (
	"context"
	"net/netip"
	"slices"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// Of two resources that have had one address the later one's machine may be using it. Numbers of records don't tell which that is: an older record is
// adopted or put back, and a NetBox that was restored from a backup gives numbers anew.

// Where it isn't known of both when they were given it, neither is before the other (MicroTime.Before): each leaves it to the other.

// latest are formers in the order of who was given the address last; of whom that isn't known come last.
func latest(all []former) {
	at := func(f former) (t time.Time) {
		if f.given != nil {
			t = f.given.Time
		}
		return t
	}
	slices.SortStableFunc(all, func(a, b former) int { return at(b).Compare(at(a)) })
}

// overtaken says that another one was given as free what this resource shows, after it, as their statuses say: its record was away then, though nobody
// looked at it meanwhile, or what that showed was taken back by a backup. What a person had another one adopt says nothing of that.
func (e *external) overtaken(ctx context.Context, mg *v1alpha1.NetBoxIPAddress) bool {
	if !e.toldOf(*e.record) || !e.held.shown {
		return false
	}
	p, address := mg.Spec.ForProvider, e.record.Address.Addr()
	all, err := e.formers(ctx, address, e.record.VRF, deref(p.Role))
	return err == nil && slices.ContainsFunc(all, func(f former) bool {
		return e.was.Given.Before(f.given) && !f.joins && !shares(p, f.role) && (!f.elsewhere || e.isHere(ctx, f)) && (!f.adopts || e.hasLeft(ctx, f, address, e.record.VRF))
	})
}

// isHere says of who may have an address in another NetBox that its record is in this one: it carries its marker in this provider config's field. What was
// seen of that lately is enough, and what wasn't is none of ours: each look at each address would ask, where two NetBoxes have the same ones.
func (e *external) isHere(ctx context.Context, f former) bool {
	f.field = e.inputs.field
	if e.connector.MaxAge == 0 {
		is, err := e.netbox.Get(ctx, f.record)
		return err == nil && f.owns(is)
	}
	is, ok, err := e.netbox.Seen(ctx, f.record, e.connector.MaxAge)
	return err == nil && ok && f.owns(is)
}

// hasLeft says that the record of a former isn't there, or hasn't the address, whatever its marker is just now; where that can't be told it has. What was
// seen of that lately is enough.
func (e *external) hasLeft(ctx context.Context, f former, address netip.Addr, vrf *netbox.VRF) bool {
	if e.connector.MaxAge > 0 {
		if is, ok, err := e.netbox.Seen(ctx, f.record, e.connector.MaxAge); err != nil || ok && isAt(is, address, vrf) {
			return false
		}
	}
	is, err := e.netbox.Get(ctx, f.record)
	return netbox.IsNotFound(err) || err == nil && !isAt(is, address, vrf)
}

// receives is when this resource gets an address, just now: later than whoever had it, though clocks be put back; but no later than who has it beside
// this one, by this one's spec, and whose record is there: neither takes it from the other, and what their specs say later doesn't change that. Whose
// record is away by then had it before.
func (e *external) receives(ctx context.Context, mg *v1alpha1.NetBoxIPAddress, address netip.Addr, vrf *netbox.VRF) *metav1.MicroTime {
	now := e.connector.Now().Truncate(time.Microsecond)
	all, err := e.formers(ctx, address, vrf, deref(mg.Spec.ForProvider.Role))
	if err != nil || len(all) == 0 || all[0].given == nil {
		return &metav1.MicroTime{Time: now.UTC()} // What the clock says is the best guess.
	}
	if f := e.partner(ctx, mg, all, address, vrf); f != nil {
		return f.given.DeepCopy()
	}
	last := all[0]
	if !last.given.Time.Before(now) {
		now = last.given.Add(time.Microsecond)
	}
	return &metav1.MicroTime{Time: now.UTC()}
}

// partner is the latest of those who have an address beside this resource, and whose record is there; nil: there's none.
func (e *external) partner(ctx context.Context, mg *v1alpha1.NetBoxIPAddress, all []former, address netip.Addr, vrf *netbox.VRF) *former {
	p := mg.Spec.ForProvider
	// What was there before there were such times was given to neither as free while the other one's record is there.
	untold := e.was.Given == nil && e.held.shown && mg.GetCondition(xpv2.TypeReady).Status == corev1.ConditionTrue
	for _, f := range all {
		if f.given == nil {
			return nil
		}
		if f.elsewhere { // What another NetBox has is no matter; what carries its marker here is here.
			f.field = e.inputs.field
		}
		beside := untold || e.named || f.adopts || shares(p, f.role) || f.joins
		if beside && e.stillHas(ctx, f, address, vrf) {
			return &f
		}
		if !f.elsewhere {
			return nil
		}
	}
	return nil
}

// stillHas says that the record of a former is there, and has the address; so it has where that can't be told: neither is later then.
func (e *external) stillHas(ctx context.Context, f former, address netip.Addr, vrf *netbox.VRF) bool {
	is, err := e.netbox.Get(ctx, f.record)
	return err != nil && !netbox.IsNotFound(err) || err == nil && f.owns(is) && isAt(is, address, vrf)
}
