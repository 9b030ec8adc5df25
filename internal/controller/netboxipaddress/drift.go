package netboxipaddress

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

const (
	// reasonDriftCorrected is an event: somebody's change in NetBox was undone.
	reasonDriftCorrected event.Reason = "DriftCorrected"
	// reasonDrifted is an event: somebody's change in NetBox was seen, and stays.
	reasonDrifted event.Reason = "Drifted"
	// justMade is how long a resource whose record was made or adopted may be without a status.
	justMade = time.Minute
	// shown is how much of a value status shows.
	shown = 120
)

// A todo is what must be written to NetBox.
type todo struct {
	patch netbox.Patch
	step  step
	// drifted are the fields among them that somebody changed in NetBox.
	drifted []v1alpha1.FieldDrift
	// back says that the patch puts a record back that somebody moved.
	back bool
}

func (t todo) done() bool { return t.patch.Empty() && t.step.done() }

// words lists what would change, for the log.
func (t todo) words() string {
	p := t.patch
	if !t.step.done() {
		p.Assigned = &netbox.Place{}
	}
	return words(p)
}

// applied says that NetBox had what this spec says: what differs now was changed there. Status says so, of this generation, or Synced; that one
// is False after each look that failed. Nothing is known where the resource was restored without its status; one that was just made or adopted
// has none yet.
func (e *external) applied(mg *v1alpha1.NetBoxIPAddress) (known, yes bool) {
	c, generation := mg.GetCondition(xpv2.TypeSynced), mg.GetGeneration()
	known = c.Status != corev1.ConditionUnknown || e.connector.Now().Sub(meta.GetExternalCreateSucceeded(mg)) < justMade
	return known, c.Status == corev1.ConditionTrue && c.ObservedGeneration == generation || generation != 0 && e.was.AppliedGeneration == generation
}

// consider decides what must be written, of all that differs: where drift is only to be reported, not what somebody changed in NetBox.
// What stays so is noted in status, and told once by an event.
func (e *external) consider(ctx context.Context, mg *v1alpha1.NetBoxIPAddress) (todo, error) {
	patch, err := e.diff(ctx, mg.Spec.ForProvider)
	if err != nil {
		return todo{}, err
	}
	t := todo{patch: patch}
	if e.stays, err = e.moved(ctx, mg, patch); err != nil {
		return todo{}, err
	}
	t.step, err = e.next(ctx, mg, e.age)
	placed := err == nil && t.step.done()
	there := e.record.Assigned != nil && t.step.target.Same(e.record.Assigned)
	e.astray = !placed
	t.drifted = e.driftOf(mg, t, placed)
	if mg.Spec.ForProvider.Drift == v1alpha1.DriftReport {
		if slices.ContainsFunc(t.drifted, func(d v1alpha1.FieldDrift) bool { return d.Field == wordAssignTo }) {
			t.step, err = step{}, nil
		}
		t.patch = without(t.patch, t.drifted)
		e.report(ctx, mg, t.drifted)
		t.drifted = nil
	} else {
		mg.Status.AtProvider.Drift = nil
	}
	if e.stays != nil {
		t.patch.Address, t.patch.VRF = nil, nil
		t.drifted = slices.DeleteFunc(t.drifted, isMove)
	}
	if t.patch.Empty() {
		mg.Status.AtProvider.AppliedGeneration = mg.GetGeneration()
		e.connector.bare.forget(mg.GetUID())
	}
	t.back = e.strayed() && (t.patch.Address != nil || t.patch.VRF != nil)
	switch {
	case placed && mg.Spec.ForProvider.AssignTo == nil:
		mg.Status.AtProvider.Assigned = nil
	case placed && e.record.Assigned != nil:
		mg.Status.AtProvider.Assigned = assigned(*e.record.Assigned, useOf(mg))
	case there: // Its seat may be another's for good, or not ours to take.
		mg.Status.AtProvider.Assigned = arrived(mg.Status.AtProvider.Assigned, *e.record.Assigned)
	}
	if err != nil && !t.patch.Empty() { // What can be written isn't held up by what can't, which the look after it tells.
		t.step, err = step{}, nil
	}
	if err == nil && t.done() {
		e.connector.sent.forget(mg.GetUID()) // Status says now how the record is.
		e.connector.undone.forget(mg.GetUID())
	}
	return t, err
}

// driftOf lists what somebody changed in NetBox, of all that differs: also what was to be put right before, and wasn't. Where nothing is known of
// what was applied, that is what was noted before; and where changes are only reported, all that differs.
func (e *external) driftOf(mg *v1alpha1.NetBoxIPAddress, t todo, placed bool) []v1alpha1.FieldDrift {
	known, yes := e.applied(mg)
	bare, _ := e.connector.bare.get(mg.GetUID())
	if bare {
		yes, mg.Status.AtProvider.AppliedGeneration = false, 0 // The next process knows by that.
	}
	reports := mg.Spec.ForProvider.Drift == v1alpha1.DriftReport
	undone, _ := e.connector.undone.get(mg.GetUID())
	var out []v1alpha1.FieldDrift
	for _, d := range e.differences(mg.Spec.ForProvider, t.patch) {
		as := func(n v1alpha1.FieldDrift) bool { return n.Field == d.Field && n.Wanted == d.Wanted }
		noted := slices.ContainsFunc(mg.Status.AtProvider.Drift, as)
		if yes || slices.ContainsFunc(undone, as) || (!bare && e.wasWanted(mg.Spec.ForProvider, d) && !e.sentAs(mg, d.Field)) || (reports && (noted || !known)) || (e.strayed() && isMove(d)) {
			out = append(out, d)
		}
	}
	if was := mg.Status.AtProvider.Assigned; !placed && was != nil && t.step.target != nil && assignedTo(was, t.step.target) && was.Use == useOf(mg) && !e.sentAs(mg, wordAssignTo) {
		d := v1alpha1.FieldDrift{Field: wordAssignTo, Wanted: t.step.target.String(), Found: "nothing"}
		if at := e.record.Assigned; at != nil {
			d.Found = at.String()
		}
		out = append(out, d)
	}
	return out
}

// differences lists what a patch would change. Our marker isn't anybody's to change, and a tenant that a policy sets isn't the
// resource's to give up: both are written in any case.
func (e *external) differences(p v1alpha1.NetBoxIPAddressParameters, patch netbox.Patch) []v1alpha1.FieldDrift {
	got := e.record
	var out []v1alpha1.FieldDrift
	for _, f := range []struct {
		name  string
		want  *string
		found string
	}{
		{fieldAddress, patch.Address, got.Address.String()}, {"status", patch.Status, got.Status}, {"role", patch.Role, got.Role}, {"dnsName", patch.DNSName, got.DNSName},
		{"description", patch.Description, got.Description}, {"comments", patch.Comments, got.Comments}, {"tenant", patch.Tenant, got.Tenant},
	} {
		byPolicy := f.name == "tenant" && (p.Tenant == nil || (f.want != nil && *f.want != p.Tenant.Slug))
		if f.want != nil && !byPolicy {
			out = append(out, v1alpha1.FieldDrift{Field: f.name, Wanted: brief(*f.want), Found: brief(f.found)})
		}
	}
	if patch.VRF != nil {
		out = append(out, v1alpha1.FieldDrift{Field: fieldVRF, Wanted: brief(e.held.name), Found: brief(tableName(got.VRF))})
	}
	if patch.Tags != nil {
		out = append(out, v1alpha1.FieldDrift{Field: "tags", Wanted: brief(strings.Join(p.Tags, ", ")), Found: brief(strings.Join(got.Tags, ", "))})
	}
	for _, name := range slices.Sorted(maps.Keys(patch.CustomFields)) {
		if name != e.inputs.field {
			out = append(out, v1alpha1.FieldDrift{
				Field: wordCustomFields + "." + name, Wanted: brief(written(patch.CustomFields[name])), Found: brief(written(plain(got.CustomFields[name]))),
			})
		}
	}
	return out
}

// without takes fields out of a patch.
func without(p netbox.Patch, fields []v1alpha1.FieldDrift) netbox.Patch {
	p.CustomFields = maps.Clone(p.CustomFields)
	for _, f := range fields {
		switch f.Field {
		case fieldAddress:
			p.Address = nil
		case fieldVRF:
			p.VRF = nil
		case "status":
			p.Status = nil
		case "role":
			p.Role = nil
		case "dnsName":
			p.DNSName = nil
		case "description":
			p.Description = nil
		case "comments":
			p.Comments = nil
		case "tenant":
			p.Tenant = nil
		case "tags":
			p.Tags = nil
		default:
			delete(p.CustomFields, strings.TrimPrefix(f.Field, wordCustomFields+"."))
		}
	}
	return p
}

// report notes in status what somebody changed and what stays so, and tells by an event what wasn't noted yet.
func (e *external) report(ctx context.Context, mg *v1alpha1.NetBoxIPAddress, drifted []v1alpha1.FieldDrift) {
	before := mg.Status.AtProvider.Drift
	mg.Status.AtProvider.Drift = nil
	now := metav1.NewTime(e.connector.Now())
	var fresh []v1alpha1.FieldDrift
	for _, d := range drifted {
		i := slices.IndexFunc(before, func(b v1alpha1.FieldDrift) bool { return sameDrift(b, d) })
		if i >= 0 {
			mg.Status.AtProvider.Drift = append(mg.Status.AtProvider.Drift, before[i])
			continue
		}
		d.Since = &now
		fresh = append(fresh, d)
	}
	if len(fresh) == 0 {
		return
	}
	who := e.author(ctx, fresh, step{})
	for i := range fresh {
		fresh[i].By = who
	}
	mg.Status.AtProvider.Drift = append(mg.Status.AtProvider.Drift, fresh...)
	e.connector.Tally.Drifted(e.of.Ref, "Reported")
	if e.strayed() { // That is told by an event of its own.
		fresh = slices.DeleteFunc(fresh, isMove)
	}
	if len(fresh) > 0 {
		e.warn(mg, event.Warning(reasonDrifted, errors.New(drifting(e.network().String(), fresh, who)+", and stays so, as spec.forProvider.drift is Report")))
	}
}

// sameDrift says that both are of one change, whoever made it.
func sameDrift(a, b v1alpha1.FieldDrift) bool {
	return a.Field == b.Field && a.Wanted == b.Wanted && a.Found == b.Found
}

// corrected tells by an event what was undone; back says that the record was put back to where it was.
func (e *external) corrected(mg *v1alpha1.NetBoxIPAddress, drifted []v1alpha1.FieldDrift, who string, back bool) {
	e.connector.Tally.Drifted(e.of.Ref, "Corrected")
	again := "and is again what spec says"
	if back {
		again = "and is again what it was"
	}
	e.connector.Recorder.Event(mg, event.Normal(reasonDriftCorrected, drifting(e.record.Address.String(), drifted, who)+", "+again))
}

// drifting says what somebody changed. Values may be anybody's business and aren't in it.
func drifting(address string, drifted []v1alpha1.FieldDrift, who string) string {
	var fields []string
	for _, d := range drifted {
		fields = append(fields, d.Field)
	}
	if who != "" {
		who = " by " + who
	}
	return fmt.Sprintf("%s of %s was changed in NetBox%s", strings.Join(fields, ", "), address, who)
}

// useOf is the use that spec asks for.
func useOf(mg *v1alpha1.NetBoxIPAddress) v1alpha1.AddressUse {
	if a := mg.Spec.ForProvider.AssignTo; a != nil && a.Use != "" {
		return a.Use
	}
	return v1alpha1.UseAdditional
}

// written is a custom field's value as JSON.
func written(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(b)
}

// brief is a value that status can show. What is too long is told apart by its digest.
func brief(s string) string {
	if len(s) <= shown {
		return s
	}
	return fmt.Sprintf("%s… (sha256:%x)", strings.ToValidUTF8(s[:shown], ""), sha256.Sum256([]byte(s)))
}
