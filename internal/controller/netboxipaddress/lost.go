package netboxipaddress

import (
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
	// restore says that it was to be made again, which can't be: holder is who has its address by now, as far as can be seen.
	restore bool
	holder  string
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
	case e.holder != "":
		fmt.Fprintf(&b, ", and %s has the address by now: no other one is taken in its place; free the address there, or delete this resource to give it up", e.holder)
	case e.restore:
		b.WriteString(", and NetBox refuses to make it again: the address was given to a record that its token may not see, or is in a range that was marked as populated; free it there, or delete this resource to give it up")
	default:
		b.WriteString(", by itself or with the interface or device that had it: a machine may be using the address, so no other one is taken in its place; set spec.forProvider.whenLost: Restore to have it made again, or delete this resource to give it up")
	}
	b.WriteString(e.left.words(in))
	return v1alpha1.ReasonLost, b.String()
}

// gone decides about a resource whose record isn't in NetBox any more: it's held, or the same address is planned again. Another one
// never is, as a machine may be using that one.
func (e *external) gone(ctx context.Context, mg *v1alpha1.NetBoxIPAddress) (plan, error) {
	out, err := e.regain(ctx, mg)
	if l := (lostError{}); errors.As(err, &l) {
		e.missed(mg, l)
	}
	return out, err
}

// missed notes that a resource's record isn't there, or isn't shown.
func (e *external) missed(mg *v1alpha1.NetBoxIPAddress, err error) {
	e.connector.losses.put(mg.GetUID(), failure{err: err, at: e.connector.Now(), settings: e.namedSettings(mg), of: e.of.UID})
}

// namedSettings change also when somebody names another record, as the message of a loss tells him to.
func (e *external) namedSettings(mg *v1alpha1.NetBoxIPAddress) string {
	return e.settings + "/" + meta.GetExternalName(mg)
}

// lostLately is a loss that was found a while ago: each look for it anew costs two requests, and one deletion may have lost thousands. What is being
// deleted goes without what is lost, and waits for what isn't shown.
func (e *external) lostLately(mg *v1alpha1.NetBoxIPAddress) error {
	losses := e.connector.losses
	f, ok := losses.get(mg.GetUID(), e.namedSettings(mg))
	v, deleted, many := veiledError{}, meta.WasDeleted(mg), losses.count(e.of.UID)
	hidden := errors.As(f.err, &v)
	if hidden { // A look for it costs twice as much.
		many *= 2
	}
	if !ok || deleted && (!hidden || !e.binds(mg)) || e.connector.Now().Sub(f.at) >= e.connector.belief(many) {
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
	l := lostError{id: recordOf(mg), address: p.Address}
	address, vrf, seen := lastSeen(mg.Status.AtProvider)
	if seen {
		l.id, l.address = mg.Status.AtProvider.ID, address.String()
	}
	c := e.culprit(ctx, mg.GetUID(), l.id)
	if err := e.unveiled(ctx, mg, c); err != nil {
		return plan{}, err
	}
	l.by = c.name
	if l.address == "" || p.WhenLost != v1alpha1.LostRestore {
		return plan{}, l
	}
	l.restore = true
	if !seen {
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
	others, err := e.others(ctx, out, deref(p.Role))
	switch {
	case err != nil || len(others) == 0:
		return out, err
	case len(others) == 1 && e.whose(others[0]) == ownerReleased && e.retired(others[0]) && len(e.traces(others[0])) == 0: // Set aside for this resource, by who was given it.
		out.adopt = &others[0]
		return out, nil
	}
	l.holder = recordWords(e.takenFrom(out, others[0]))
	return plan{}, l
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

// tellLost tells a loss once: when Ready is about to say it, and didn't before.
func (e *external) tellLost(mg *v1alpha1.NetBoxIPAddress, t *trouble) {
	if t.reason == v1alpha1.ReasonLost && mg.GetCondition(xpv2.TypeReady).Reason != v1alpha1.ReasonLost {
		e.warn(mg, event.Warning(eventLost, t))
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
