package netboxipaddress

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// looksAgain is how often an update is decided anew because somebody changed the record in the middle of it.
const looksAgain = 3

// Explainer finds out why NetBox refused what it was asked for.
type Explainer interface {
	Explain(ctx context.Context, r netbox.Request) []string
	NextFree(ctx context.Context, p netbox.Parent) (netip.Prefix, error)
	PopulatedAround(ctx context.Context, a netip.Addr, vrf *netbox.VRF) ([]netbox.Parent, error)
	JSONFields(ctx context.Context) (map[string]bool, error)
}

// Update writes what differs, in one PATCH of the address, or else does the next step of its assignment.
func (e *external) Update(ctx context.Context, mg *v1alpha1.NetBoxIPAddress) (managed.ExternalUpdate, error) {
	who := ""
	if len(e.todo.drifted) > 0 { // Afterwards the last change is ours.
		who = e.author(ctx, e.todo.drifted, e.todo.step)
	}
	t, err := e.perform(ctx, mg)
	if err != nil {
		return managed.ExternalUpdate{}, e.failed(ctx, mg, t, err)
	}
	e.connector.refusals.forget(mg.GetUID())
	return managed.ExternalUpdate{}, e.did(ctx, mg, t, who)
}

// failed says why what was to be done wasn't, and remembers that.
func (e *external) failed(ctx context.Context, mg *v1alpha1.NetBoxIPAddress, t todo, err error) error {
	if t.back {
		err = e.notPutBack(ctx, mg, err)
	}
	if at := e.edgeAssigned(t.patch); at.IsValid() && netbox.IsMarkerTaken(err) {
		err = edgeError{address: at}
	} else if err = e.explain(ctx, mg, err); netbox.KindOf(err) == netbox.KindMarkerTaken && !errors.As(err, new(refusedError)) {
		err = ruleError{e.record.ID, err}
	}
	if len(t.drifted) > 0 { // Status shows them as somebody made them.
		e.connector.undone.put(mg.GetUID(), t.drifted)
	}
	e.refused(mg, err)
	said := e.trouble(mg, err)
	e.conclude(ctx, mg, err)
	return said
}

// did tells of what was done, and shows it. Afterwards the address of a record that was put back may be another one's, too.
func (e *external) did(ctx context.Context, mg *v1alpha1.NetBoxIPAddress, t todo, who string) error {
	mg.Status.AtProvider.AppliedGeneration = mg.GetGeneration() // NetBox kept each field that was written; what wasn't needed no writing.
	e.connector.bare.forget(mg.GetUID())
	if _, marked := t.patch.CustomFields[e.inputs.field]; marked {
		e.takenOver(mg)
	}
	if t.back {
		if err := e.undoubled(ctx, mg); err != nil {
			return e.trouble(mg, err)
		}
		if !e.held.shown { // Nothing of it was shown as long as it was elsewhere.
			e.showRecord(ctx, mg)
		}
		showReady(mg)
	}
	e.connector.undone.forget(mg.GetUID())
	o := &mg.Status.AtProvider
	if to := t.patch.Assigned; to != nil && to.ID != 0 && to.Same(e.record.Assigned) {
		o.Assigned = arrived(o.Assigned, *e.record.Assigned)
	}
	if len(t.drifted) > 0 && (!t.patch.Empty() || t.step.take) {
		e.corrected(mg, t.drifted, who, t.back)
		if slices.ContainsFunc(t.drifted, func(d v1alpha1.FieldDrift) bool { return d.Field == wordAssignTo }) {
			o.Assigned = e.onItsWay(o.Assigned)
		}
	}
	return nil
}

// edgeAssigned is the address that a patch puts on an interface, if it's one that NetBox puts on none.
func (e *external) edgeAssigned(p netbox.Patch) netip.Prefix {
	at := e.record.Address
	if p.Address != nil {
		at, _ = netip.ParsePrefix(*p.Address) // Our own.
	}
	if p.Assigned == nil || p.Assigned.ID == 0 || edgeOf(at) == "" {
		return netip.Prefix{}
	}
	return at
}

// perform does what is to be done, and returns what was done. A record that somebody changes meanwhile is looked at again, and what is
// to be done decided anew: nothing that a person wrote is overwritten blindly.
func (e *external) perform(ctx context.Context, mg *v1alpha1.NetBoxIPAddress) (todo, error) {
	var err error
	for range looksAgain {
		t := e.todo
		if t.done() {
			return t, nil
		}
		t.patch.Assigned = t.step.move
		if t.patch.Empty() && t.step.seat != "" {
			e.sending(mg, netbox.Patch{Assigned: e.record.Assigned}) // Of a seat no more is told than that it's being assigned.
			return t, e.sit(ctx, t.step)
		}
		if err = e.patch(ctx, mg, t); !netbox.IsConflict(err) {
			return t, err
		}
		if lerr := e.lookAgain(ctx, mg); lerr != nil {
			return t, lerr
		}
	}
	return e.todo, err
}

// lookAgain reads the record anew and decides what is to be done.
func (e *external) lookAgain(ctx context.Context, mg *v1alpha1.NetBoxIPAddress) error {
	ip, err := e.netbox.Get(ctx, e.record.ID)
	if err != nil {
		return err
	}
	if o := e.whoseNow(mg, ip); o != ownerUs && o != ownerRestored {
		return e.notOurs(mg, ip.ID, o)
	}
	e.record, e.age = &ip, 0
	e.todo, err = e.consider(ctx, mg)
	return err
}

// patch writes what differs, and looks whether NetBox kept it: it drops custom fields that it doesn't know, and stores some values
// in a form of its own. Those aren't written again and again.
func (e *external) patch(ctx context.Context, mg *v1alpha1.NetBoxIPAddress, t todo) error {
	before := *e.record
	e.sending(mg, t.patch)
	ip, err := e.netbox.Patch(ctx, before, t.patch)
	if err != nil {
		return err
	}
	e.record = &ip
	if t.patch.Address != nil || t.patch.VRF != nil {
		e.displace(mg, ip)
	}
	left, err := e.diff(ctx, mg.Spec.ForProvider)
	if err != nil {
		return err
	}
	left = common(left, t.patch)
	if t.patch.Assigned != nil && t.patch.Assigned.ID != 0 && !t.patch.Assigned.Same(ip.Assigned) {
		left.Assigned = t.patch.Assigned
	}
	if left.Empty() {
		return nil
	}
	now := e.connector.Now()
	err, e.until = unkeptError{words(left)}, now.Add(retryUnkept)
	e.connector.unkept.put(mg.GetUID(), failure{err: err, at: now, settings: e.settings, of: e.of.UID})
	return err
}

// common is what of a patch is left that was to be written by another.
func common(left, written netbox.Patch) netbox.Patch {
	for _, f := range []struct {
		left    **string
		written *string
	}{
		{&left.Address, written.Address}, {&left.Status, written.Status}, {&left.Role, written.Role}, {&left.DNSName, written.DNSName},
		{&left.Description, written.Description}, {&left.Comments, written.Comments}, {&left.Tenant, written.Tenant},
	} {
		if f.written == nil {
			*f.left = nil
		}
	}
	if written.Tags == nil {
		left.Tags = nil
	}
	if written.VRF == nil {
		left.VRF = nil
	}
	fields := map[string]any{}
	for name, v := range left.CustomFields {
		if _, ok := written.CustomFields[name]; ok {
			fields[name] = v
		}
	}
	left.CustomFields = fields
	return left
}

// unkept returns that NetBox lately didn't keep just what is to be written now.
func (e *external) unkept(mg *v1alpha1.NetBoxIPAddress, what string) error {
	f, ok := e.connector.unkept.get(mg.GetUID(), e.settings)
	if ok && f.err == error(unkeptError{what}) && e.connector.Now().Sub(f.at) < retryUnkept { //nolint:errorlint // A value of ours.
		e.until = f.at.Add(retryUnkept)
		return f.err
	}
	e.connector.unkept.forget(mg.GetUID())
	return nil
}

// explain adds what can be found out about a refusal.
func (e *external) explain(ctx context.Context, mg *v1alpha1.NetBoxIPAddress, err error) error {
	cause := err
	if over := failedOver(mg.Spec.ForProvider, err); over != nil {
		cause = over
	}
	var busy takenError
	var gone lostError
	if e.ruled || errors.As(err, new(barredError)) { // Nothing that spec says is what NetBox has against it.
		return err
	}
	if (!netbox.IsInvalid(cause) && !netbox.IsMarkerTaken(cause)) || errors.As(err, &busy) || errors.As(err, &gone) {
		return err
	}
	policy, _ := e.policy(deref(mg.Spec.ForProvider.DNSName))
	r, tenant := requestOf(mg.Spec.ForProvider, policy, e.us.marker()), ""
	if n, ok := errors.AsType[*netbox.Error](cause); ok && policy.Tenant != "" {
		r.Tenant = "" // That's none of spec's.
		if slices.Contains(n.Fields, "tenant") {
			tenant = policy.Tenant
		}
	}
	why := e.netbox.Explain(ctx, r)
	if len(why) == 0 && tenant == "" {
		return err
	}
	return refusedError{strings.Join(why, "; "), tenant, cause}
}

// failedOver is a 500 as the refusal that it may be, or nil. NetBox aborts an allocation with a tag that isn't for addresses so (356), and
// fails over some values of another type than their custom field takes. Whether the record was made isn't known by that, and is looked up.
func failedOver(p v1alpha1.NetBoxIPAddressParameters, err error) error {
	e, ok := errors.AsType[*netbox.Error](err)
	if !ok || e.Kind != netbox.KindUnknownOutcome || e.Status != http.StatusInternalServerError || len(p.Tags)+len(p.CustomFields) == 0 {
		return nil
	}
	refusal := *e
	refusal.Kind, refusal.Err = netbox.KindInvalid, err
	return &refusal
}

// A ruleError is a change that NetBox refuses by a rule that isn't about one field.
type ruleError struct {
	id    int64
	cause error
}

func (e ruleError) Error() string { return fmt.Sprintf("a rule refuses the change of record %d", e.id) }

func (e ruleError) Unwrap() error { return e.cause }

func (e ruleError) words(in inputs) (reason xpv2.ConditionReason, message string) {
	return v1alpha1.ReasonConflict, fmt.Sprintf("the NetBox of %s refuses the change of record %d by a rule of its own: a device may have taken it for its primary or out-of-band address meanwhile, another custom field may be required on addresses (set that in spec.forProvider.customFields), or a value there may be none of its field's choices; it is looked at again", in.config, e.id)
}

// worded is an error that has its own sentence.
type worded interface {
	error
	words(in inputs) (reason xpv2.ConditionReason, message string)
}

// wordedTrouble words an error that has its own sentence; nil for others.
func wordedTrouble(err error, in inputs) *trouble {
	var w worded
	if !errors.As(err, &w) {
		return nil
	}
	reason, message := w.words(in)
	return &trouble{reason, message, err}
}
