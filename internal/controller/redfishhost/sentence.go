package redfishhost

import (
	"errors"
	"fmt"
	"strings"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/config"
)

// trouble is what keeps a host from being managed, as a word for scripts and a
// sentence for the operator: what, on which input, why, what to do.
type trouble struct {
	reason  xpv2.ConditionReason
	message string
}

// Troubles that don't come from the BMC.
var (
	errIdentityChanged = errors.New("another machine answers")
	errDuplicate       = errors.New("another host is the same machine")
	errNewerJournal    = errors.New("the journal was written by a newer version")
)

// inputs are what sentences name. Nothing secret is among them.
type inputs struct {
	address string
	// secret is the Secret of the credentials, "" where it is of another
	// namespace and so not this reader's business.
	secret string
	// tried is the other key of the Secret whose password was tried, too, "" for
	// none, and rotated when the provider made the password; zero: it never did.
	tried   string
	rotated time.Time
	// was and is are names of machines, for errIdentityChanged.
	was, is string
	// other is the name of another host of the same namespace, or "".
	other string
}

// knowAnew is how a machine gets known by what it says now.
const knowAnew = "make sure that it's the right machine, and take the annotations " + v1alpha1.AnnotationIdentity + " and crossplane.io/external-name off this host"

// sentence says what is wrong. It is the only place where the words are.
func sentence(err error, in inputs) trouble {
	var silent silentError
	switch {
	case errors.As(err, &silent):
		return trouble{v1alpha1.ReasonUnreachable, fmt.Sprintf("the BMC at %q answers, but doesn't tell the machine's %s, by which this host knows it: it's waited for, and nothing is written; where it stays so after an update of its firmware, %s", in.address, silent.missing, knowAnew)}
	case errors.Is(err, errUnlisted):
		return trouble{v1alpha1.ReasonUnreachable, fmt.Sprintf("the BMC at %q answers, and lists no machine just now, as while it starts: it's waited for, and nothing is written; where it stays so, restart the BMC", in.address)}
	case errors.Is(err, errNewerJournal):
		return trouble{v1alpha1.ReasonOutdated, fmt.Sprintf("a newer version of the provider has something to put back on the machine behind BMC %q that this one doesn't know of: nothing is written to it; install that version again, or put the machine's boot settings back by hand and take the annotation %s off this host", in.address, v1alpha1.AnnotationJournal)}
	case errors.Is(err, errIdentityChanged):
		return trouble{v1alpha1.ReasonIdentityChanged, fmt.Sprintf("the BMC at %q shows machine %q, but this host is %q: nothing is written to it; correct the address, or, where it's the same machine with another board, %s", in.address, in.is, in.was, knowAnew)}
	case errors.Is(err, errDuplicate):
		return trouble{v1alpha1.ReasonDuplicate, fmt.Sprintf("the machine behind BMC %q is managed by %s already: nothing is written to it from here; delete one of the two", in.address, named(in.other))}
	}
	if unrotated, ok := errors.AsType[*rotationError](err); ok {
		return trouble{unrotated.reason, unrotated.message}
	}
	if reason := config.ReasonOf(err); reason != "" {
		return trouble{reason, err.Error()}
	}
	var e *redfish.Error
	if !errors.As(err, &e) {
		return trouble{v1alpha1.ReasonUnreachable, fmt.Sprintf("cannot talk to the BMC at %q: %v", in.address, err)}
	}

	return sentenceOfBMC(e, in)
}

// sentenceOfBMC is sentence for what the BMC's client found.
func sentenceOfBMC(e *redfish.Error, in inputs) trouble {
	switch e.Kind {
	case redfish.Unauthorized:
		if !redfish.IsPlainRefusal(e) {
			return trouble{v1alpha1.ReasonUnauthorized, fmt.Sprintf("the BMC at %q doesn't let the user of %s log in (status %d%s): the user name or password is wrong, or all its sessions are in use; correct the Secret, or end other programs' sessions on the BMC; it is tried again less and less often, every two hours at last, since BMCs lock accounts", in.address, secretNamed(in.secret), e.Status, detail(e))}
		}

		return trouble{v1alpha1.ReasonUnauthorized, fmt.Sprintf("the BMC at %q refused %s: correct the Secret; it is tried once per change, since BMCs lock accounts%s", in.address, refusedCredentials(in), writtenBack(in))}
	case redfish.Forbidden:
		return trouble{v1alpha1.ReasonForbidden, fmt.Sprintf("the BMC at %q doesn't let the user of %s do this%s: give it the Operator role", in.address, secretNamed(in.secret), detail(e))}
	case redfish.PasswordChangeRequired:
		return trouble{v1alpha1.ReasonPasswordChangeRequired, fmt.Sprintf("the BMC at %q lets the user of %s do nothing but change the password: change it on the BMC, and then in the Secret, or have it done by credentialsRotation, if this host is new", in.address, secretNamed(in.secret))}
	case redfish.SessionsFull:
		return trouble{v1alpha1.ReasonSessionsFull, fmt.Sprintf("the BMC at %q has no session left for us: end those of other programs on the BMC, or set auth of the provider config to Auto, which does without one", in.address)}
	case redfish.OldTLS:
		return trouble{v1alpha1.ReasonNotSupported, fmt.Sprintf("the BMC at %q speaks no TLS that is allowed (%v): give it newer firmware, or allow what it speaks by tls.minVersion of the provider config, TLS10 or TLS11: who listens may be able to read the password then", in.address, cause(e))}
	case redfish.UntrustedCertificate:
		return trouble{v1alpha1.ReasonUntrustedCertificate, fmt.Sprintf("the certificate of the BMC at %q isn't trusted (%v): give the provider config its CA, or pin the fingerprint in tls.pinnedSHA256 after checking it", in.address, cause(e))}
	case redfish.NotAllowed:
		return trouble{v1alpha1.ReasonNotAllowed, fmt.Sprintf("BMC address %q may not be used (%v): no credential was sent; correct the address or allowedAddresses", in.address, e)}
	case redfish.NoSystem:
		if e.Count == 0 {
			return trouble{v1alpha1.ReasonNotFound, fmt.Sprintf("the BMC at %q lists no System: it may be starting, and is looked at again; where it stays so, correct the address, or look whether the BMC's account may see its machine", in.address)}
		}

		return trouble{v1alpha1.ReasonNotFound, fmt.Sprintf("the BMC at %q has %s, none of which is the one that is selected%s: correct spec.forProvider.system", in.address, systems(e.Count), choices(e.Systems))}
	case redfish.Ambiguous:
		return trouble{v1alpha1.ReasonAmbiguous, fmt.Sprintf("the BMC at %q has %s that can be meant%s: choose one by id, uuid or serial in spec.forProvider.system", in.address, systems(e.Count), choices(e.Systems))}
	case redfish.NotFound, redfish.Protocol:
		if e.Field == redfish.NoSystems {
			return trouble{v1alpha1.ReasonNotFound, fmt.Sprintf("the BMC at %q has no list of Systems, as that of an enclosure or a power strip: give the address of a machine's own BMC; one that is starting is looked at again", in.address)}
		}
		if redfish.IsGuardedRoot(e) {
			return trouble{v1alpha1.ReasonNotFound, fmt.Sprintf("what answers at %q wants a password before it says what it is (%v%s), and wasn't told one, as no BMC with Redfish asks for that: correct the address, or, where it's a BMC all the same, set auth of the provider config to Basic", in.address, e, media(e))}
		}

		return trouble{v1alpha1.ReasonNotFound, fmt.Sprintf("what answers at %q isn't a BMC with Redfish (%v%s): correct the address, or switch Redfish on in the BMC", in.address, e, media(e))}
	case redfish.NoEffect:
		return trouble{v1alpha1.ReasonNoEffect, fmt.Sprintf("the BMC at %q accepted a change of %s and didn't make it: look for a pending BIOS job or a lockdown on the BMC; it is tried again", in.address, e.Field)}
	case redfish.Unsupported:
		return trouble{v1alpha1.ReasonNotSupported, fmt.Sprintf("the BMC at %q doesn't offer %s", in.address, e.Field)}
	case redfish.Invalid:
		return trouble{v1alpha1.ReasonInvalid, e.Error()}
	case redfish.Refused:
		return trouble{v1alpha1.ReasonRefused, fmt.Sprintf("the BMC at %q refused (%v): it is tried again", in.address, e)}
	case redfish.Unreachable:
	}

	return trouble{v1alpha1.ReasonUnreachable, fmt.Sprintf("the BMC at %q doesn't answer (%v): check its power, network and firewall; it is tried again", in.address, e)}
}

func named(other string) string {
	if other == "" {
		return "another RedfishHost"
	}

	return fmt.Sprintf("RedfishHost %q", other)
}

func secretNamed(secret string) string {
	if secret == "" {
		return "the provider config"
	}

	return fmt.Sprintf("Secret %q", secret)
}

func systems(n int) string {
	if n == 1 {
		return "1 System"
	}

	return fmt.Sprintf("%d Systems", n)
}

// choices lists Systems by what tells them apart, or is "".
func choices(of []redfish.Choice) string {
	const most = 6
	var list []string
	for _, c := range of[:min(len(of), most)] {
		list = append(list, fmt.Sprintf("%q (%s)", c.ID, strings.Join(apart(c), ", ")))
	}
	switch more := len(of) - most; {
	case len(list) == 0:
		return ""
	case more > 0:
		list = append(list, fmt.Sprintf("and %d more in status.atProvider.systems", more))
	}

	return ": " + strings.Join(list, ", ")
}

// apart is what tells a System from its neighbours.
func apart(c redfish.Choice) []string {
	var out []string
	switch {
	case c.Serial != "":
		out = append(out, "serial "+c.Serial)
	case c.UUID != "":
		out = append(out, "UUID "+c.UUID)
	case c.Model != "":
		out = append(out, c.Model)
	}
	switch {
	case !c.CanReset:
		return append(out, "can't be switched")
	case c.Power == redfish.PowerUnknown:
		return append(out, "power unknown")
	default:
		return append(out, string(powerState(c.Power)))
	}
}

// media is what sort of text came instead of Redfish.
func media(e *redfish.Error) string {
	if e.ContentType == "" {
		return ""
	}

	return ", " + e.ContentType
}

func detail(e *redfish.Error) string {
	if e.MessageID == "" {
		return ""
	}

	return " (" + e.MessageID + ")"
}

// cause is the innermost reason, without the request around it.
func cause(e *redfish.Error) error {
	if inner := e.Unwrap(); inner != nil {
		return inner
	}

	return e
}
