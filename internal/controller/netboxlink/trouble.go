package netboxlink

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// Trouble words what is between us and the NetBox of a provider config, such as: ClusterProviderConfig "netbox". Field and note are the
// custom fields of the marker and of the release note. The reason is "" where
// err is about a record, not about the way to it.
func Trouble(err error, config, field, note string) (reason xpv2.ConditionReason, message string) {
	var e *netbox.Error
	if !errors.As(err, &e) {
		return v1alpha1.ReasonUnreachable, fmt.Sprintf("cannot use %s: %v", config, err)
	}
	if netbox.IsNoNetBox(err) {
		reason = v1alpha1.ReasonInvalid
		if e.Kind == netbox.KindUnknownOutcome { // Whatever it is, it may have passed a change on.
			reason = v1alpha1.ReasonUnreachable
		}
		return reason, fmt.Sprintf("what answers at the URL of %s isn't a NetBox: it answered %d, as no NetBox does where it's asked to %s; check the URL, with its sub-path and without /api", config, e.Status, e.Op)
	}
	switch e.Kind {
	case netbox.KindUnauthorized:
		message = fmt.Sprintf("the NetBox of %s doesn't accept the token: it is wrong, expired, disabled or not allowed from here; correct the Secret", config)
		if e.Hint != "" {
			message += "; " + e.Hint
		}
		return v1alpha1.ReasonUnauthorized, message
	case netbox.KindForbidden:
		return v1alpha1.ReasonForbidden, fmt.Sprintf("the token of %s is valid but %s: %s", config, deniedWords(e), lackWords(e))
	case netbox.KindReadOnly:
		return v1alpha1.ReasonForbidden, fmt.Sprintf("%s is for looking at addresses alone (access: ReadOnly), so nothing was written to its NetBox: set managementPolicies: [Observe] here, or spec.netbox.access: ReadWrite there", config)
	case netbox.KindUntrusted:
		return v1alpha1.ReasonUntrustedCertificate, fmt.Sprintf("the certificate of the NetBox of %s isn't trusted: set tls.caBundle or tls.pinnedSHA256 there; no token was sent", config)
	case netbox.KindNotAllowed:
		return v1alpha1.ReasonNotAllowed, fmt.Sprintf("the URL of %s leads to a loopback or link-local address, or into the cluster itself, to which no token is sent: correct the URL", config)
	case netbox.KindUnreachable, netbox.KindServerError:
		return v1alpha1.ReasonUnreachable, fmt.Sprintf("the NetBox of %s can't be reached%s: nothing was changed; it is tried again", config, why(e))
	case netbox.KindUnknownOutcome:
		return v1alpha1.ReasonUnreachable, fmt.Sprintf("the NetBox of %s was lost in the middle of a change%s: it is looked up first whether the change was made, so nothing is made twice%s", config, why(e), ifItGoesOn(e.Status))
	case netbox.KindUnexpected:
		if netbox.IsTooLarge(err) {
			return v1alpha1.ReasonInvalid, fmt.Sprintf("the NetBox of %s has more to say than is read of it (%v): a text or a custom field there is too long; shorten it in NetBox, or delete it there", config, e)
		}
		if e.Status >= 400 {
			return v1alpha1.ReasonInvalid, fmt.Sprintf("something in front of the NetBox of %s, or in its place, answered with status %d in its own words (%v): have it let this through, or correct the URL", config, e.Status, e)
		}
		return v1alpha1.ReasonInvalid, fmt.Sprintf("what answers at the URL of %s isn't a NetBox that can be used (%v): correct the URL", config, e)
	case netbox.KindReleaseField:
		return v1alpha1.ReasonInvalid, fmt.Sprintf("custom field %q of the NetBox of %s can't hold the release note, without which release policies Keep and Quarantine can't be followed: %s; or set spec.forProvider.release.policy: Delete", note, config, e.Reason)
	case netbox.KindMarkerField:
		return v1alpha1.ReasonInvalid, fmt.Sprintf("custom field %q of the NetBox of %s can't hold our marker, without which no address is taken: %s", field, config, e.Reason)
	case netbox.KindNotFound, netbox.KindFull, netbox.KindMarkerTaken, netbox.KindInvalid, netbox.KindConflict, netbox.KindAmbiguous:
	}
	return "", ""
}

// ifItGoesOn says where to look, should each change meet an answer that doesn't tell whether it was made; "" where time alone helps.
func ifItGoesOn(status int) string {
	switch {
	case status == http.StatusInternalServerError:
		return "; if that goes on, the log of that NetBox says over what it fails"
	case status >= http.StatusBadRequest && status < http.StatusInternalServerError && !netbox.GaveUp(status):
		return "; if that goes on, see in what stands in front of that NetBox why it doesn't let such a request through"
	}
	return ""
}

// why is what is known of a failure: a status code, or our own words for a broken connection.
func why(e *netbox.Error) string {
	switch {
	case e.Status != 0:
		return fmt.Sprintf(" (status %d)", e.Status)
	case e.Reason != "":
		return " (" + strings.TrimSuffix(e.Reason, "; whether the write happened is looked up next") + ")"
	}
	return ""
}

func deniedWords(e *netbox.Error) string {
	if e.Subject == "" {
		return "may not " + e.Op
	}
	return fmt.Sprintf("may not %s %q", e.Op, e.Subject)
}

// lackWords name what the token needs.
func lackWords(e *netbox.Error) string {
	switch {
	case e.Needs == netbox.Right{}:
		return "it may be read-only, or lack a right; it needs to view prefixes, and to view, add, change and delete IP addresses"
	case strings.Contains(e.Needs.Permission, ".view_"):
		return fmt.Sprintf("it lacks permission %s", e.Needs)
	}
	return fmt.Sprintf("it may be read-only, or lack permission %s, or have it with constraints that leave this out", e.Needs)
}
