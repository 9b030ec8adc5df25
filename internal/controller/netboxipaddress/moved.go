package netboxipaddress

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// eventMoved tells that a record isn't of the address or table any more that was given.
const eventMoved event.Reason = "Moved"

// Fields of a record that a resource was given, and keeps.
const (
	fieldAddress = "address"
	fieldVRF     = "vrf"
)

// A holding is what a resource was given: a host in a table. It's the resource's as long as that lives, whatever its record says by
// now: a machine uses it. The mask is, too, only where spec names one.
type holding struct {
	address netip.Prefix
	table   netbox.VRFRef
	// name of the table, for a person.
	name string
	// shown says that status names it.
	shown bool
}

// holdingOf is what a resource was given, as status says of a record that carried our marker, and else as spec does. It isn't valid
// where nobody knows.
func holdingOf(mg *v1alpha1.NetBoxIPAddress, us identity) holding {
	p, o := mg.Spec.ForProvider, mg.Status.AtProvider
	h := holding{table: vrfRef(p.VRF)}
	h.name = h.table.String()
	if address, vrf, seen := lastSeen(o); seen && hadHere(o, us) {
		h = holding{address: address, table: tableRef(vrf), name: tableName(vrf), shown: true}
	}
	if a, err := netip.ParsePrefix(p.Address); err == nil {
		h.address = a
	}
	return h
}

// tableRef names the table of a record, and only that.
func tableRef(vrf *netbox.VRF) netbox.VRFRef {
	if vrf == nil {
		return netbox.VRFRef{Global: true}
	}
	return netbox.VRFRef{ID: vrf.ID}
}

// tableName names the table of a record for a person.
func tableName(vrf *netbox.VRF) string {
	if vrf == nil || vrf.Name == "" {
		return tableRef(vrf).String()
	}
	return netbox.VRFRef{Name: vrf.Name}.String()
}

// strays says whether a record is of another host or in another table than was given.
func (h holding) strays(ip netbox.IPAddress) bool {
	return h.address.IsValid() && (h.address.Addr() != ip.Address.Addr() || !h.table.Matches(ip.VRF))
}

// strayed says whether the record is.
func (e *external) strayed() bool { return e.record != nil && e.held.strays(*e.record) }

// isCarried says whether somebody moved the record of a resource. What has another number than that and carries our marker is of a POST that
// was carried out late: it's where NetBox had made it.
func (e *external) isCarried(mg *v1alpha1.NetBoxIPAddress) bool {
	return e.strayed() && (mg.Spec.ForProvider.Address != "" || recordOf(mg) == e.record.ID)
}

// back adds to a patch what puts a record back. A table that is only known by what spec calls it can't be written.
func (h holding) back(patch *netbox.Patch, length int32, ip netbox.IPAddress) {
	if h.address.Addr() != ip.Address.Addr() {
		a := h.address
		if int(length) >= 1 && int(length) <= a.Addr().BitLen() {
			a = netip.PrefixFrom(a.Addr(), int(length))
		}
		patch.Address = new(a.String())
	}
	if !h.table.Matches(ip.VRF) && (h.table.ID != 0 || h.table.Global) {
		patch.VRF = new(h.table.ID)
	}
}

// keep puts on status what was given, where the record says otherwise. A table that nobody knows but by its name isn't replaced by the
// record's: then nothing of the record is shown but its number, by which it's found, and known to have been told.
func (h holding) keep(now *v1alpha1.NetBoxIPAddressObservation, before v1alpha1.NetBoxIPAddressObservation) {
	if !h.shown {
		*now = v1alpha1.NetBoxIPAddressObservation{ID: now.ID, URL: now.URL}
		return
	}
	now.Address, now.Family, now.VRF = h.address.String(), v1alpha1.IPv4, before.VRF
	if h.address.Addr().Is6() {
		now.Family = v1alpha1.IPv6
	}
	now.Prefix, now.Range, now.Sources = before.Prefix, before.Range, before.Sources
}

// A mover is what is remembered of a record that was moved.
type mover struct {
	record int64
	// is what it was made, and by whom; asked says that NetBox's log was read for that, whether or not it tells.
	is, by string
	asked  bool
	// refused is when NetBox refused to have it put back.
	refused failure
}

// A stay is a record that was found moved and that isn't put back. It's believed for a while: one edit in NetBox may have moved thousands,
// and to read each of them and who has its address now at each look would be what NetBox does from then on.
type stay struct {
	is standing
	at time.Time
	// of is the provider config.
	of types.UID
}

// A standing is what a record is, as far as that tells one change of it from another, and the settings that it was looked at with.
type standing struct {
	record      int64
	address     netip.Prefix
	table       netbox.VRFRef
	lastUpdated string
	settings    string
}

func (e *external) standingOf(ip netbox.IPAddress) standing {
	return standing{ip.ID, ip.Address, tableRef(ip.VRF), ip.LastUpdated, e.settings}
}

// staysFor notes that the record stays moved.
func (e *external) staysFor(mg *v1alpha1.NetBoxIPAddress) {
	e.connector.standings.put(mg.GetUID(), stay{e.standingOf(*e.record), e.connector.Now(), e.of.UID})
}

// stayed says whether what was seen is a record that was found to stay moved a while ago, and that nobody changed since.
func (e *external) stayed(mg *v1alpha1.NetBoxIPAddress, ip netbox.IPAddress) bool {
	standings := e.connector.standings
	s, ok := standings.get(mg.GetUID())
	return ok && mg.GetCondition(xpv2.TypeReady).Reason == v1alpha1.ReasonMoved && s.is == e.standingOf(ip) &&
		e.connector.Now().Sub(s.at) < e.connector.belief(standings.count(e.of.UID))
}

// moved returns what is to be said of a record that somebody moved and that isn't put back: since spec wants it reported, since nobody
// may write it, or since its address is another record's by now. nil: it's where it was, or is to be put back.
func (e *external) moved(ctx context.Context, mg *v1alpha1.NetBoxIPAddress, patch netbox.Patch) (*movedError, error) {
	if !e.strayed() {
		e.connector.movers.forget(mg.GetUID())
		e.connector.standings.forget(mg.GetUID())
		return nil, nil
	}
	m := e.movedBy(ctx, mg.GetUID())
	if patch.Address == nil && patch.VRF == nil || mg.Spec.ForProvider.Drift == v1alpha1.DriftReport || !updates(mg) {
		return &m, nil
	}
	if was, _ := e.connector.movers.get(mg.GetUID()); was.refused.settings == e.settings && e.connector.Now().Sub(was.refused.at) < retryAfter {
		m.refused = true
		return &m, nil
	}
	err := e.vacated(ctx, mg)
	if t := (takenError{}); errors.As(err, &t) {
		if t.lost {
			m.lost = t.by
		} else {
			m.holder = recordWords(t)
		}
		return &m, nil
	}
	return nil, err
}

// vacated says, by an error, that another one has what was given, or had it since and lost its record: a machine may be using the address.
func (e *external) vacated(ctx context.Context, mg *v1alpha1.NetBoxIPAddress) error {
	p := e.heldPlan(mg)
	others, err := e.unjoined(ctx, p, deref(mg.Spec.ForProvider.Role))
	switch {
	case err != nil:
		return err
	case len(others) > 0:
		return e.takenFrom(p, others[0])
	case !p.address.IsValid():
		return nil
	}
	if err := e.unlost(ctx, mg.Spec.ForProvider, p.address, p.vrf); err != nil {
		return err
	}
	by, err := e.since(ctx, mg.Spec.ForProvider, p.address.Addr(), p.vrf)
	if err == nil && by != "" {
		err = takenError{address: p.address.String(), by: by, lost: true, moved: true}
	}
	return err
}

// unjoined are the records that have what was given, but for those of resources that share it with this one by their own spec.
func (e *external) unjoined(ctx context.Context, p plan, role string) ([]netbox.IPAddress, error) {
	others, err := e.others(ctx, p, role)
	if err != nil || len(others) == 0 {
		return others, err
	}
	all, err := e.formers(ctx, p.address.Addr(), p.vrf, role)
	return slices.DeleteFunc(others, func(ip netbox.IPAddress) bool {
		return slices.ContainsFunc(all, func(f former) bool { return f.joins && f.owns(ip) })
	}), err
}

// heldPlan is what was given, as who has it is asked for.
func (e *external) heldPlan(mg *v1alpha1.NetBoxIPAddress) plan {
	p := plan{address: e.held.address, duplicates: mg.Spec.ForProvider.Duplicates}
	switch {
	case e.held.table.ID != 0:
		p.vrf = &netbox.VRF{ID: e.held.table.ID}
	case e.held.table.Global:
	default:
		p.vrf = e.record.VRF
	}
	return p
}

// movedBy finds out who moved the record: once for each place that it was moved to, where NetBox tells.
func (e *external) movedBy(ctx context.Context, uid types.UID) movedError {
	is := e.record.Address.String()
	was := e.held.address.String()
	if !e.held.table.Matches(e.record.VRF) {
		was, is = was+" of "+e.held.name, is+" of "+tableName(e.record.VRF)
	}
	m, ok := e.connector.movers.get(uid)
	if !ok || m.record != e.record.ID || m.is != is {
		m = mover{record: e.record.ID, is: is}
	}
	if !m.asked {
		m.by, m.asked = e.authorOf(ctx, []v1alpha1.FieldDrift{{Field: fieldAddress}, {Field: fieldVRF}}, step{})
	}
	e.connector.movers.put(uid, m)
	return movedError{id: e.record.ID, was: was, is: is, by: m.by}
}

// notPutBack says, after an update that was to put the record back and failed, that it stays moved. Where nobody knows, or NetBox can't be
// asked, it stays as it was. NetBox isn't asked again at each look for what it refused.
func (e *external) notPutBack(ctx context.Context, mg *v1alpha1.NetBoxIPAddress, err error) error {
	if netbox.IsUnreachable(err) || netbox.IsUnknownOutcome(err) || netbox.IsConflict(err) {
		return err
	}
	m := e.movedBy(ctx, mg.GetUID())
	if !taken(err) {
		e.sayMoved(mg, sentence(m, e.inputs))
		return err
	}
	note, _ := e.connector.movers.get(mg.GetUID())
	note.refused = failure{at: e.connector.Now(), settings: e.settings}
	e.connector.movers.put(mg.GetUID(), note)
	m.refused = true
	e.sayMoved(mg, sentence(m, e.inputs))
	return m
}

// undoubled says of a record that is again where it was whether another one has got its address meanwhile, which NetBox lets happen where a
// table isn't to have each address once. Else it's given anew.
func (e *external) undoubled(ctx context.Context, mg *v1alpha1.NetBoxIPAddress) error {
	err := e.vacated(ctx, mg)
	if t := (takenError{}); errors.As(err, &t) {
		said := &trouble{v1alpha1.ReasonMoved, t.sentence(e.inputs), t}
		e.sayMoved(mg, said)
		return said
	}
	if err == nil {
		mg.Status.AtProvider.Given = e.receives(ctx, mg, e.record.Address.Addr(), e.record.VRF)
	}
	return err
}

// sayMoved shows on a resource that its record isn't what it was given, and tells it once by an event.
func (e *external) sayMoved(mg *v1alpha1.NetBoxIPAddress, t *trouble) {
	if mg.GetCondition(xpv2.TypeReady).Reason != v1alpha1.ReasonMoved {
		e.warn(mg, event.Warning(eventMoved, t))
	}
	c := xpv2.Unavailable().WithMessage(t.message)
	c.Reason = t.reason
	mg.SetConditions(c)
}

// isMove says that a field is one of those that a resource was given.
func isMove(d v1alpha1.FieldDrift) bool { return d.Field == fieldAddress || d.Field == fieldVRF }
