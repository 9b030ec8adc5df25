package netboxipaddress

import (
	"context"
	"net/netip"
	"slices"
	"time"

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
	p := mg.Spec.ForProvider
	all, err := e.formers(ctx, e.record.Address.Addr(), e.record.VRF, deref(p.Role))
	return err == nil && slices.ContainsFunc(all, func(f former) bool {
		return e.was.Given.Before(f.given) && !f.elsewhere && !f.adopts && !f.joins && !shares(p, f.role)
	})
}

// receives is when this resource gets an address, just now: later than whoever had it, though clocks be put back; but no later than who has it beside
// this one, by this one's spec, and whose record is there: neither takes it from the other, and what their specs say later doesn't change that. Whose
// record is away by then had it before.
func (e *external) receives(ctx context.Context, mg *v1alpha1.NetBoxIPAddress, address netip.Addr, vrf *netbox.VRF) *metav1.MicroTime {
	now, p := e.connector.Now().Truncate(time.Microsecond), mg.Spec.ForProvider
	all, err := e.formers(ctx, address, vrf, deref(p.Role))
	if err != nil || len(all) == 0 || all[0].given == nil {
		return &metav1.MicroTime{Time: now.UTC()} // What the clock says is the best guess.
	}
	last := all[0]
	if beside := p.Adopt == v1alpha1.AdoptExternalName || shares(p, last.role) || last.joins; beside && !last.elsewhere && e.stillHas(ctx, last, address, vrf) {
		return last.given.DeepCopy()
	}
	if !last.given.Time.Before(now) {
		now = last.given.Add(time.Microsecond)
	}
	return &metav1.MicroTime{Time: now.UTC()}
}

// stillHas says that the record of a former is there, and has the address.
func (e *external) stillHas(ctx context.Context, f former, address netip.Addr, vrf *netbox.VRF) bool {
	is, err := e.netbox.Get(ctx, f.record)
	return err == nil && f.owns(is) && isAt(is, address, vrf)
}
