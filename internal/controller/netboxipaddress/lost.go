package netboxipaddress

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// eventLost tells that a record is gone.
const eventLost event.Reason = "Lost"

// A lostError is a record that was ours, and isn't in NetBox any more.
type lostError struct {
	id int64
	// address that it had; "" where nobody knows any more.
	address string
	// by is who deleted it, or "".
	by string
	// restore says that it's to be made again. Where that can't be, holder is who has its address by now, as far as can be seen, or cause what else
	// keeps it from that; comes says that it's about to be.
	restore bool
	holder  string
	cause   error
	comes   bool
	// heir is who was given the address since, and whose own record isn't there any more, or elsewhere.
	heir string
	// left is one that was made again meanwhile, where it couldn't be taken back.
	left remnant
}

func (e lostError) Error() string {
	return fmt.Sprintf("record %d (%s) is gone from NetBox", e.id, e.address)
}

func (e lostError) words(in inputs) (reason xpv2.ConditionReason, message string) {
	var b strings.Builder
	fmt.Fprintf(&b, "record %d", e.id)
	if e.address != "" {
		fmt.Fprintf(&b, " of address %q", e.address)
	}
	fmt.Fprintf(&b, " was deleted in the NetBox of %s", in.config)
	if e.by != "" {
		fmt.Fprintf(&b, " by %q", e.by)
	}
	switch {
	case e.address == "":
		b.WriteString(", or isn't shown to its token, and nobody knows any more which address it had: no other one is taken in its place; make it again there and name its number in annotation crossplane.io/external-name, or delete this resource")
	case e.heir != "":
		fmt.Fprintf(&b, ", and the address was %s since, whose record somebody deleted or moved, and a machine may be using it: no other one is taken in its place; have that resource deleted, or delete this one to give it up", e.heir)
	case e.holder != "":
		fmt.Fprintf(&b, ", and %s has the address by now: no other one is taken in its place; free the address there, or delete this resource to give it up", e.holder)
	case e.comes:
		b.WriteString(", by itself or with the interface or device that had it, and is made again, as spec.forProvider.whenLost says")
	case e.restore && e.cause != nil:
		b.WriteString(", by itself or with the interface or device that had it, and can't be made again yet; a machine may be using the address, which NetBox may give to another one until then: " + sentence(e.cause, in).message)
	case e.restore:
		b.WriteString(", and NetBox refuses to make it again: the address was given to a record that its token may not see, or is in a range that was marked as populated; free it there, or delete this resource to give it up")
	default:
		b.WriteString(", by itself or with the interface or device that had it: a machine may be using the address, so no other one is taken in its place; set spec.forProvider.whenLost: Restore to have it made again, or delete this resource to give it up")
	}
	if !e.restore && e.cause != nil {
		b.WriteString("; besides, " + sentence(e.cause, in).message)
	}
	b.WriteString(e.left.words(in))
	return v1alpha1.ReasonLost, b.String()
}

// gone decides about a resource whose record isn't in NetBox any more: it's held, or the same address is planned again. Another one
// never is, as a machine may be using that one.
func (e *external) gone(ctx context.Context, mg *v1alpha1.NetBoxIPAddress) (plan, error) {
	out, err := e.regain(ctx, mg)
	if l := (lostError{}); errors.As(err, &l) {
		e.believe(ctx, mg, l)
	}
	return out, err
}

// bereft says of what keeps a record from being made that it's one which this resource had, where NetBox has just said that there's none any more:
// that comes first, as a machine may be using its address.
func (e *external) bereft(ctx context.Context, mg *v1alpha1.NetBoxIPAddress, err error) error {
	switch {
	case e.record != nil, unnamed(mg), e.theirs, neverHad(mg), errors.As(err, new(lostError)), errors.As(err, new(veiledError)), e.plan.adopt != nil && !e.plan.again:
		return err
	}
	l, veiled := e.loss(ctx, mg)
	if veiled != nil {
		return veiled
	}
	l.cause = err
	if e.refusedLately(mg) == nil && lasts(err) { // What NetBox refused has a time of its own.
		e.believe(ctx, mg, l)
	}
	return l
}

// believe for a while that a resource's record isn't there, or isn't shown.
func (e *external) believe(ctx context.Context, mg *v1alpha1.NetBoxIPAddress, err error) {
	e.connector.losses.put(mg.GetUID(), failure{err: err, at: e.connector.Now(), settings: e.lossSettings(ctx, mg), of: e.of.UID})
}

// lossSettings change also when somebody names another record, as the message of a loss tells him to, and with the host that the address is for.
func (e *external) lossSettings(ctx context.Context, mg *v1alpha1.NetBoxIPAddress) string {
	w, err := e.wish(ctx, mg)
	return fmt.Sprintf("%s/%+v %v", e.namedSettings(mg), w, err)
}

// namedSettings change also when somebody names another record.
func (e *external) namedSettings(mg *v1alpha1.NetBoxIPAddress) string {
	return e.settings + "/" + meta.GetExternalName(mg)
}

// lostLately is a loss that was found a while ago: each look for it anew costs two requests, and one deletion may have lost thousands. What is being
// deleted goes without what is lost, and waits for what isn't shown.
func (e *external) lostLately(ctx context.Context, mg *v1alpha1.NetBoxIPAddress) error {
	losses := e.connector.losses
	f, known := losses.notes.get(mg.GetUID())
	v, deleted, many := veiledError{}, meta.WasDeleted(mg), losses.count(e.of.UID)
	hidden := errors.As(f.err, &v)
	if !known || deleted && (!hidden || !e.binds(mg)) {
		return nil
	}
	if hidden { // A look for it costs twice as much.
		many *= 2
	}
	if f.settings != e.lossSettings(ctx, mg) || e.connector.Now().Sub(f.at) >= e.connector.belief(many) {
		return nil
	}
	if hidden {
		v.releasing = deleted
		return v
	}
	return f.err
}

func (e *external) regain(ctx context.Context, mg *v1alpha1.NetBoxIPAddress) (plan, error) {
	if neverHad(mg) {
		return plan{}, unseenError{meta.GetExternalName(mg)}
	}
	p := mg.Spec.ForProvider
	l, err := e.loss(ctx, mg)
	if err != nil {
		return plan{}, err
	}
	if !l.restore {
		return plan{}, l
	}
	address, vrf, _ := lastSeen(mg.Status.AtProvider)
	if !e.held.shown {
		out, err := e.given(ctx, p)
		out.again, out.lost = true, l
		return out, err
	}
	policy, err := e.allowed(address, deref(p.DNSName))
	out := plan{address: address, vrf: vrf, duplicates: p.Duplicates, again: true, lost: l, policy: policy}
	if err != nil {
		return out, err
	}
	// NetBox itself refuses a second one only where a table is to have each address once.
	others, err := e.unjoined(ctx, out, deref(p.Role))
	switch {
	case err != nil:
		return out, err
	case len(others) == 0:
		if l.heir, err = e.since(ctx, p, address.Addr(), vrf); l.heir != "" {
			return plan{}, l
		}
		return out, err
	case len(others) == 1 && e.whose(others[0]) == ownerReleased && e.retired(others[0]) && len(e.traces(others[0])) == 0: // Set aside for this resource, by who was given it.
		out.adopt = &others[0]
		return out, nil
	}
	l.holder = recordWords(e.takenFrom(out, others[0]))
	return plan{}, l
}

// loss is what is known of a record that is gone. An error says that it may not be: NetBox hides it, or doesn't say.
func (e *external) loss(ctx context.Context, mg *v1alpha1.NetBoxIPAddress) (lostError, error) {
	if e.missing != nil { // It's asked once for each look.
		return *e.missing, e.doubt
	}
	p := mg.Spec.ForProvider
	id, address := e.had(mg)
	l := lostError{id: id, address: cmp.Or(address, p.Address)}
	c := e.culprit(ctx, mg.GetUID(), l.id)
	l.by, l.restore = c.name, l.address != "" && p.WhenLost == v1alpha1.LostRestore
	e.missing, e.doubt = &l, e.unveiled(ctx, mg, c)
	return l, e.doubt
}

// had is the record that a resource had, and its address, as status says, or "": what was only looked at is nothing that it had.
func (e *external) had(mg *v1alpha1.NetBoxIPAddress) (id int64, address string) {
	if !e.held.shown {
		return recordOf(mg), ""
	}
	a, _, _ := lastSeen(mg.Status.AtProvider)
	return mg.Status.AtProvider.ID, a.String()
}

// lastSeen is the address that a record had when it was last seen. ok is false where nothing was.
func lastSeen(o v1alpha1.NetBoxIPAddressObservation) (netip.Prefix, *netbox.VRF, bool) {
	p, err := netip.ParsePrefix(o.Address)
	if err != nil || o.ID == 0 {
		return netip.Prefix{}, nil, false
	}
	if o.VRF == nil {
		return p, nil, true
	}
	return p, &netbox.VRF{ID: o.VRF.ID, Name: o.VRF.Name}, true
}

// recordWords name a record and where it is, and nothing of what it says: it may be another tenant's.
func recordWords(t takenError) string {
	if t.url == "" {
		return fmt.Sprintf("record %d", t.id)
	}
	return fmt.Sprintf("record %d (%s)", t.id, t.url)
}

// holderWords name what has the address of a record that is to be made again; "" where it can't be seen.
func holderWords(t takenError) string {
	if t.inside != "" {
		return t.inside + ", which is marked as populated,"
	}
	if t.id == 0 {
		return ""
	}
	return recordWords(t)
}

// A missing is a loss that was told: which record is gone, and who had its address by then.
type missing struct {
	record int64
	holder string
}

// tellLost tells a loss once: when Ready is about to say it, and didn't before, or when the record is about to be made again. Where that fails Ready
// says so by turns.
func (e *external) tellLost(mg *v1alpha1.NetBoxIPAddress, err error) {
	l := lostError{}
	if !errors.As(err, &l) {
		return
	}
	now := missing{l.id, l.holder}
	was, told := e.connector.missed.get(mg.GetUID())
	e.connector.missed.put(mg.GetUID(), now)
	if told && was == now || mg.GetCondition(xpv2.TypeReady).Reason == v1alpha1.ReasonLost {
		return
	}
	e.warn(mg, event.Warning(eventLost, sentence(l, e.inputs)))
}

// tellRestored tells the loss of a record that is about to be made again.
func (e *external) tellRestored(mg *v1alpha1.NetBoxIPAddress) {
	if l := e.plan.lost; e.plan.again {
		l.comes = true
		e.tellLost(mg, l)
	}
}

// A culprit is who deleted a record, or "" where NetBox doesn't tell: its log is asked once for each loss. deleted says that the log has that,
// and free the settings by which NetBox was asked, once as well, whether it hides the record, and didn't say so.
type culprit struct {
	record  int64
	name    string
	deleted bool
	free    string
}

// culprit is who deleted a record, where NetBox tells: a nicety, for which nothing waits. It's said as NetBox has it in its log, also of
// a record that went with its interface or device.
func (e *external) culprit(ctx context.Context, uid types.UID, record int64) culprit {
	if c, ok := e.connector.culprits.get(uid); ok && c.record == record {
		return c
	}
	changes, err := e.netbox.Changes(ctx, record)
	if err != nil && !netbox.IsForbidden(err) {
		return culprit{} // Asked again at the next look.
	}
	c := culprit{record: record}
	if len(changes) > 0 && changes[0].Deleted() {
		c.name, c.deleted = changes[0].User, true
	}
	e.connector.culprits.put(uid, c)
	return c
}
