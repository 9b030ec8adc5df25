package hostclaim

import (
	"errors"
	"strings"
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// TestHostSentence holds what a tenant is told of a host that isn't well: the reason, who must act, and nothing that only the
// operator may know.
func TestHostSentence(t *testing.T) {
	const operators = `the BMC at "10.0.7.12" refused the user name of Secret "bmc-rack-7"`
	cases := map[string]struct {
		reason string
		state  xpv2.ConditionReason
		want   xpv2.ConditionReason
		words  []string
	}{
		"WrongPassword":  {"The operator mends it.", v1alpha1.ReasonUnauthorized, v1alpha1.ReasonUnauthorized, []string{"refused the credentials", "operator must mend the Secret"}},
		"FewRights":      {"So does it here.", v1alpha1.ReasonForbidden, v1alpha1.ReasonForbidden, []string{"forbids", "more rights"}},
		"Unreachable":    {"And here.", v1alpha1.ReasonUnreachable, v1alpha1.ReasonUnreachable, []string{"doesn't answer", "operator"}},
		"Certificate":    {"And here.", v1alpha1.ReasonUntrustedCertificate, v1alpha1.ReasonUntrustedCertificate, []string{"certificate", "operator"}},
		"OtherMachine":   {"And here.", v1alpha1.ReasonIdentityChanged, v1alpha1.ReasonIdentityChanged, []string{"another machine", "operator"}},
		"NoSystem":       {"A word for two causes: the sentence names both.", v1alpha1.ReasonNotFound, v1alpha1.ReasonNotFound, []string{"no such system", "provider config", "credentials"}},
		"SeveralSystems": {"Somebody must choose.", v1alpha1.ReasonAmbiguous, v1alpha1.ReasonAmbiguous, []string{"several systems", "choose one"}},
		"DuplicateBMC":   {"The other's name may be another tenant's.", v1alpha1.ReasonDuplicate, v1alpha1.ReasonDuplicate, []string{"same machine", "remove one"}},
		"NotAllowed":     {"A word for two causes: the sentence names both.", v1alpha1.ReasonNotAllowed, v1alpha1.ReasonNotAllowed, []string{"allowedNamespaces", "allowedAddresses"}},
		"Malformed":      {"An address or a reference that can't be used stays so until it's corrected.", v1alpha1.ReasonInvalid, v1alpha1.ReasonInvalid, []string{"address", "provider config", "correct it"}},
		"NotSupported":   {"A BMC without what is needed.", v1alpha1.ReasonNotSupported, v1alpha1.ReasonNotSupported, []string{"lacks a function"}},
		"Quarantined":    {"A burnt host.", v1alpha1.ReasonQuarantined, v1alpha1.ReasonQuarantined, []string{"quarantine"}},
		"Refused":        {"A BMC with a mind of its own.", v1alpha1.ReasonRefused, v1alpha1.ReasonRefused, []string{"refuses", "operator"}},
		"NoEffect":       {"A BMC that says yes.", v1alpha1.ReasonNoEffect, v1alpha1.ReasonNoEffect, []string{"doesn't make it", "operator"}},
		"NotKnown":       {"A word that isn't for tenants becomes patience.", "Strange", v1alpha1.ReasonWaitingForHost, []string{"being looked at"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			h := host()
			h.SetConditions(v1alpha1.NewCondition(v1alpha1.ConditionReachable, false, tc.state, operators))
			if got := hostReason(h); got != tc.want {
				t.Errorf("%s: want reason %q, got %q", tc.reason, tc.want, got)
			}
			got := hostSentence(h)
			for _, w := range tc.words {
				if !strings.Contains(got, w) {
					t.Errorf("%s: want %q in %q", tc.reason, w, got)
				}
			}
			if strings.Contains(got, "10.0.7.12") || strings.Contains(got, "bmc-rack-7") {
				t.Errorf("%s: %q tells a tenant what is the operator's", tc.reason, got)
			}
		})
	}
}

// TestHealthyHost holds that nothing is appended to the sentence about a host that is well.
func TestHealthyHost(t *testing.T) {
	if got := troubleOf(host()); got != "" {
		t.Errorf("want no trouble, got %q", got)
	}
}

// TestUntoldHost: a machine that can't be told what to boot isn't started; that keeps no release.
func TestUntoldHost(t *testing.T) {
	for wanted, says := range map[v1alpha1.PowerState]string{v1alpha1.PoweredOn: ": its BMC can't be told what to boot; its operator must look at it", v1alpha1.PoweredOff: ""} {
		h := host()
		h.Spec.ForProvider.Power = wanted
		h.SetConditions(xpv2.Condition{Type: v1alpha1.ConditionBootApplied, Status: "False", Reason: v1alpha1.ReasonNotSupported})
		if got := troubleOf(h); got != says {
			t.Errorf("%s: got %q, want %q", wanted, got, says)
		}
	}
}

// TestIdleHost holds that a person reads why nothing is done to a machine that answers.
func TestIdleHost(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(*v1alpha1.RedfishHost)
		says   string
	}{
		"Paused": {"The operator stopped all of it.", func(h *v1alpha1.RedfishHost) { h.SetConditions(xpv2.ReconcilePaused()) }, "paused"},
		"Observed": {"Or all writes.", func(h *v1alpha1.RedfishHost) {
			h.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionObserve}
		}, "managementPolicies"},
		"GaveUp": {"Or accepts orders and lets it be.", func(h *v1alpha1.RedfishHost) {
			h.SetConditions(xpv2.Condition{Type: v1alpha1.ConditionPowerApplied, Status: "False", Reason: v1alpha1.ReasonGaveUp})
		}, "doesn't carry them out"},
		"Unable": {"Or can't.", func(h *v1alpha1.RedfishHost) {
			h.SetConditions(xpv2.Condition{Type: v1alpha1.ConditionPowerApplied, Status: "False", Reason: v1alpha1.ReasonNotSupported})
		}, "can't switch its power"},
		"Outdated": {"Or this version may not do anything.", func(h *v1alpha1.RedfishHost) {
			h.SetConditions(
				xpv2.Condition{Type: v1alpha1.ConditionBootApplied, Status: "False", Reason: v1alpha1.ReasonOutdated},
				xpv2.Condition{Type: v1alpha1.ConditionPowerApplied, Status: "False", Reason: v1alpha1.ReasonOutdated},
			)
		}, "a newer version of the provider"},
		"Refuses": {"Or the BMC doesn't obey, in words that are the operator's.", func(h *v1alpha1.RedfishHost) { h.SetConditions(xpv2.ReconcileError(errors.New("10.0.7.12 refused"))) }, "doesn't do what it's asked to"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			in := world(deleted, revoked(true), applied(v1alpha1.PoweredOff, 1), power(v1alpha1.PoweredOn))
			tc.change(in.host)
			got := decide(in).message
			if !strings.Contains(got, tc.says) || !strings.Contains(got, "force-release") || strings.Contains(got, "10.0.7.12") {
				t.Errorf("%s: want %q and the way out in %q", tc.reason, tc.says, got)
			}
		})
	}
}
