package netboxipaddress

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// quarantine is how long one lasts, where spec doesn't say.
const quarantine = 24 * time.Hour

// Reasons of events.
const (
	eventQuarantined event.Reason = "Quarantined"
	eventKept        event.Reason = "Kept"
)

// A note is what a record says that a resource let go: whose it was, and when it may be deleted. As text it reads MARKER TIME, or just
// MARKER for one that is kept.
type note struct {
	marker string
	// until is zero for a record that is kept.
	until time.Time
}

func (n note) String() string {
	if n.until.IsZero() {
		return n.marker
	}
	return n.marker + " " + n.until.UTC().Format(time.RFC3339)
}

// parseNote reads a note; ok is false for what isn't one.
func parseNote(s string) (n note, ok bool) {
	marker, until, timed := strings.Cut(s, " ")
	if _, ok := parseMarker(marker); !ok {
		return note{}, false
	}
	n.marker = marker
	if timed {
		t, err := time.Parse(time.RFC3339, until)
		if err != nil || t.IsZero() {
			return note{}, false
		}
		n.until = t
	}
	return n, true
}

// whose says who a record belongs to: by its marker, and where it has none by its release note.
func (e *external) whose(ip netbox.IPAddress) owner {
	o := ownerOf(ip.Marker(e.inputs.field), e.us)
	if o != ownerNobody || !ip.Unmarked(e.inputs.field) {
		return o
	}
	n, ok := parseNote(ip.Marker(e.inputs.note))
	if was := ownerOf(n.marker, e.us); ok && (was == ownerUs || was == ownerRestored) {
		return ownerReleased
	}
	return o
}

// retired says that a record is in quarantine: as we left it, and nobody's yet.
func (e *external) retired(ip netbox.IPAddress) bool {
	n, ok := parseNote(ip.Marker(e.inputs.note))
	return ok && !n.until.IsZero() && ip.Retired(e.inputs.field)
}

func releaseOf(p v1alpha1.NetBoxIPAddressParameters) (policy string, after time.Duration) {
	policy, after = v1alpha1.ReleaseDelete, quarantine
	if r := p.Release; r != nil {
		if r.Policy != "" {
			policy = r.Policy
		}
		if r.After != nil {
			after = r.After.Duration
		}
	}
	return policy, after
}

// release lets the record go. Whatever fails is tried again: until NetBox has said that it's done, nothing is forgotten.
func (e *external) release(ctx context.Context, mg *v1alpha1.NetBoxIPAddress) error {
	policy, after := releaseOf(mg.Spec.ForProvider)
	marker := e.record.Marker(e.inputs.field)
	if policy != v1alpha1.ReleaseKeep {
		if err := e.inUse(ctx, mg); err != nil {
			return err
		}
	}
	n := note{marker: e.us.marker()}
	switch policy {
	case v1alpha1.ReleaseDelete:
		e.bid(mg, e.released(*e.record))
		return e.netbox.Delete(ctx, *e.record, marker)
	case v1alpha1.ReleaseQuarantine:
		n.until = e.endOf(after)
	}
	if err := e.netbox.EnsureReleaseField(ctx); err != nil {
		return err
	}
	if n.until.IsZero() {
		e.bid(mg, left(*e.record, n.until))
		return e.netbox.Release(ctx, *e.record, netbox.Release{Marker: marker, Note: n.String()})
	}
	if err := e.unseat(ctx); err != nil {
		return err
	}
	e.connector.Failpoint("netbox-after-unseat")
	e.bid(mg, left(*e.record, n.until))
	err := e.netbox.Release(ctx, *e.record, netbox.Release{Marker: marker, Note: n.String(), Retire: true})
	if err == nil {
		e.connector.Due(n.until)
	}
	return err
}

// unseat takes the address away as a primary or out-of-band one of its machine: NetBox lets no such address be unassigned (574, 579).
func (e *external) unseat(ctx context.Context) error {
	at := e.record.Assigned
	if at == nil || at.Kind == "" || at.Holder == 0 {
		return nil
	}
	h, err := e.netbox.FindHolder(ctx, netbox.HolderRef{Kind: at.Kind, ID: at.Holder})
	if netbox.IsNotFound(err) || netbox.IsForbidden(err) {
		return nil // If it's in a seat all the same, NetBox refuses what follows.
	}
	if err != nil {
		return err
	}
	for _, seat := range netbox.Seats() {
		if h.Seated[seat].ID != e.record.ID {
			continue
		}
		if _, err := e.netbox.Seat(ctx, at.Kind, at.Holder, seat, e.record.ID, 0); err != nil {
			return err
		}
	}
	return nil
}

// inUse says what somebody else made of a record that is about to be released.
func (e *external) inUse(ctx context.Context, mg *v1alpha1.NetBoxIPAddress) error {
	if err := e.sharedWith(ctx, *e.record); err != nil {
		return err
	}
	if e.carried { // Another one's was never to be elsewhere.
		m := e.movedBy(ctx, mg.GetUID())
		m.releasing = true
		return m
	}
	byUs, err := e.byUs(ctx, mg)
	if err != nil {
		return err
	}
	return reused(mg, *e.record, byUs)
}

// sharedWith says, by an error, that a record which is about to be released is another one's, too, as far as its custom fields tell.
func (e *external) sharedWith(ctx context.Context, ip netbox.IPAddress) error {
	t, shared, err := e.sharedBy(ctx, ip)
	if err != nil || !shared {
		return err
	}
	return reusedError{
		id: ip.ID, address: ip.Address.String(),
		how:  fmt.Sprintf("carries the marker of %s in custom field %q", e.traceWords(t), t.field),
		mend: "clear that field there if it's nobody's any more",
	}
}

// A reusedError is a record with our marker that somebody uses for something else.
type reusedError struct {
	id      int64
	address string
	how     string
	// mend is what to do about it in NetBox.
	mend string
}

func (e reusedError) Error() string { return fmt.Sprintf("record %d %s", e.id, e.how) }

func (e reusedError) words(in inputs) (reason xpv2.ConditionReason, message string) {
	return v1alpha1.ReasonConflict, fmt.Sprintf("record %d of address %q in the NetBox of %s %s: somebody uses it, so it isn't released; %s, or set spec.forProvider.release.policy: Keep to leave it as it is", e.id, e.address, in.config, e.how, e.mend)
}

// reused says what somebody else made of a record that is about to be released. What wasn't assigned by us was by a person: that is in use
// there, whoever asks to delete it.
func reused(mg *v1alpha1.NetBoxIPAddress, ip netbox.IPAddress, byUs bool) error {
	p, o := mg.Spec.ForProvider, mg.Status.AtProvider
	err := reusedError{id: ip.ID, address: ip.Address.String()}
	if !byUs {
		err.how = fmt.Sprintf("is assigned to %s, which isn't this resource's doing", ip.Assigned)
		err.mend = "unassign it there"
		return err
	}
	if renamed(p, o, ip.DNSName) {
		err.how = fmt.Sprintf("has DNS name %q, where this resource asks for %q", ip.DNSName, deref(p.DNSName))
		err.mend = "take the name off there"
		return err
	}
	return nil
}

// renamed says whether somebody gave a record a DNS name of another. Names of a spec that was changed a moment ago may not have been
// written yet: what was last seen is ours, too, as long as drift is corrected.
func renamed(p v1alpha1.NetBoxIPAddressParameters, was v1alpha1.NetBoxIPAddressObservation, is string) bool {
	is = canonical(is)
	if is == "" || p.DNSName == nil || is == canonical(*p.DNSName) {
		return false
	}
	return p.Drift == v1alpha1.DriftReport || is != canonical(was.DNSName)
}
