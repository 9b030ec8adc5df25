package redfishhost

import (
	"errors"
	"fmt"

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
)

// inputs are what sentences name. Nothing secret is among them.
type inputs struct {
	address string
	// secret is the Secret of the credentials, "" where it is of another
	// namespace and so not this reader's business.
	secret string
	// was and is are names of machines, for errIdentityChanged.
	was, is string
	// other is the name of another host of the same namespace, or "".
	other string
}

// sentence says what is wrong. It is the only place where the words are.
func sentence(err error, in inputs) trouble {
	switch {
	case errors.Is(err, errIdentityChanged):
		return trouble{v1alpha1.ReasonIdentityChanged, fmt.Sprintf("the BMC at %q shows machine %q, but this host is %q: nothing is written to it; correct the address, or delete this host and register the machine anew", in.address, in.is, in.was)}
	case errors.Is(err, errDuplicate):
		return trouble{v1alpha1.ReasonDuplicate, fmt.Sprintf("the machine behind BMC %q is managed by %s already: nothing is written to it from here; delete one of the two", in.address, named(in.other))}
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
		return trouble{v1alpha1.ReasonUnauthorized, fmt.Sprintf("the BMC at %q refused the user name or password of %s: correct the Secret; it is tried once per change, since BMCs lock accounts", in.address, secretNamed(in.secret))}
	case redfish.Forbidden:
		return trouble{v1alpha1.ReasonForbidden, fmt.Sprintf("the BMC at %q doesn't let the user of %s do this%s: give it the Operator role, or change its initial password", in.address, secretNamed(in.secret), detail(e))}
	case redfish.PasswordChangeRequired:
		return trouble{v1alpha1.ReasonPasswordChangeRequired, fmt.Sprintf("the BMC at %q lets the user of %s do nothing but change the password: change it on the BMC, and then in the Secret", in.address, secretNamed(in.secret))}
	case redfish.SessionsFull:
		return trouble{v1alpha1.ReasonSessionsFull, fmt.Sprintf("the BMC at %q has no session left for us: end those of other programs on the BMC, or set auth of the provider config to Auto, which does without one", in.address)}
	case redfish.UntrustedCertificate:
		return trouble{v1alpha1.ReasonUntrustedCertificate, fmt.Sprintf("the certificate of the BMC at %q isn't trusted (%v): give the provider config its CA, or pin the fingerprint in tls.pinnedSHA256 after checking it", in.address, cause(e))}
	case redfish.NotAllowed:
		return trouble{v1alpha1.ReasonNotAllowed, fmt.Sprintf("BMC address %q may not be used (%v): no credential was sent; correct the address or allowedAddresses", in.address, e)}
	case redfish.NoSystem:
		return trouble{v1alpha1.ReasonNotFound, fmt.Sprintf("the BMC at %q has %s, none of which is the one that is selected: correct spec.forProvider.system", in.address, systems(e.Count))}
	case redfish.Ambiguous:
		return trouble{v1alpha1.ReasonAmbiguous, fmt.Sprintf("the BMC at %q has %s that can be meant: choose one by id, uuid or serial in spec.forProvider.system", in.address, systems(e.Count))}
	case redfish.NotFound, redfish.Protocol:
		return trouble{v1alpha1.ReasonNotFound, fmt.Sprintf("what answers at %q isn't a BMC with Redfish (%v): correct the address, or switch Redfish on in the BMC", in.address, e)}
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
