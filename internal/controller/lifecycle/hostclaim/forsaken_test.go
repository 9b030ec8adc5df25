package hostclaim

import (
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// TestForsake walks a host whose claim is gone back to the pool, and holds where nothing proves that it was meant.
func TestForsake(t *testing.T) {
	off := func(in *inputs) { applied(v1alpha1.PoweredOff, 1)(in); power(v1alpha1.PoweredOff)(in) }
	// gone is what is left when a claim's finalizer was taken off.
	gone := func(change ...func(*inputs)) inputs {
		in := world(change...)
		in.entry.Spec.ForProvider.Machine.HostClaimRef = &v1alpha1.LocalReference{Name: "web-1"}
		in.claim = standIn(client.ObjectKey{Namespace: "team-a", Name: "web-1"}, []v1alpha1.RedfishHost{*in.host}, []v1alpha1.BootEntry{*in.entry}, noon)
		return in
	}
	entryGoing := func(in *inputs) { in.entry.DeletionTimestamp = &metav1.Time{Time: noon} }
	givenUp := func(in *inputs) {
		in.host.Annotations = map[string]string{v1alpha1.AnnotationForceRelease: "looked at it"}
	}
	granted := func(in *inputs) { note(in.host, v1alpha1.AnnotationGranted, v1alpha1.GrantRecord{}) }
	kept := func(in *inputs) {
		in.addresses[0].Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionObserve}
	}
	quarantined := func(in *inputs) { in.host.Annotations[v1alpha1.AnnotationQuarantined] = "looked at it" }
	free := func(in *inputs) { in.host.Spec.ClaimRef = nil }
	letGo := func(in *inputs) { in.entry.Finalizers, in.addresses[0].Finalizers = nil, nil }
	cases := map[string]struct {
		reason string
		in     inputs
		act    act
		phase  v1alpha1.HostClaimPhase
	}{
		"Running":     {"A claim that isn't there proves nothing: it may not be restored yet, or the cluster is given up.", gone(power(v1alpha1.PoweredOn)), actNone, v1alpha1.ClaimNeedsConfirmation},
		"EntryGoes":   {"Nor does an entry that goes: a machine isn't switched off by it.", gone(entryGoing, power(v1alpha1.PoweredOn)), actNone, v1alpha1.ClaimNeedsConfirmation},
		"Revoke":      {"Given up by its operator: nothing is granted any more.", gone(power(v1alpha1.PoweredOn), givenUp), actRevoke, v1alpha1.ClaimReleasing},
		"Acknowledge": {"The boot plane says that it knows.", gone(revoked(false), givenUp), actNone, v1alpha1.ClaimReleasing},
		"Quarantine":  {"It's quarantined as it runs, its addresses are held.", gone(revoked(true), power(v1alpha1.PoweredOn), givenUp), actQuarantine, v1alpha1.ClaimReleasing},
		"Clear":       {"One that was seen off is free as after any release: its records go.", gone(revoked(true), off, givenUp, granted), actClear, v1alpha1.ClaimReleasing},
		"Kept":        {"So do they after a quarantine.", gone(revoked(true), givenUp, kept, quarantined, granted), actClear, v1alpha1.ClaimReleasing},
		"LetGoFirst":  {"Entry and addresses that nobody deleted are let go before the host: a free one leads nobody to them.", gone(revoked(true), off, givenUp), actLetGo, v1alpha1.ClaimReleasing},
		"Unbind":      {"Then it's free.", gone(revoked(true), off, givenUp, letGo), actUnbind, v1alpha1.ClaimReleasing},
		"KeepFirst":   {"A host that was freed by hand was never seen off by us: its addresses stay.", gone(entryGoing, revoked(true), power(v1alpha1.PoweredOn), free), actKeepAddresses, v1alpha1.ClaimReleasing},
		"LetGo":       {"An entry that goes leads to the rest.", gone(entryGoing, revoked(true), off, free, kept), actLetGo, v1alpha1.ClaimReleasing},
		"Nothing":     {"A claim that released all it had leaves nothing to do.", gone(free, letGo), actNone, ""},
		"NeverHeld":   {"Nor does one whose entry was never held.", gone(free, letGo, entryGoing), actNone, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if v := forsake(tc.in); v.act != tc.act || v.phase != tc.phase {
				t.Errorf("%s\nforsake(...) = %q in %q (%s), want %q in %q", tc.reason, v.act, v.phase, v.message, tc.act, tc.phase)
			}
		})
	}
}
