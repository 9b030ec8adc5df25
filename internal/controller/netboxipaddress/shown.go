package netboxipaddress

import (
	"errors"
	"fmt"
	"strings"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

const (
	// mostShown are the sources that status lists; what is left out is counted.
	mostShown = 16
	// mostNamed are the full sources that a sentence names.
	mostNamed = 6
)

// fullWords are a full source's numbers and marks, in brackets, or "". One that is marked gives nothing, or may not, whatever its
// numbers.
func fullWords(u netbox.Usage, e fullError) string {
	var out []string
	if used, ok := u.Used(); ok && e.populated == 0 {
		out = append(out, fmt.Sprintf("%d of %d used", used, u.Size))
	}
	switch {
	case e.populated > 0:
		out = append(out, "marked as populated")
	case e.marked > 0:
		out = append(out, "marked as utilized")
	}
	if len(out) == 0 {
		return ""
	}
	return " (" + strings.Join(out, ", ") + ")"
}

// sources says of each source what became of it: served is the index of the one that gave an address, or -1.
func (e *external) sources(served int) []v1alpha1.SourceObservation {
	var out []v1alpha1.SourceObservation
	for i, c := range e.plan.candidates {
		if served >= 0 && i > served {
			break
		}
		o := v1alpha1.SourceObservation{Source: c.words}
		switch {
		case i == served:
			o.Reason = reasonServed
		case c.err != nil:
			t := sentence(c.err, e.inputs)
			o.Reason, o.Message = string(t.reason), t.message
		default:
			continue
		}
		if c.parent.ID != 0 {
			e.describe(&o, c.parent)
		}
		out = append(out, o)
	}
	if more := len(out) - mostShown + 1; more > 1 {
		last := out[len(out)-1]
		out = append(out[:mostShown-2:mostShown-2], v1alpha1.SourceObservation{
			Source: fmt.Sprintf("%d more", more), Reason: out[mostShown-2].Reason, Message: "left out here",
		}, last)
	}
	return out
}

// describe adds what is known of a prefix or range.
func (e *external) describe(o *v1alpha1.SourceObservation, p netbox.Parent) {
	o.CIDR, o.PrefixID = p.CIDR(), p.ID
	if p.Kind == netbox.ParentRange {
		o.PrefixID, o.RangeID = 0, p.ID
	}
	if n, ok := p.Size(); ok {
		o.Size = &n
	}
	u, ok := e.connector.stocks.usageOf(e, p)
	if !ok {
		return
	}
	if !u.AtLeast {
		o.Free = &u.Free
	}
	if used, ok := u.Used(); ok {
		o.Used = &used
	}
}

// passedOver are the sources for status, where some couldn't serve: where the first one did there's nothing to say.
func (e *external) passedOver(served int) []v1alpha1.SourceObservation {
	if served == 0 {
		return nil
	}
	return e.sources(served)
}

// showWaiting puts on a resource why no source serves it.
func (e *external) showWaiting(mg *v1alpha1.NetBoxIPAddress, t *trouble) {
	if served(mg.Status.AtProvider.Sources) || len(e.plan.candidates) == 0 {
		return // It has had an address, and what it was given stays said; or it wasn't found out what its sources are.
	}
	mg.Status.AtProvider.Sources = nil
	for _, c := range e.plan.candidates {
		if c.err != nil {
			mg.Status.AtProvider.Sources = e.sources(-1)
			break
		}
	}
	if was := mg.GetCondition(v1alpha1.ConditionExhausted).Reason != ""; was || t.reason == v1alpha1.ReasonExhausted {
		mg.SetConditions(v1alpha1.NewCondition(v1alpha1.ConditionExhausted, t.reason == v1alpha1.ReasonExhausted, t.reason, t.message))
	}
}

// showServed takes back that a resource waited.
func showServed(mg *v1alpha1.NetBoxIPAddress) {
	if mg.GetCondition(v1alpha1.ConditionExhausted).Reason != "" {
		mg.SetConditions(v1alpha1.NewCondition(v1alpha1.ConditionExhausted, false, v1alpha1.ReasonAvailable, ""))
	}
}

// Troubles of sources and fixed addresses.
type (
	// takenError: the given address is another record's: id is its number where it can be seen, by says whose it is, on where it's assigned,
	// and url where its page is. inside is the range whose mark is what NetBox has against it, where that's so.
	takenError struct {
		id                   int64
		address, by, on, url string
		inside               string
		// shared says that it might be shared by its role, lost that it's another resource's whose record was deleted, and moved that it was moved; by says whose then.
		shared, lost, moved bool
		// left is this resource's own record of it, where that couldn't be taken back.
		left  remnant
		cause error
	}
	// remnant is a record that couldn't be taken back, and why; its zero value is none.
	remnant struct {
		id    int64
		cause error
	}
	// unfitError: what a filter found isn't what people want addresses from.
	unfitError struct{ why string }
	// outsideError: the given address is in no prefix of its table.
	outsideError struct {
		address string
		table   netbox.VRFRef
		cause   error
	}
)

func (e takenError) Error() string   { return "address taken: " + e.address }
func (e takenError) Unwrap() error   { return e.cause }
func (e unfitError) Error() string   { return e.why }
func (e outsideError) Error() string { return "address outside any prefix: " + e.address }

// elsewhereTrouble words what wasn't found where more is known of it than that; nil for others.
func elsewhereTrouble(err error) *trouble {
	var e *netbox.Error
	if !errors.As(err, &e) || e.Kind != netbox.KindNotFound || e.Elsewhere == "" {
		return nil
	}
	return &trouble{v1alpha1.ReasonNotFound, fmt.Sprintf("cannot %s %q: %s; correct spec.forProvider, or NetBox", e.Op, e.Subject, e.Elsewhere), err}
}

func (e unfitError) words(inputs) (reason xpv2.ConditionReason, message string) {
	return v1alpha1.ReasonInvalid, e.why
}

func (e fullError) words(inputs) (reason xpv2.ConditionReason, message string) {
	return v1alpha1.ReasonExhausted, e.sentence()
}

func (e fullError) sentence() string {
	words := e.sources
	if len(words) == 0 {
		return "no address is free in this source" + fullWords(netbox.Usage{}, e)
	}
	if more := len(words) - mostNamed; more > 0 {
		words = append(words[:mostNamed:mostNamed], fmt.Sprintf("%d more", more))
	}
	others := ""
	if e.others > 0 {
		others = fmt.Sprintf(" (%d that can't serve anyway are in status.atProvider.sources)", e.others)
	}
	how := "free one in NetBox"
	switch {
	case e.populated == len(e.sources):
		how = "take that mark off in NetBox"
	case e.populated+e.marked > 0:
		how = "free one in NetBox or take the mark off"
	}
	return fmt.Sprintf("no address is free in %s%s: %s, or name another source; it goes on as soon as one is free", strings.Join(words, " and "), others, how)
}

func (e takenError) words(in inputs) (reason xpv2.ConditionReason, message string) {
	return v1alpha1.ReasonConflict, e.sentence(in)
}

// words say what is left, to be appended to a sentence.
func (r remnant) words(in inputs) string {
	if r.id == 0 {
		return ""
	}
	return fmt.Sprintf("; record %d, which was made for this resource in the same moment, couldn't be deleted again yet: %s", r.id, sentence(r.cause, in).message)
}

func (e takenError) sentence(in inputs) string {
	switch {
	case e.moved:
		return fmt.Sprintf("address %q is %s, whose record somebody moved in NetBox: a machine may be using it; put that record back, or have that resource deleted to give the address up; it is tried again%s", e.address, e.by, e.left.words(in))
	case e.lost:
		return fmt.Sprintf("address %q is %s, whose record somebody deleted in NetBox: a machine may be using it; have that resource deleted to give the address up, or ask for another one; it is tried again%s", e.address, e.by, e.left.words(in))
	case e.inside != "":
		return fmt.Sprintf("NetBox doesn't take address %q: it is inside %s, which is marked as populated; ask for another address, or have the mark taken off; it is tried again", e.address, e.inside)
	case e.id == 0:
		return fmt.Sprintf("NetBox doesn't take address %q: another record has it that the token may not see, or it is inside a range that is marked as populated; ask for another address, or have it freed there; it is tried again", e.address)
	}
	where := fmt.Sprintf("record %d of %s", e.id, e.by)
	if e.on != "" {
		where += ", on " + e.on
	}
	if e.url != "" {
		where += ": " + e.url
	}
	how := "ask for another address, or have it freed there"
	if e.shared {
		how = "each record of it must have a role that addresses share, such as anycast or vip; " + how
	}
	return fmt.Sprintf("address %q is another record's in NetBox (%s): %s; it is tried again%s", e.address, where, how, e.left.words(in))
}

func (e outsideError) words(inputs) (reason xpv2.ConditionReason, message string) {
	return v1alpha1.ReasonInvalid, e.sentence()
}

func (e outsideError) sentence() string {
	where := "outside any prefix"
	if !e.table.Any() {
		where += " of " + e.table.String()
	}
	hint := ""
	var n *netbox.Error
	if errors.As(e.cause, &n) && n.Elsewhere != "" {
		hint = " (" + n.Elsewhere + ")"
	}
	return fmt.Sprintf("address %q is %s%s: create the prefix in NetBox, or ask for an address in one that is there", e.address, where, hint)
}
