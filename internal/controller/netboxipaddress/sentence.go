package netboxipaddress

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/config"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/netboxlink"
)

// A trouble is what keeps an address from being managed, as a word for scripts and a sentence for its owner: what, on which
// input, why, what to do. As an error its text is the sentence.
type trouble struct {
	reason  xpv2.ConditionReason
	message string
	cause   error
}

// Error implements error.
func (t *trouble) Error() string { return t.message }

// Unwrap returns the cause.
func (t *trouble) Unwrap() error { return t.cause }

// Troubles that NetBox doesn't tell.
type (
	// ownerError: the external name is a record that isn't ours.
	ownerError struct {
		id    int64
		owner owner
		// had says that it was ours, going that the resource is being deleted.
		had, going bool
	}
	// malformedError: parameters that contradict themselves.
	malformedError struct{ why string }
	// notAllowedError: what the policies don't leave to the namespace.
	notAllowedError struct{ what, namespace string }
	// nameError: the external name isn't a number.
	nameError struct{ name string }
	// unkeptError: NetBox accepted an update and kept something else.
	unkeptError struct{ what string }
)

func (e ownerError) Error() string      { return fmt.Sprintf("record %d belongs to %s", e.id, e.owner) }
func (e malformedError) Error() string  { return e.why }
func (e notAllowedError) Error() string { return e.what + " isn't allowed" }
func (e nameError) Error() string       { return "not a NetBox id: " + e.name }
func (e unkeptError) Error() string     { return "NetBox doesn't keep " + e.what }

// inputs are what sentences name. Nothing secret is among them, and nothing of another namespace.
type inputs struct {
	// config is the provider config, such as: ClusterProviderConfig "netbox".
	config string
	// from lists what the address is asked for from, such as: prefix "10.77.0.0/24".
	from string
	// field is the marker's custom field, and note that of release notes.
	field, note string
}

// sentence says what is wrong. Its words are here, and beside the errors that word themselves.
func sentence(err error, in inputs) *trouble {
	if t := (*trouble)(nil); errors.As(err, &t) {
		return t
	}
	if t := wordedTrouble(err, in); t != nil {
		return t
	}
	if t := elsewhereTrouble(err); t != nil {
		return t
	}
	if t := ownTrouble(err, in); t != nil {
		return t
	}
	if reason := config.ReasonOf(err); reason != "" {
		return &trouble{reason, err.Error(), err}
	}
	if t := accessTrouble(err, in); t != nil {
		return t
	}
	return recordTrouble(err, in)
}

// ownTrouble words what is decided here.
func ownTrouble(err error, in inputs) *trouble {
	var (
		foreign    ownerError
		malformed  malformedError
		notAllowed notAllowedError
		name       nameError
		unkept     unkeptError
	)
	switch {
	case errors.As(err, &foreign):
		return &trouble{v1alpha1.ReasonConflict, foreign.sentence(in), err}
	case errors.As(err, &malformed):
		return &trouble{v1alpha1.ReasonInvalid, "spec.forProvider is not usable: " + malformed.why, err}
	case errors.As(err, &notAllowed):
		return &trouble{v1alpha1.ReasonNotAllowed, fmt.Sprintf("%s is not allowed for namespace %q by the policies of %s: ask for what they allow, or ask their owner to extend them", notAllowed.what, notAllowed.namespace, in.config), err}
	case errors.As(err, &name):
		return &trouble{v1alpha1.ReasonInvalid, fmt.Sprintf("external name %q is not a number, as NetBox's ids are: correct annotation crossplane.io/external-name, or take it off", name.name), err}
	case errors.As(err, &unkept):
		return &trouble{v1alpha1.ReasonInvalid, fmt.Sprintf("the NetBox of %s accepted a change of %s and kept something else: a custom field may be missing there, or store another form of the value; correct spec.forProvider, or the field in NetBox; it is tried again after 10 minutes", in.config, unkept.what), err}
	}
	return nil
}

// sentence says whose a record is, and what to do. Who had it is given no other address: a machine may be using this one.
func (e ownerError) sentence(in inputs) string {
	switch {
	case e.owner == ownerTwin:
		return fmt.Sprintf("record %d carries the marker of another NetBoxIPAddress of the same cluster id, namespace and name, though this one had marked it: two clusters share an id, as one that was restored from a backup does with its living original; nothing is written to it; "+
			"give one of them an id of its own in ConfigMap provider-baremetal; to have the record back, clear its custom field %q in NetBox and set spec.forProvider.adopt: ExternalName, or delete this resource to give it up", e.id, in.field)
	case e.owner == ownerRestored:
		return fmt.Sprintf("record %d carries the marker of another NetBoxIPAddress of the same cluster id, namespace and name, which this one had not marked over before it was deleted: it is this resource's own, of before a restore from a backup, or that of its living original in another cluster of the same id; "+
			"it isn't released: if nobody uses it, delete it in NetBox, or set spec.forProvider.release.policy: Keep to let this resource go without it", e.id)
	case e.going:
		return fmt.Sprintf("record %d, which this resource is to release, %s: nothing is written to it, and the resource stays; put that right in NetBox or delete the record there, or set spec.forProvider.release.policy: Keep to leave it as it is", e.id, ownerWords(e.owner, in.field))
	case e.had:
		keep := ""
		if e.owner == ownerNobody { // Else it would stay for a person to look.
			keep = "set spec.forProvider.release.policy: Keep and "
		}
		return fmt.Sprintf("record %d, which was this resource's, %s: nothing is written to it; put that right in NetBox, or %sdelete this resource to be given another address by a new one%s", e.id, ownerWords(e.owner, in.field), keep, adoptWords(e.owner))
	}
	return fmt.Sprintf("external name %d is a record in NetBox that %s: nothing is written to it; correct annotation crossplane.io/external-name, or take it off to have an address of its own%s", e.id, ownerWords(e.owner, in.field), adoptWords(e.owner))
}

func ownerWords(o owner, field string) string {
	switch o {
	case ownerCluster:
		return "belongs to another cluster"
	case ownerOther:
		return "belongs to another resource"
	case ownerReleased:
		return "was released and isn't this resource's any more"
	case ownerNobody, ownerUs, ownerRestored, ownerTwin:
	}
	return fmt.Sprintf("carries no marker of ours in custom field %q", field)
}

// adoptWords are the other way on, where there is one.
func adoptWords(o owner) string {
	if o == ownerNobody || o == ownerReleased {
		return ", or set spec.forProvider.adopt: ExternalName to take it over"
	}
	return ""
}

// accessTrouble words what is between us and NetBox.
func accessTrouble(err error, in inputs) *trouble {
	reason, message := netboxlink.Trouble(err, in.config, in.field, in.note)
	if reason == "" {
		return nil
	}
	return &trouble{reason, message, err}
}

// recordTrouble words what NetBox says of prefixes and records.
func recordTrouble(err error, in inputs) *trouble {
	var e *netbox.Error
	_ = errors.As(err, &e) // accessTrouble has seen to it
	switch e.Kind {        //nolint:exhaustive // accessTrouble has the others.
	case netbox.KindFull:
		return &trouble{v1alpha1.ReasonExhausted, fmt.Sprintf("no address is free in %s: free one in NetBox, or name another prefix; it is tried again", in.from), err}
	case netbox.KindNotFound:
		return &trouble{v1alpha1.ReasonNotFound, fmt.Sprintf("cannot %s %q: NetBox has none, or the token of %s may not see it; create it in NetBox, or correct spec.forProvider", e.Op, e.Subject, in.config), err}
	case netbox.KindAmbiguous:
		return &trouble{v1alpha1.ReasonAmbiguous, fmt.Sprintf("cannot %s %q: %s", e.Op, e.Subject, e.Reason), err}
	case netbox.KindMarkerTaken:
		return &trouble{v1alpha1.ReasonConflict, fmt.Sprintf("NetBox refuses a record for this resource, and shows none: either one with its marker is hidden from the token of %s, which needs to see all that it made, another custom field is required on addresses (set that in spec.forProvider.customFields), a value there is none of its field's choices, or a rule of that NetBox itself refuses it", in.config), err}
	case netbox.KindConflict:
		return &trouble{v1alpha1.ReasonConflict, fmt.Sprintf("cannot %s %q: %s; it is looked at again", e.Op, e.Subject, e.Reason), err}
	}
	if len(e.Fields) > 0 && e.Op == netbox.OpRelease {
		return &trouble{v1alpha1.ReasonConflict, fmt.Sprintf("the NetBox of %s doesn't let go of record %s as spec.forProvider.release says, for what it requires of it by now: %s; put that right in NetBox, or set release.policy: Delete", in.config, e.Subject, fieldWords(e.Fields)), err}
	}
	if len(e.Fields) > 0 {
		return &trouble{v1alpha1.ReasonInvalid, fmt.Sprintf("the NetBox of %s doesn't take what spec.forProvider says: %s; correct it there, or have it made in NetBox", in.config, fieldWords(e.Fields)), err}
	}
	return &trouble{v1alpha1.ReasonInvalid, e.Error(), err}
}

// fieldWords say of the fields that NetBox refused what spec calls them, and what may be wrong.
func fieldWords(fields []string) string {
	words := map[string]string{
		"address":              "address (another record may have it)",
		"assigned_object_id":   "assignTo (the interface may be gone)",
		"assigned_object_type": "assignTo (the interface may be gone)",
		customFields:           "customFields (each must be there, and of its type)",
		"comments":             "comments",
		"description":          "description (it may be too long, or have characters that NetBox doesn't take)",
		"dns_name":             "dnsName (NetBox takes letters, digits, hyphens, underscores, dots and asterisks)",
		"prefix_length":        "prefixLength (it can't be shorter than the source's)",
		"role":                 "role (NetBox has none of that name)",
		"status":               "status (NetBox has none of that name, or not for this address: slaac is for IPv6 alone)",
		"tags":                 "tags (each must exist, and be for IP addresses)",
		"tenant":               "tenant (it must exist)",
		"vrf":                  "vrf (it must exist)",
	}
	var out []string
	for _, f := range fields {
		w, ok := words[f]
		if !ok {
			w = "what NetBox calls " + f
		}
		if !slices.Contains(out, w) {
			out = append(out, w)
		}
	}
	return strings.Join(out, ", ")
}
