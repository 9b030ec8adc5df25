package netboxipaddress

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// eventAdopted tells that a record of somebody's became a resource's.
const eventAdopted event.Reason = "Adopted"

// An adoptError is a record that may not become ours, though spec says that one may.
type adoptError struct {
	id   int64
	why  string
	mend string
}

func (e adoptError) Error() string { return fmt.Sprintf("record %d %s", e.id, e.why) }

func (e adoptError) words(in inputs) (reason xpv2.ConditionReason, message string) {
	return v1alpha1.ReasonConflict, fmt.Sprintf("record %d of the NetBox of %s isn't adopted, since it %s: %s", e.id, in.config, e.why, e.mend)
}

// adoptNamed plans to take over the record that the external name names, which isn't ours: one without a marker, where spec says so, and
// one that this resource itself let go and that waits for its deletion, as after a restore from a backup.
func (e *external) adoptNamed(ctx context.Context, mg *v1alpha1.NetBoxIPAddress, ip netbox.IPAddress) error {
	p := mg.Spec.ForProvider
	ours := e.whose(ip) == ownerReleased && e.retired(ip)
	fixed := p.Adopt == v1alpha1.AdoptIfUnowned && spells(p.Address, ip.Address)
	if !ip.Unmarked(e.inputs.field) || (!ours && !fixed && p.Adopt != v1alpha1.AdoptExternalName) {
		return e.notOurs(mg, ip.ID, e.whose(ip))
	}
	if e.held.shown && e.held.strays(ip) {
		return adoptError{ip.ID, fmt.Sprintf("is %s of %s, where this resource was given %s of %s", ip.Address, tableName(ip.VRF), e.held.address, e.held.name), "put that right in NetBox, or make another NetBoxIPAddress for it"}
	}
	if err := e.adoptable(ctx, mg, ip); err != nil {
		return err
	}
	if e.field != netbox.FieldMissing {
		own, err := e.netbox.FindByMarker(ctx, e.us.marker())
		switch {
		case err == nil:
			return adoptError{ip.ID, fmt.Sprintf("isn't this resource's own, which is record %d", own.ID), fmt.Sprintf("name %d in annotation crossplane.io/external-name, or delete it in NetBox", own.ID)}
		case !netbox.IsNotFound(err):
			return err
		}
	}
	e.plan = plan{adopt: &ip}
	return nil
}

// adoptUnowned plans to take over the one record that has the fixed address, where there is one without a marker. Where there is none,
// the plan stays what it is: to make it, beside others where duplicates are fine.
func (e *external) adoptUnowned(ctx context.Context, mg *v1alpha1.NetBoxIPAddress) error {
	p := mg.Spec.ForProvider
	there, err := e.netbox.FindHost(ctx, e.plan.address.Addr(), e.plan.vrf)
	if err != nil {
		return err
	}
	var bare []netbox.IPAddress
	for _, ip := range there {
		if _, marked := e.markedElsewhere(ip); marked {
			continue
		}
		switch e.whose(ip) {
		case ownerUs:
			e.record = &ip
			return nil
		case ownerReleased, ownerNobody:
			bare = append(bare, ip)
		case ownerRestored, ownerTwin, ownerOther, ownerCluster:
		}
	}
	switch {
	case len(bare) == 0 || len(there) > len(bare):
		if err := e.free(ctx, e.plan, deref(p.Role)); err != nil {
			return err
		}
		return e.unlost(ctx, p, e.plan.address, e.plan.vrf)
	case len(bare) > 1:
		return adoptError{bare[0].ID, fmt.Sprintf("has the same address as record %d", bare[1].ID), "delete the wrong one in NetBox, or name the right one by annotation crossplane.io/external-name and adopt: ExternalName"}
	}
	if err := e.adoptable(ctx, mg, bare[0]); err != nil {
		return err
	}
	e.plan.adopt = &bare[0]
	return nil
}

// adoptable says what keeps a record from becoming ours. The policies of the namespace hold for what is there as for what is made: a
// number isn't a way around them, and of what they don't allow nothing is told.
func (e *external) adoptable(ctx context.Context, mg *v1alpha1.NetBoxIPAddress, ip netbox.IPAddress) error {
	p := mg.Spec.ForProvider
	for _, name := range []string{ip.DNSName, deref(p.DNSName)} { // The one that it has may be another tenant's, whatever spec says.
		if err := e.mayHave(ip, name); err != nil {
			return err
		}
	}
	if err := e.unowned(ctx, ip); err != nil {
		return err
	}
	// One of two records that people made of an address isn't lost by who has the other, which is there: what is to be said of that pair is when
	// the record is shown.
	err := e.unlost(ctx, p, ip.Address, ip.VRF)
	if _, twice := shownTwice(err); err != nil && !twice {
		return err
	}
	switch {
	case p.Address != "" && !spells(p.Address, ip.Address):
		return adoptError{ip.ID, fmt.Sprintf("is of address %q", ip.Address), fmt.Sprintf("correct spec.forProvider.address, which is %q, or the record in NetBox", p.Address)}
	case p.Address != "" && p.VRF != nil && !vrfRef(p.VRF).Matches(ip.VRF):
		return adoptError{ip.ID, "is in another VRF than spec.forProvider.vrf", "correct that, or the record in NetBox"}
	case p.AssignTo == nil || ip.Assigned == nil:
		return nil
	}
	there, err := e.names(ctx, mg, *ip.Assigned)
	if err == nil && !there {
		err = adoptError{ip.ID, fmt.Sprintf("is assigned to %s", ip.Assigned), "unassign it in NetBox, or correct spec.forProvider.assignTo"}
	}
	return err
}

// unowned says, by an error, whose a record is or was, which keeps it from becoming ours.
func (e *external) unowned(ctx context.Context, ip netbox.IPAddress) error {
	n, noted := parseNote(ip.Marker(e.inputs.note))
	quarantined := noted && !n.until.IsZero() && e.whose(ip) != ownerReleased
	traces := e.traces(ip)
	switch {
	case !ip.Unmarked(e.inputs.field):
		return adoptError{ip.ID, fmt.Sprintf("carries something in custom field %q that isn't a marker of ours", e.inputs.field), "clear the field in NetBox if nobody needs it"}
	case quarantined && n.until.Before(e.connector.Now()) && !e.retired(ip):
		return adoptError{
			ip.ID, fmt.Sprintf("is in use again after a quarantine, by its status, and custom field %q still says that it's in one", e.inputs.note),
			"clear that field in NetBox, or ask for another address",
		}
	case quarantined:
		return adoptError{ip.ID, fmt.Sprintf("is in quarantine until %s", n.until.UTC().Format(time.RFC3339)), "wait until then, or ask for another address"}
	case len(traces) > 0:
		return e.tracedError(ip.ID, traces[0])
	}
	of, err := e.sharer(ctx, ip)
	if err != nil || of == nil {
		return err
	}
	return adoptError{ip.ID, fmt.Sprintf("is %s, as its status says", e.whoseWords(*of)), "have that resource deleted to give the address up"}
}

// tracedError says that a record is another one's, or in another one's quarantine, by a custom field of another provider config or cluster.
func (e *external) tracedError(record int64, t trace) adoptError {
	if t.until.IsZero() {
		return adoptError{record, fmt.Sprintf("carries the marker of %s in custom field %q", e.traceWords(t), t.field), "clear the field in NetBox if it's nobody's any more"}
	}
	return adoptError{
		record, fmt.Sprintf("is in quarantine until %s, by custom field %q", t.until.UTC().Format(time.RFC3339), t.field),
		"wait until then, or ask for another address; where it's in use again, clear that field in NetBox",
	}
}

// spells says whether a text is an address with its mask, in whichever form: 2001:DB8::5/64 is 2001:db8::5/64.
func spells(text string, a netip.Prefix) bool {
	p, err := netip.ParsePrefix(text)
	return err == nil && p == a
}

// mayHave says whether the policies leave a record that is there already to the namespace: its address, its name, and its tenant, which
// would otherwise be taken from whom it belongs to.
func (e *external) mayHave(ip netbox.IPAddress, dnsName string) error {
	policy, ok := e.grant.policy(ip.Address, dnsName)
	if ok && (policy.Tenant == "" || ip.Tenant == "" || policy.Tenant == ip.Tenant) {
		return nil
	}
	return notAllowedError{what: fmt.Sprintf("record %d of NetBox", ip.ID), namespace: e.us.namespace}
}

// adopt carries the plan out. A record that comes back out of quarantine is given its status, too: nothing else would tell that it's in
// use again where drift is only reported. One that was set aside for a resource which lost its own is given all that spec asks for: what is missing
// there nobody took away. Where NetBox refuses some of that, as a tag that is gone by now, the record is taken without it, and what is refused is told of
// then: somebody else would be given the address at the end of its quarantine.
func (e *external) adopt(ctx context.Context, mg *v1alpha1.NetBoxIPAddress) (netbox.IPAddress, error) {
	bare, ip := netbox.Patch{NotAfter: e.latest}, *e.plan.adopt
	if status := mg.Spec.ForProvider.Status; e.retired(ip) && status != "" {
		bare.Status = &status
	}
	if was := e.plan.address.String(); e.plan.again && e.plan.address.IsValid() && ip.Address != e.plan.address {
		bare.Address = &was // Who set it aside had it by another source's mask.
	}
	if e.plan.again {
		patch := diff(mg.Spec.ForProvider, e.plan.policy, e.inputs.field, e.us.marker(), ip)
		patch.NotAfter, patch.Status = bare.NotAfter, cmp.Or(bare.Status, patch.Status)
		patch.Address = cmp.Or(bare.Address, patch.Address)
		if adopted, err := e.netbox.Adopt(ctx, ip, e.us.marker(), patch); !netbox.IsInvalid(err) {
			return adopted, err
		}
		e.connector.bare.put(mg.GetUID(), true)
	}
	return e.netbox.Adopt(ctx, ip, e.us.marker(), bare)
}

// onlyObserved says that nothing is ever to be written for a resource: its record may be anybody's.
func onlyObserved(mg *v1alpha1.NetBoxIPAddress) bool {
	p := mg.GetManagementPolicies()
	return slices.Contains(p, xpv2.ManagementActionObserve) && !slices.ContainsFunc(p, func(a xpv2.ManagementAction) bool {
		return a != xpv2.ManagementActionObserve && a != xpv2.ManagementActionLateInitialize
	})
}

// An unseenError is a record that is to be observed and isn't there.
type unseenError struct{ name string }

func (e unseenError) Error() string { return "there is no record to observe: " + e.name }

func (e unseenError) words(in inputs) (reason xpv2.ConditionReason, message string) {
	message = "managementPolicies let this resource only be observed, and it names no record: set annotation crossplane.io/external-name to the record's number in NetBox"
	if e.name != "" {
		message = fmt.Sprintf("the NetBox of %s has no record %s, or doesn't show it to the token: correct annotation crossplane.io/external-name", in.config, e.name)
	}
	return v1alpha1.ReasonNotFound, message
}

// An uncreatedError is a record that may be neither made nor taken over.
type uncreatedError struct{}

func (uncreatedError) Error() string { return "there is no record, and none may be made" }

func (uncreatedError) words(inputs) (reason xpv2.ConditionReason, message string) {
	return v1alpha1.ReasonNotFound, "NetBox has no record of this resource, and spec.managementPolicies let none be made or adopted: add Create there"
}

// observeOnly shows whichever record the external name names, whoever's marker it carries, where the policies leave it to the namespace.
func (e *external) observeOnly(mg *v1alpha1.NetBoxIPAddress) error {
	if e.record == nil {
		return unseenError{meta.GetExternalName(mg)}
	}
	return e.mayHave(*e.record, e.record.DNSName)
}
